// Package linkbench is Linkbench: nodes, typed links between them and counts of links,
// read and changed like the social graph of Facebook.
//
// T. Armstrong and others published it in 2013 ("LinkBench: a Database Benchmark Based on
// the Facebook Social Graph", SIGMOD); Mark Callaghan maintained it until 2021.
// docs/linkbench.md has its sources, and the differences of this implementation.
package linkbench

import (
	"cmp"

	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// Workload is the workload, for the registry.
type Workload struct{}

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name:    "linkbench",
		Doc:     "Linkbench: a social graph of nodes, links and counts of links, in short transactions and range reads.",
		Params:  params,
		Presets: presets,
	}
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{
		p: p, profile: profiles[p.String("profile")], nodes: p.Int("maxid"), types: p.Int("link_types"),
		dialect2013: p.String("dialect") == dialect2013, covering: p.String("index") == "covering",
	}
	if err := cmp.Or(
		workload.RefuseIf(len(p.Ints("clients")) == 0, "clients", "give at least one number", "it is empty"),
		workload.RefuseIf(r.profile.stepped && r.nodes < 100_000, "maxid",
			"raise maxid, or set profile: rum, whose rule fits any size",
			"%d nodes are too few for profile %s, whose first node always has %d links", r.nodes, p.String("profile"),
			r.profile.degrees.Quantile(0)),
	); err != nil {
		return nil, err
	}
	r.links, r.lists = r.count()
	r.build()
	return r, nil
}

// run is the workload with its parameters.
type run struct {
	p           workload.Params
	profile     *profile
	nodes       int64 // loaded
	types       int64
	dialect2013 bool
	covering    bool
	links       int64 // loaded
	lists       int64 // with at least one link
	steps       []workload.Step
	seed        uint64 // of the graph
	// opened is the number of request steps opened on the tables: each continues the
	// clock, and draws different requests from its predecessors.
	opened int64
	// now is the content of the tables after the steps so far; it is known in the process
	// that has loaded them.
	now totals
}

// totals are sums over the tables, for the checks.
type totals struct {
	nodes, links, hidden int64
	counts               int64 // sum of the column count
	versions             int64 // sum of the column version of counts
	known                bool
}

func (r *run) Steps() []workload.Step { return r.steps }

// Needs returns transactions, unless the run works without them.
func (r *run) Needs() []model.Capability {
	if r.p.Bool("atomic") {
		return []model.Capability{model.CapTransactions}
	}
	return nil
}

// maxRate is a generous guess of the transactions per second.
const maxRate = 20_000

// Estimate returns the size of the load plus the maximum growth by request steps.
func (r *run) Estimate(steps []workload.Step) workload.Live {
	done := workload.Growing(steps, maxRate)
	share, last := [kinds]float64{}, 0.0
	for k, up := range r.profile.thresholds(r.p.String("mix")) {
		share[k], last = min(up, 1)-last, min(up, 1)
	}
	t := totals{nodes: r.nodes + int64(done*share[addNode]),
		links: r.links + int64(done*(share[addLink]+share[updateLink]))}
	return r.live(&t, true)
}

// live returns the user data of the tables.
func (r *run) live(t *totals, indexed bool) workload.Live {
	link := float64(linkBytes) + r.profile.linkMean
	if indexed {
		link += r.entryBytes(r.profile.linkMean)
	}
	bytes := float64(t.nodes)*(nodeBytes+r.profile.nodeMean) + float64(t.links)*link + float64(r.lists)*countBytes
	return workload.Live{Rows: t.nodes + t.links + r.lists, Bytes: int64(bytes)}
}

// entryBytes returns the user bytes of an index entry of a link with the given amount of
// data.
func (r *run) entryBytes(data float64) float64 {
	if r.covering {
		return indexBytes + 4 + data
	}
	return indexBytes
}

// stream returns a stream of the run's random numbers.
func stream(seed uint64, path ...string) gen.Stream {
	return gen.NewStream(seed, append([]string{"linkbench"}, path...)...)
}
