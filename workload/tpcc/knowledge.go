package tpcc

// knowledge is what the process knows that has loaded the tables.
type knowledge struct {
	Seed                                 uint64
	Orders, Undelivered, Lines, Payments int64
	Known, Whole                         bool
	Uncertain                            int64
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	n := &r.now
	return knowledge{r.seed, n.orders, n.undelivered, n.lines, n.payments, n.known, n.whole, n.uncertain}
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	if err := read(&k); err != nil {
		return err
	}
	r.seed = k.Seed
	r.now = state{totals{k.Orders, k.Undelivered, k.Lines, k.Payments}, k.Known, k.Whole, k.Uncertain}
	return nil
}
