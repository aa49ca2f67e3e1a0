// Package rollup inserts facts and adds each to three roll-up tables, in one transaction:
// sums over buckets of 10, 100 and 1000 facts.
//
// It was defined by Vadim Tkachenko in 2013; docs/rollup.md has its sources, and the
// differences of this implementation.
package rollup

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"rumbench/internal/metric"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/pace"
)

// Workload is the workload, for the registry.
type Workload struct{}

// The values of parameters.
const (
	sequential  = "sequential"
	scattered   = "scattered"
	aggregating = "aggregating"

	scopeTable  = "table"
	scopeGlobal = "global"

	columnsNarrow = "narrow"
	columnsWide   = "wide"

	baseFirst   = "base_first"
	rollupFirst = "rollup_first"

	checkEach = "each"
	checkLast = "last"
	checkNone = "none"
)

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name:    "rollup",
		Doc:     "Facts are inserted and added to three roll-up tables in one transaction, while the roll-ups outgrow the cache.",
		Params:  params,
		Presets: presets,
	}
}

var params = []workload.Param{
	{Name: "schema", Type: workload.StringParam, Default: sequential, Enum: []string{sequential, scattered, aggregating}, Doc: "the keys: ascending (A of the original), random (B), or of pairs that recur at random (not in the original)"},
	{Name: "rows", Type: workload.IntParam, Default: int64(10_000_000), Unit: "rows", Min: 1, Max: 1e12, Doc: "facts inserted by all clients together, which is the number of transactions"},
	{Name: "stages", Type: workload.IntParam, Default: int64(10), Min: 1, Max: 100, Doc: "number of steps of equal rows: the report draws the rate by the rows inserted"},
	{Name: "tables", Type: workload.IntParam, Default: int64(32), Min: 1, Max: 1024, Doc: "number of base tables, each with three roll-up tables; a transaction draws one uniformly"},
	{Name: "clients", Type: workload.IntParam, Default: int64(32), Min: 1, Max: 4096, Doc: "number of clients"},
	{Name: "transactions", Type: workload.BoolParam, Default: true, Doc: "the four statements are one transaction; false: each is its own, for engines without transactions"},
	{Name: "order", Type: workload.StringParam, Default: baseFirst, Enum: []string{baseFirst, rollupFirst}, Doc: "whether the insert comes before the roll-ups, as in the original, or after them"},
	{Name: "id_scope", Type: workload.StringParam, Default: scopeTable, Enum: []string{scopeTable, scopeGlobal}, Doc: "facts are numbered in each table, or over all tables: then a bucket's facts are spread over the tables"},
	{Name: "rollup_columns", Type: workload.StringParam, Default: columnsNarrow, Enum: []string{columnsNarrow, columnsWide}, Doc: "columns of roll-ups: key and sum, or the texts of their first fact too, 178 bytes"},
	{Name: "pairs", Type: workload.IntParam, Default: int64(100), Unit: "per table", Min: 1, Max: 1e9, Doc: "pairs (hid, mid) of schema aggregating at the beginning"},
	{Name: "facts_per_pair", Type: workload.IntParam, Default: int64(20), Unit: "facts", Min: 2, Max: 1e12, Doc: "one fact in this many is the first of a new pair, and opens a bucket in each roll-up; 1e12: there are no new pairs"},
	{Name: "rate", Type: workload.FloatParam, Default: 0.0, Unit: "transactions/s", Min: 0, Doc: "promised rate of all clients together; 0: as fast as they can"},
	{Name: "pace", Type: workload.StringParam, Default: string(pace.Even), Enum: pace.Kinds(), Doc: "how paced clients spread their transactions over a second"},
	{Name: "check", Type: workload.StringParam, Default: checkLast, Enum: []string{checkEach, checkLast, checkNone}, Doc: "steps after which all sums are compared, outside the measured window; this reads all tables"},
}

var presets = []workload.Preset{
	{Name: "quick", Doc: "about a minute per engine on two cores: a first test that shows the shape of the differences", Values: map[string]any{
		"rows": int64(200_000), "stages": int64(5), "tables": int64(2), "clients": int64(2),
	}},
	{Name: "two-cores", Doc: "a machine with two cores: schema aggregating, whose roll-ups outgrow a cache of 16 MiB", Values: map[string]any{
		"schema": aggregating, "rollup_columns": columnsWide, "rows": int64(400_000), "tables": int64(4), "clients": int64(4),
	}},
	{Name: "2013", Doc: "the size of the published run of May 2013 (16 cores, 48 GB), which was five hours long; schema A, or B with schema: scattered", Values: map[string]any{
		"rows": int64(245_000_000), "stages": int64(25),
	}},
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{
		p: p, schema: p.String("schema"), tables: int(p.Int("tables")), clients: int(p.Int("clients")),
		atomic: p.Bool("transactions"), global: p.String("id_scope") == scopeGlobal, wide: p.String("rollup_columns") == columnsWide,
		pairs: p.Int("pairs"), perPair: p.Int("facts_per_pair"),
	}
	lowest := p.Int("stages") * int64(r.clients)
	if err := cmp.Or(
		workload.RefuseIf(p.Int("rows") < lowest, "rows", fmt.Sprintf("raise rows to at least %d, or lower stages or clients", lowest),
			"%d rows are fewer than one for each client in each of %d stages", p.Int("rows"), p.Int("stages")),
		workload.RefuseIf(r.global && r.schema == aggregating, "id_scope", "remove it", "schema aggregating numbers the rounds of each table"),
	); err != nil {
		return nil, err
	}
	var err error
	if r.k, err = gen.NewPareto(greatestK+1, paretoShare); err != nil {
		return nil, err
	}
	r.next = make([]atomic.Int64, r.tables)
	return r, nil
}

// run is the workload with its parameters.
type run struct {
	p               workload.Params
	schema          string
	tables, clients int
	atomic          bool // the statements of a fact are a transaction
	global, wide    bool
	pairs, perPair  int64 // initial pairs; one fact in perPair begins a new pair
	k               gen.Pareto
	// drawn numbers the facts, and the number determines the table of each; next numbers
	// the facts of each table. Both continue from step to step.
	drawn     atomic.Int64
	next      []atomic.Int64
	committed int64 // facts that the base tables hold
}

// Needs returns transactions, unless each statement is its own transaction.
func (r *run) Needs() []model.Capability {
	if r.atomic {
		return []model.Capability{model.CapTransactions}
	}
	return nil
}

const opTransaction = "transaction"

// each returns the number of transactions of each client in a stage.
func (r *run) each() int64 {
	n := r.p.Int("stages") * int64(r.clients)
	return (r.p.Int("rows") + n - 1) / n
}

// Steps returns the stages.
func (r *run) Steps() (out []workload.Step) {
	stages := int(r.p.Int("stages"))
	for i := range stages {
		total := r.each() * int64(r.clients) * int64(i+1)
		s := workload.Step{
			Name: fmt.Sprintf("insert-%d", i+1), Creates: i == 0, Base: "insert", Axes: []workload.Axis{{Name: "rows inserted", Value: float64(total)}},
			Doc:     fmt.Sprintf("How fast are facts inserted and added to their roll-ups, up to %d of them?", total),
			Divides: true,
			Primary: opTransaction, WritesPer: opTransaction, Access: workload.WriteAccess,
			Groups: []workload.Group{{
				Name: "clients", Clients: r.clients, Work: r.each(), RowsPerOp: 1, Rate: r.p.Float("rate") / float64(r.clients), Pace: pace.Kind(r.p.String("pace")),
				Ops: []workload.OpKind{{Name: opTransaction, Unit: opTransaction}}, Parts: r.parts(),
			}},
		}
		last := i == stages-1
		if last {
			s.Judged = []string{metric.RowsPerS, metric.ServiceP99US, metric.CPUUS, metric.WriteKB, metric.SpaceAmplification}
		}
		check := r.p.String("check") == checkEach || last && r.p.String("check") == checkLast
		s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
			return r.open(ctx, &s, env, check)
		}
		out = append(out, s)
	}
	return out
}

// Estimate returns the data after the last stage.
func (r *run) Estimate([]workload.Step) workload.Live {
	each := r.each() * r.p.Int("stages") * int64(r.clients) / int64(r.tables)
	var all workload.Live
	for range r.tables {
		all = r.grown(all, each)
	}
	return all
}

// grown adds a table with its roll-ups to the existing data.
func (r *run) grown(all workload.Live, facts int64) workload.Live {
	rows := []int64{facts}
	for _, b := range buckets {
		n, _ := r.bucketsOf(facts, b)
		rows = append(rows, n)
	}
	return r.including(all, rows)
}

// including adds the rows of a base table and of its roll-ups to the data.
func (r *run) including(all workload.Live, rows []int64) workload.Live {
	for i, n := range rows {
		all.Rows += n
		all.Bytes += n * r.rowBytes(i > 0)
	}
	return all
}

// bucketsOf returns the number of roll-up rows of a table, and whether that is exact.
func (r *run) bucketsOf(facts, size int64) (rows int64, exact bool) {
	switch {
	case r.schema == scattered:
		return facts, false // two facts hardly ever have a bucket in common
	case r.schema == aggregating:
		rows = facts / r.perPair // the first facts of new pairs
		for at, others := r.firstRound(), facts-rows; at.first < others; at = r.after(at) {
			if at.number%size == 0 {
				rows += min(at.pairs, others-at.first)
			}
		}
		return rows, true
	case r.global:
		n := float64(r.tables)
		return int64(float64(facts) * n / float64(size) * (1 - math.Pow(1-1/n, float64(size)))), false
	}
	return (facts + size - 1) / size, true
}
