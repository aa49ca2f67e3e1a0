package linkbench

import (
	"context"
	"fmt"

	"rumbench/workload"
)

// The units of rates and costs of the steps.
const (
	opRow         = "row"
	opTransaction = "transaction"
)

// The kinds of rows of the load.
const (
	loadNodes = iota
	loadLinks
	loadCounts
)

func (r *run) build() {
	if r.p.Bool("load") {
		r.steps = append(r.steps, r.load(), r.index(),
			workload.SettleStep("settle", r.p.Duration("settle_floor"), r.nodes, " before the requests"))
	}
	check := r.p.String("check")
	requests := func(name string, clients int64, last bool) workload.Step {
		return r.requests(name, clients, check == "each" && name != workload.Warmup || check == "last" && last)
	}
	r.steps = append(r.steps, workload.ClientSteps(r.p, "requests", "L", requests)...)
}

// batches returns the number of batches of rows.
func (r *run) batches(rows int64) int64 {
	batch := r.p.Int("load_batch")
	return (rows + batch - 1) / batch
}

// load returns the step that loads the tables: the first client loads nodes in ascending
// order of ids, the others links and counts. The number of batches per client depends on
// the other clients; no client inserts more than all of them.
func (r *run) load() workload.Step {
	kind := func(name string) workload.OpKind { return workload.OpKind{Name: name, Unit: opRow, Of: opRow} }
	s := workload.Step{
		Name: "load", Creates: true, Divides: true, Primary: opRow, WritesPer: opRow, Access: workload.WriteAccess,
		Doc: "How fast are nodes, links and counts loaded, without the index on links?",
		Groups: []workload.Group{
			{
				Name: "load", Clients: 1 + int(r.p.Int("load_clients")),
				Work: max(r.batches(r.nodes), r.batches(r.links)+r.batches(r.lists)),
				Ops:  []workload.OpKind{kind("node"), kind("link"), kind("count")},
			},
		},
	}
	s.Open = func(_ context.Context, env workload.Env) (workload.Stage, error) { return r.openLoad(env) }
	return s
}

func (r *run) index() workload.Step {
	return workload.IndexStep("How fast is the index on links built? Rows/s are those of links.", 1,
		func(_ context.Context, env workload.Env) (workload.Stage, error) {
			return &indexStage{run: r, env: env}, nil
		})
}

func (r *run) requests(name string, clients int64, checks bool) workload.Step {
	s := workload.Step{
		Name: name, Primary: opTransaction, WritesPer: opTransaction, Access: workload.MixedAccess, Divides: true,
		Seconds: r.p.Float("seconds"), Grows: true,
		Doc: fmt.Sprintf("How many requests to the graph are answered, and how fast, for %d clients?", clients),
	}
	g := workload.Group{
		Name: "requests", Clients: int(clients), RowsPerOp: 1,
		Retry: workload.Retry{Max: int(r.p.Int("retry_max")), Backoff: r.p.Duration("retry_backoff")},
	}
	for k, op := range kindNames {
		g.Ops = append(g.Ops, workload.OpKind{Name: op, Unit: opTransaction, Of: opTransaction, Returns: kind(k).reads()})
	}
	g.Ops = append(g.Ops, workload.OpKind{Name: "get_link_list history", Unit: opTransaction, Of: opTransaction,
		Returns: true})
	if n := r.p.Int("transactions"); n > 0 {
		g.Work, s.Seconds = n, 0
	}
	s.Groups = []workload.Group{g}
	s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
		return r.openRequests(ctx, name, clients, env, checks)
	}
	return s
}

// reads reports whether a kind of request is read-only.
func (k kind) reads() bool {
	return k == countLinks || k == multigetLink || k == listLinks || k == getNode || k == historyList
}
