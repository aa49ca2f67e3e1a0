package linkbench

// knowledge is what the process knows that has loaded the tables.
type knowledge struct {
	Seed                                   uint64
	Opened                                 int64
	Nodes, Links, Hidden, Counts, Versions int64
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any {
	n := &r.now
	return knowledge{r.seed, r.opened, n.nodes, n.links, n.hidden, n.counts, n.versions}
}

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error {
	var k knowledge
	if err := read(&k); err != nil {
		return err
	}
	r.seed, r.opened = k.Seed, k.Opened
	r.now = totals{nodes: k.Nodes, links: k.Links, hidden: k.Hidden, counts: k.Counts, versions: k.Versions, known: true}
	return nil
}
