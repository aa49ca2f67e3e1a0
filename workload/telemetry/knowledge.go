package telemetry

// knowledge is what the process knows that has loaded the tables.
type knowledge struct {
	Seed          uint64
	Jobs, Dropped int64
	Slots, Bursts []int64
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	n := &r.now
	return knowledge{n.seed, n.jobs, n.dropped, n.slots, n.bursts}
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	err := read(&k)
	r.now = state{k.Seed, k.Jobs, k.Dropped, k.Slots, k.Bursts}
	return err
}
