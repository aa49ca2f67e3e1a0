package ibench

import (
	"context"
	"fmt"
	"math"
	"time"

	"rumbench/internal/pace"
	"rumbench/workload"
)

// The operation kinds.
const (
	opInsert = "insert"
	opDelete = "delete"
	opIndex  = "index"
	opQuery  = "query"
	opPoint  = "point"
	opMin    = "min id"
	opMax    = "max id"
)

// role is what a group's clients are.
type role uint8

const (
	writer role = iota
	deleter
	builder
	ranger
	pointer
)

// plan is how a step is put together: its groups' roles, beside what the
// contract says of it.
type plan struct {
	workload.Step
	roles      []role
	batch      int64
	load       bool // its inserts are the first load
	indexed    bool // the secondary indexes exist at the end
	withIndex  bool // the secondary indexes are made with the tables
	wantsIndex bool // they must exist before
}

func (r *run) allSteps() []workload.Step {
	var plans []*plan
	switch r.form {
	case form2016:
		plans = append(plans, r.load("l", true))
		for _, rate := range r.p.Ints("rates") {
			plans = append(plans, r.queries(fmt.Sprintf("q%d", rate), rate, ranger))
		}
	case form2020:
		plans = append(plans, r.load("l.i0", false), r.build(), r.writes("l.i1", r.p.Int("write_rows"), r.p.Int("write_batch")))
		for _, rate := range r.p.Ints("rates") {
			for loop := range r.p.Int("loops") {
				plans = append(plans, r.queries(fmt.Sprintf("q%d.%d", rate, loop+1), rate, ranger))
			}
		}
	default:
		small := r.p.Int("write_rows") / 5
		plans = append(plans, r.load("l.i0", false), r.build(),
			r.writes("l.i1", r.p.Int("write_rows")-small, r.p.Int("write_batch")),
			r.writes("l.i2", small, r.p.Int("small_batch")),
			r.settle())
		for _, rate := range r.p.Ints("rates") {
			plans = append(plans, r.queries(fmt.Sprintf("qr%d", rate), rate, ranger), r.queries(fmt.Sprintf("qp%d", rate), rate, pointer))
		}
	}
	var steps []workload.Step
	for _, p := range plans {
		if p == nil {
			continue // a step without work
		}
		p.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
			return r.openStage(ctx, p, env, r.checks(p.Name))
		}
		steps = append(steps, p.Step)
	}
	return steps
}

// checks reports whether the rows are to be counted after a step.
func (r *run) checks(step string) bool {
	switch r.p.String("check") {
	case "each":
		return true
	case "last":
		return r.steps[len(r.steps)-1].Name == step
	}
	return false
}

func batches(rows, batch int64) int64 { return (rows + batch - 1) / batch }

func (r *run) addGroup(p *plan, as role, g workload.Group) {
	g.Clients = r.clients
	if as == builder {
		g.Clients = r.tables
	}
	g.Ops = r.opKinds(as)
	p.Groups = append(p.Groups, g)
	p.roles = append(p.roles, as)
}

func (r *run) opKinds(as role) []workload.OpKind {
	switch as {
	case writer:
		return []workload.OpKind{{Name: opInsert, Unit: "row"}}
	case deleter:
		return []workload.OpKind{{Name: opDelete, Unit: "row", Finds: workload.FindsExactly}, {Name: opMin, Unit: "query", Upkeep: true, Finds: workload.FindsExactly}}
	case builder:
		return []workload.OpKind{{Name: opInsert, Unit: "row"}, {Name: opIndex, Unit: "row"}}
	case pointer:
		return []workload.OpKind{
			{Name: opPoint, Unit: "query", Of: opQuery, Returns: true, Finds: workload.FindsExactly},
			{Name: opMax, Unit: "query", Upkeep: true, Finds: workload.FindsExactly},
		}
	}
	var kinds []workload.OpKind
	for _, q := range r.rangeQueries() {
		kinds = append(kinds, workload.OpKind{Name: "range " + q.name, Unit: "query", Of: opQuery, Returns: true, Finds: workload.FindsExactly})
	}
	return kinds
}

// load returns the first step: rows in the order of the primary key.
func (r *run) load(name string, indexed bool) *plan {
	p := &plan{batch: r.p.Int("load_batch"), load: true, indexed: indexed, withIndex: indexed}
	p.Name, p.Creates, p.Primary, p.WritesPer, p.Access = name, true, opInsert, opInsert, workload.WriteAccess
	p.Doc = "How fast are rows appended in the order of the primary key, without secondary indexes?"
	if indexed {
		p.Doc = "How fast are rows inserted while the secondary indexes are maintained in random order?"
	}
	r.addGroup(p, writer, workload.Group{Name: "insert", Work: batches(r.p.Int("rows"), p.batch), RowsPerOp: p.batch})
	return p
}

// build returns the step that makes the secondary indexes.
func (r *run) build() *plan {
	if r.p.Int("secondary") == 0 {
		return nil
	}
	p := &plan{batch: r.p.Int("load_batch"), indexed: true}
	p.Name, p.Primary, p.WritesPer = "l.x", opIndex, opIndex
	p.Doc = "How fast are the secondary indexes built on a loaded table? Rows/s are the table's rows by the time for all indexes, and for the one batch that is inserted before."
	r.addGroup(p, builder, workload.Group{Name: "index", Work: 2})
	return p
}

// writes returns a step of inserts, and deletes, with all indexes present.
func (r *run) writes(name string, rows, batch int64) *plan {
	if rows == 0 {
		return nil
	}
	p := &plan{batch: batch, indexed: true, wantsIndex: true}
	p.Name, p.Primary, p.WritesPer, p.Access = name, opInsert, opInsert, workload.WriteAccess
	p.Doc = fmt.Sprintf("How fast are rows inserted, %d per commit, with secondary indexes maintained in random order", batch)
	if r.p.Bool("deletes") {
		p.Doc += " and as many of the oldest rows deleted"
	}
	p.Doc += "?"
	work := batches(rows, batch)
	r.addGroup(p, writer, workload.Group{Name: "insert", Work: work, RowsPerOp: batch})
	if r.p.Bool("deletes") {
		r.addGroup(p, deleter, workload.Group{Name: "delete", Work: work, RowsPerOp: batch})
	}
	return p
}

func (r *run) settle() *plan {
	p := &plan{indexed: true}
	p.Name = "settle"
	p.Doc = "The engine comes to rest: what it put off is done before the queries."
	floor := r.p.Duration("settle_floor")
	if floor < 0 {
		loaded := float64(r.p.Int("rows") * int64(r.clients))
		floor = time.Duration(math.Round(min(60+loaded/1e6, 1200))) * time.Second
	}
	p.Settle = &workload.Settle{Floor: floor}
	return p
}

// queries returns a step of queries beside writers of a fixed rate.
func (r *run) queries(name string, rate int64, as role) *plan {
	p := &plan{batch: min(r.p.Int("write_batch"), rate), indexed: true, wantsIndex: true}
	p.Name, p.Primary, p.WritesPer, p.Access = name, opQuery, opInsert, workload.RangeAccess
	what := "short range queries that an index covers"
	if as == pointer {
		p.Access = workload.PointAccess
		what = fmt.Sprintf("reads of %d rows by key", r.p.Int("rows_per_query"))
	}
	p.Doc = fmt.Sprintf("How many %s are answered, and how fast, while every client writes %d rows/s?", what, rate)
	seconds := r.p.Float("query_seconds")
	g := workload.Group{Name: "insert", RowsPerOp: p.batch, Rate: float64(rate) / float64(p.batch), Pace: pace.Kind(r.p.String("pace"))}
	if r.p.String("bound") == "time" {
		p.Seconds = seconds
	} else {
		g.Work = batches(int64(math.Ceil(float64(rate)*seconds)), p.batch)
	}
	r.addGroup(p, writer, g)
	if r.p.Bool("deletes") {
		g.Name = "delete"
		r.addGroup(p, deleter, g)
	}
	r.addGroup(p, as, workload.Group{Name: "query"})
	return p
}
