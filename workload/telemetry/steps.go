package telemetry

import (
	"context"
	"fmt"
	"math"

	"rumbench/workload"
)

// The operation kinds, and the groups that sum them up.
const (
	opLoad    = "load"
	opIndex   = "index"
	opInsert  = "insert"
	opQuery   = "query"
	opRollup  = "roll-up"
	opRollup2 = "roll-up 2"
	opDrop    = "drop partition"
)

// role is the task of a group's clients.
type role uint8

const (
	loader role = iota
	indexer
	writer
	reader
	background
)

// plan is a step with the roles of its groups.
type plan struct {
	workload.Step
	roles []role
}

func (r *run) addSteps() {
	plans := []*plan{r.load(), r.index()} // all schemas have the same steps, to be compared
	settle := &plan{}
	settle.Name, settle.Doc = "settle", "The engine comes to rest: deferred work is done before the queries."
	settle.Settle = workload.NewSettle(r.p.Duration("settle_floor"), r.history*r.devices*r.rowsOf())
	plans = append(plans, settle)
	if jobs := r.jobsUntil(r.history); jobs > 0 {
		p := &plan{}
		p.Name, p.Primary, p.WritesPer, p.Access = "rollup", opRollup, opRollup, workload.RangeAccess
		p.Doc = "How fast are closed windows of the loaded history read and aggregated?"
		p.add(background, workload.Group{Name: "background", Clients: 1, Work: jobs, Ops: r.backgroundOps()})
		plans = append(plans, p)
	}
	tick := r.history
	for _, rate := range r.p.Ints("rates") {
		p := r.mix(rate)
		tick = r.plant(tick, p.Groups[0].Work)
		plans = append(plans, p)
	}
	plans = append(plans, r.readonly())
	for _, p := range plans {
		p.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) { return r.openStage(ctx, p, env) }
		r.steps = append(r.steps, p.Step)
	}
}

func (p *plan) add(as role, g workload.Group) {
	p.Groups = append(p.Groups, g)
	p.roles = append(p.roles, as)
}

// plant plants the outage of a mix step and returns its last tick, as planned.
func (r *run) plant(first, work int64) (last int64) {
	ticks := work * r.p.Int("batch") * r.writers / r.devices
	last = first + ticks
	returns := first + int64(r.p.Float("burst_at")*float64(ticks))
	if returns-r.silence >= first && returns+r.lateness() <= last { // else the step is too short for it
		r.bursts = append(r.bursts, returns)
	}
	return last
}

func (r *run) load() *plan {
	p := &plan{}
	p.Name, p.Creates, p.Primary, p.WritesPer, p.Access = "load", true, opLoad, opLoad, workload.WriteAccess
	p.Doc = "How fast are measurements stored in the order of time, many per commit?"
	p.add(loader, workload.Group{Name: opLoad, Clients: int(r.writers), Work: r.loadWork(), Ops: []workload.OpKind{{Name: opLoad, Unit: "value"}}})
	return p
}

// loadWork returns the operations of a loader: full batches of each partition,
// then the rest one by one.
func (r *run) loadWork() (ops int64) {
	batch := r.p.Int("load_batch")
	for first := int64(0); first < r.history; first += r.partition {
		n := min(r.partition, r.history-first) * r.perTick
		ops += n/batch + n%batch
	}
	return ops
}

func (r *run) index() *plan {
	p := &plan{}
	p.Name, p.Primary, p.WritesPer, p.Whole = "index", opIndex, opIndex, true
	p.Doc = "How fast is the index on metric and value built on the loaded partitions? Only schema read has it."
	p.add(indexer, workload.Group{Name: opIndex, Clients: 1, Work: r.tables, Ops: []workload.OpKind{{Name: opIndex, Unit: "value"}}})
	return p
}

// mix returns the step of a rate: everything at once.
func (r *run) mix(rate int64) *plan {
	p := &plan{}
	p.Name, p.Primary, p.WritesPer, p.Access = fmt.Sprintf("mix%d", rate), opInsert, opInsert, workload.MixedAccess
	if len(r.p.Ints("rates")) > 1 {
		p.Base, p.Axes = "mix", []workload.Axis{{Name: "values/s promised", Value: float64(rate)}}
	}
	p.Judged = []string{"service_p99_us", "cpu_us", "write_kb"}
	p.Doc = fmt.Sprintf("What do writes and queries cost while %d values/s arrive, windows are rolled up and old partitions dropped?", rate)
	batch := r.p.Int("batch") * r.metrics
	perWriter := float64(rate) / float64(batch*r.writers)
	writers := workload.Group{Name: opInsert, Clients: int(r.writers), Rate: perWriter, RowsPerOp: batch, Ops: writerOps}
	writers.Work = int64(math.Ceil(perWriter * r.p.Float("mix_seconds")))
	p.add(writer, writers)
	readers := workload.Group{Name: opQuery, Clients: int(r.p.Int("readers")), Rate: r.p.Float("read_rate"), Ops: r.queryOps()}
	if readers.Rate > 0 {
		readers.RowsPerOp = 1
	}
	p.add(reader, readers)
	p.add(background, workload.Group{Name: "background", Clients: 1, Ops: r.backgroundOps()})
	return p
}

func (r *run) readonly() *plan {
	p := &plan{}
	p.Name, p.Primary, p.WritesPer, p.Access = "readonly", opQuery, opQuery, workload.RangeAccess
	p.Judged = []string{"rows_per_s", "cpu_us"}
	p.Doc = "How fast are queries answered when nothing is written?"
	p.Seconds = r.p.Float("read_seconds")
	p.add(reader, workload.Group{Name: opQuery, Clients: int(r.p.Int("readers")), Ops: r.queryOps()})
	return p
}

func (r *run) backgroundOps() []workload.OpKind {
	return []workload.OpKind{{Name: opRollup, Unit: "aggregate"}, {Name: opRollup2, Unit: "aggregate"}, {Name: opDrop, Unit: "partition", Event: true}}
}
