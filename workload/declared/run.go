package declared

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
)

// run is a workload with its parameters chosen. Its tables hold the knowledge of one
// process's steps about their rows.
type run struct {
	schema model.Schema
	tables []*tableDef
	root   *strictyaml.Node
	params workload.Params
	info   workload.Info
	steps  []workload.Step
	all    []*step
	checks []check
	needs  []model.Capability
	speaks []string
	// done are the operations completed in all runs; whole is whether these are the only
	// changes that the tables have ever had.
	done  map[string]int64
	whole bool
	// unread is whether rows are missing of which another process knew: the tables are to be read.
	unread bool
}

// Schema implements workload.Run.
func (r *run) Schema() model.Schema { return r.schema }

// Needs implements workload.Run.
func (r *run) Needs() []model.Capability { return r.needs }

// Speaks implements workload.Speaker.
func (r *run) Speaks() []string { return r.speaks }

// Steps implements workload.Run.
func (r *run) Steps() []workload.Step { return r.steps }

// Estimate implements workload.Run. It covers only the loads.
func (r *run) Estimate([]workload.Step) (l workload.Live) {
	for _, t := range r.tables {
		l.Rows += t.loaded
		l.Bytes += int64(float64(t.loaded) * t.rowBytes(t.indexNames()))
	}
	return l
}

// compiler returns a compiler for the operations of clients.
func (r *run) compiler(seed uint64) *compiler {
	c := &compiler{Document: document(), info: r.info, params: r.params, tables: r.tables, seed: seed}
	c.readValues(r.root.Get("values"))
	return c
}

// does reports whether some step does an operation.
func (r *run) does(name string) bool {
	return slices.ContainsFunc(r.all, func(s *step) bool {
		return slices.ContainsFunc(s.groups, func(g *group) bool { return slices.Contains(g.ops, name) })
	})
}

// stage is a running step.
type stage struct {
	*run
	step    *workload.Step
	spec    *step
	env     workload.Env
	spoiled atomic.Int64   // returned texts whose checksum is wrong
	batches *workload.Deal // of a load
	start   int64          // its first row
	before  []rowCount     // by table
	counted []int64        // Counts of all processes; nil: this one has all clients
}

func countRows(ctx context.Context, session engine.Session, t *tableDef) (int64, error) {
	n, err := workload.CountRows(ctx, session, t.Name)
	if err != nil {
		return 0, fmt.Errorf("count the rows of %s: %w", t.Name, err)
	}
	return n, nil
}

// entryBytes returns the mean bytes of the index entries that a statement writes per row.
func (s *stage) entryBytes(t *tableDef, op *model.Op) (sum int64) {
	for i := range t.Indexes {
		ix := &t.Indexes[i]
		changed := op.Kind == model.Insert || slices.ContainsFunc(op.Set, func(a model.Assign) bool {
			return slices.Contains(ix.Columns, a.Column) || slices.Contains(ix.Include, a.Column)
		})
		if changed && slices.Contains(s.spec.built[t], ix.Name) {
			sum += int64(t.entryBytes(ix))
		}
	}
	return sum
}
