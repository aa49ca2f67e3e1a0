package declared

// knowledge is what the process knows that has loaded the tables.
type knowledge struct {
	Whole bool
	Done  map[string]int64
	Rows  []int64 // of each table; none: some rows are missing, and are to be found
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	k := knowledge{Whole: r.whole, Done: r.done}
	for _, t := range r.tables {
		if t.holes || t.live() != t.next.Load() {
			return knowledge{}
		}
		k.Rows = append(k.Rows, t.next.Load())
	}
	return k
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	if err := read(&k); err != nil {
		return err
	}
	if r.unread = len(k.Rows) != len(r.tables); r.unread {
		return nil
	}
	r.begin(k.Whole)
	for name, n := range k.Done {
		r.done[name] = n
	}
	for i, t := range r.tables {
		t.reset(k.Rows[i])
	}
	return nil
}
