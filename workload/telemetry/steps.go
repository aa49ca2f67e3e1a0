package telemetry

import (
	"context"
	"fmt"
	"math"

	"rumbench/internal/metric"
	"rumbench/workload"
)

// The operation kinds, and the groups that combine them.
const (
	opLoad   = "load"
	opIndex  = "index"
	opInsert = "insert"
	opSilent = "silent"
	opQuery  = "query"
	opRollup = "roll-up"
	opDrop   = "drop partition"

	background = "background" // the group
)

// Steps returns the same steps for all schemas, so that they can be compared.
func (r *run) Steps() []workload.Step {
	steps := []workload.Step{r.load(), r.index(),
		workload.SettleStep("settle", r.p.Duration("settle_floor"), r.history*r.devices*r.rowsOf(), " before the queries")}
	if jobs := r.jobsUntil(r.history); jobs > 0 {
		steps = append(steps, workload.Step{
			Name: "rollup", Primary: opRollup, WritesPer: opRollup, Access: workload.RangeAccess,
			Doc:    "How fast are closed windows of the loaded history read and aggregated?",
			Groups: []workload.Group{{Name: background, Clients: 1, Work: jobs, Ops: backgroundOps}},
		})
	}
	for _, rate := range r.p.Ints("rates") {
		steps = append(steps, r.mix(rate))
	}
	steps = append(steps, workload.Step{
		Name: "readonly", Primary: opQuery, WritesPer: opQuery, Access: workload.RangeAccess,
		Judged: []string{metric.RowsPerS, metric.CPUUS},
		Doc:    "How fast are queries answered when nothing is written?", Seconds: r.p.Float("read_seconds"),
		Groups: []workload.Group{{Name: opQuery, Clients: int(r.p.Int("readers")), Ops: r.queryOps()}},
	})
	for i := range steps {
		step := steps[i]
		steps[i].Open = func(_ context.Context, env workload.Env) (workload.Stage, error) { return r.openStage(&step, env) }
	}
	return steps
}

func (r *run) load() workload.Step {
	return workload.Step{
		Name: opLoad, Creates: true, Primary: opLoad, WritesPer: opLoad, Access: workload.WriteAccess,
		Doc: "How fast are measurements stored in the order of time, many per commit?",
		Groups: []workload.Group{{Name: opLoad, Clients: int(r.writers), Work: r.loadWork(),
			Ops: []workload.OpKind{{Name: opLoad, Unit: "value"}}}},
	}
}

// loadWork returns the number of operations of a loader: each batch belongs to one
// partition.
func (r *run) loadWork() (ops int64) {
	batch := r.p.Int("load_batch")
	for first := int64(0); first < r.history; first += r.partition {
		ops += (min(r.partition, r.history-first)*r.perTick + batch - 1) / batch
	}
	return ops
}

func (r *run) index() workload.Step {
	builds := 0
	if r.schema == schemaRead {
		builds = int(r.tables)
	}
	return workload.Step{
		Name: opIndex, Primary: opIndex, WritesPer: opIndex, Whole: true, Builds: builds,
		Doc: "How fast is the index on metric and value built on the loaded partitions? Only schema read has it.",
		Groups: []workload.Group{{Name: opIndex, Clients: 1, Work: r.tables,
			Ops: []workload.OpKind{{Name: opIndex, Unit: "value"}}}},
	}
}

// mix returns the step of a rate, which does everything at once.
func (r *run) mix(rate int64) workload.Step {
	s := workload.Step{
		Name: fmt.Sprintf("mix%d", rate), Primary: opInsert, WritesPer: opInsert, Access: workload.MixedAccess,
		Judged: []string{metric.ServiceP99US, metric.CPUUS, metric.WriteKB},
		Doc: fmt.Sprintf("What do writes and queries cost while %d values/s arrive, windows are rolled up and old "+
			"partitions dropped?", rate),
	}
	if len(r.p.Ints("rates")) > 1 {
		s.Base, s.Axes = "mix", []workload.Axis{{Name: "values/s promised", Value: float64(rate)}}
	}
	queries := workload.Group{Name: opQuery, Clients: int(r.p.Int("readers")), Rate: r.p.Float("read_rate"),
		Ops: r.queryOps()}
	if queries.Rate > 0 {
		queries.RowsPerOp = 1
	}
	s.Groups = []workload.Group{
		{
			Name: opInsert, Clients: int(r.writers), Rate: r.rateOf(rate), RowsPerOp: r.batch * r.metrics, Work: r.workAt(rate),
			Ops: []workload.OpKind{{Name: opInsert, Unit: "value"}, {Name: opSilent, Unit: "value"}}, Parts: statements[:],
		},
		queries,
		{Name: background, Clients: 1, Ops: backgroundOps},
	}
	return s
}

// rateOf returns a writer's operations per second for a rate of values.
func (r *run) rateOf(rate int64) float64 { return float64(rate) / float64(r.batch*r.metrics*r.writers) }

// workAt returns the number of operations of a writer in the mix step of a rate: whole
// ticks, so that each device has the same number of measurements.
func (r *run) workAt(rate int64) int64 {
	perTick := r.perTick / r.batch
	ticks := math.Ceil(r.rateOf(rate) * r.p.Float("mix_seconds") / float64(perTick))
	return int64(ticks) * perTick
}

var backgroundOps = []workload.OpKind{{Name: opRollup, Unit: "aggregate"},
	{Name: opDrop, Unit: "partition", Event: true}}
