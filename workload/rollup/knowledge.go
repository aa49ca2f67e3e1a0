package rollup

// knowledge is what the process knows that has inserted the facts.
type knowledge struct {
	Committed int64
	Drawn     int64   // more, if facts were given up
	Next      []int64 // of each table
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	k := knowledge{Committed: r.committed, Drawn: r.drawn.Load()}
	for n := range r.next {
		k.Next = append(k.Next, r.next[n].Load())
	}
	return k
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	if err := read(&k); err != nil {
		return err
	}
	r.committed = k.Committed
	r.drawn.Store(max(k.Drawn, k.Committed))
	for n := range min(len(r.next), len(k.Next)) {
		r.next[n].Store(k.Next[n])
	}
	return nil
}
