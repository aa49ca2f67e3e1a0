package declared

// knowledge is what the process knows that has loaded the tables.
type knowledge struct {
	Whole  bool
	Done   map[string]int64
	Tables []rowKnowledge // none: the rows are to be found
}

// rowKnowledge is what is known of the rows of a table.
type rowKnowledge struct {
	Next, Gone int64
	Holes      bool
	Dead       []int64
}

// mostDead is how many missing rows are listed one by one.
const mostDead = 100_000

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	k := knowledge{Whole: r.whole, Done: r.done}
	for _, t := range r.tables {
		own := rowKnowledge{Next: t.next.Load(), Gone: t.gone.Load(), Holes: t.holes}
		if r.unread || t.dead.size.Load() > mostDead {
			return knowledge{}
		}
		if t.dead.size.Load() > 0 {
			for row := range own.Next {
				if t.isDead(row) {
					own.Dead = append(own.Dead, row)
				}
			}
		}
		k.Tables = append(k.Tables, own)
	}
	return k
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	if err := read(&k); err != nil {
		return err
	}
	if r.unread = len(k.Tables) != len(r.tables); r.unread {
		return nil
	}
	r.begin(k.Whole)
	for name, n := range k.Done {
		r.done[name] = n
	}
	for i, t := range r.tables {
		own := &k.Tables[i]
		t.reset(own.Next)
		t.gone.Store(own.Gone)
		t.holes = own.Holes
		for _, row := range own.Dead {
			t.dead.set(row, true)
		}
	}
	return nil
}
