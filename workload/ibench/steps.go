package ibench

import (
	"context"
	"fmt"
	"math"

	"rumbench/internal/metric"
	"rumbench/workload"
	"rumbench/workload/pace"
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

// role is the task of a group's clients.
type role uint8

const (
	writer role = iota
	deleter
	builder
	rangeQuerier
	pointQuerier
)

// plan is a step with the roles of its groups.
type plan struct {
	workload.Step
	roles      []role
	batch      int64
	load       bool // its inserts are a load
	indexed    bool // the secondary indexes exist at the end
	withIndex  bool // the secondary indexes are created with the tables
	wantsIndex bool // the secondary indexes must exist before
}

func (r *run) allSteps() []workload.Step {
	var plans []*plan
	switch r.form {
	case form2016:
		plans = append(plans, r.load("l", true))
		for _, rate := range r.p.Ints("rates") {
			plans = append(plans, r.queries(fmt.Sprintf("q%d", rate), rate, rangeQuerier))
		}
	case form2020:
		plans = append(plans, r.load("l.i0", false), r.build(),
			r.writes("l.i1", r.p.Int("write_rows"), r.p.Int("write_batch")))
		for _, rate := range r.p.Ints("rates") {
			for loop := range r.p.Int("loops") {
				plans = append(plans, r.queries(fmt.Sprintf("q%d.%d", rate, loop+1), rate, rangeQuerier))
			}
		}
	default:
		small := r.p.Int("write_rows") / 5
		plans = append(plans, r.load("l.i0", false), r.build(),
			r.writes("l.i1", r.p.Int("write_rows")-small, r.p.Int("write_batch")),
			r.writes("l.i2", small, r.p.Int("small_batch")),
			&plan{indexed: true, Step: workload.SettleStep("settle", r.p.Duration("settle_floor"),
				r.p.Int("rows")*int64(r.clients), " before the queries")})
		for _, rate := range r.p.Ints("rates") {
			plans = append(plans, r.queries(fmt.Sprintf("qr%d", rate), rate, rangeQuerier),
				r.queries(fmt.Sprintf("qp%d", rate), rate, pointQuerier))
		}
	}
	var steps []workload.Step
	for _, p := range plans {
		if p == nil {
			continue // without work
		}
		p.Divides = true
		p.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
			return r.openStage(ctx, p, env, r.checks(p.Name))
		}
		steps = append(steps, p.Step)
	}
	return steps
}

// judge declares the subject of the benchmark: inserts while indexes are maintained;
// without such a step the load, and without a load the queries.
func judge(steps []workload.Step) {
	for _, name := range []string{"l.i1", "l", "l.i2", "l.i0"} {
		for i := range steps {
			if steps[i].Name == name {
				steps[i].Judged = []string{metric.RowsPerS, metric.ServiceP99US, metric.CPUUS, metric.WriteKB,
					metric.SpaceAmplification}
				return
			}
		}
	}
	for i := range steps {
		if steps[i].Primary == opQuery {
			steps[i].Judged = []string{metric.RowsPerS}
		}
	}
}

// checks reports whether the rows are counted after a step.
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
		return []workload.OpKind{
			{Name: opDelete, Unit: "row", Finds: workload.FindsExactly},
			{Name: opMin, Unit: "query", Upkeep: true, Finds: workload.FindsExactly},
		}
	case builder:
		return []workload.OpKind{{Name: opInsert, Unit: "row"}, {Name: opIndex, Unit: "row"}}
	case pointQuerier:
		return []workload.OpKind{
			{Name: opPoint, Unit: "query", Of: opQuery, Returns: true, Finds: workload.FindsExactly},
			{Name: opMax, Unit: "query", Upkeep: true, Finds: workload.FindsExactly},
		}
	}
	var kinds []workload.OpKind
	for _, q := range r.rangeQueries() {
		kinds = append(kinds, workload.OpKind{Name: "range " + q.name, Unit: "query", Of: opQuery, Returns: true,
			Finds: workload.FindsExactly})
	}
	return kinds
}

// load returns the first step: inserts in primary key order.
func (r *run) load(name string, indexed bool) *plan {
	p := &plan{batch: r.p.Int("load_batch"), load: true, indexed: indexed, withIndex: indexed}
	p.Name, p.Creates, p.Primary, p.WritesPer, p.Access = name, true, opInsert, opInsert, workload.WriteAccess
	p.Doc = "How fast are rows appended in primary key order, without secondary indexes?"
	if indexed {
		p.Doc = "How fast are rows inserted while the secondary indexes are maintained in random order?"
	}
	r.addGroup(p, writer, workload.Group{Name: "insert", Work: batches(r.p.Int("rows"), p.batch), RowsPerOp: p.batch})
	return p
}

// build returns the step that builds the secondary indexes, or nil if there are none.
func (r *run) build() *plan {
	if r.p.Int("secondary") == 0 {
		return nil
	}
	p := &plan{batch: r.p.Int("load_batch"), indexed: true}
	p.Name, p.Primary, p.WritesPer, p.Whole = "l.x", opIndex, opIndex, true
	p.Doc = "How fast are the secondary indexes built on a loaded table? " +
		"Rows/s are the table's rows by the time for all indexes and for the batch that is inserted before."
	p.Builds = int(r.p.Int("secondary")) * r.tables
	r.addGroup(p, builder, workload.Group{Name: "index", Work: 2})
	return p
}

// writes returns a step of inserts, and deletes if any, with all indexes; nil without
// rows.
func (r *run) writes(name string, rows, batch int64) *plan {
	if rows == 0 {
		return nil
	}
	p := &plan{batch: batch, indexed: true, wantsIndex: true}
	p.Name, p.Primary, p.WritesPer, p.Access = name, opInsert, opInsert, workload.WriteAccess
	p.Doc = fmt.Sprintf("How fast are rows inserted, %d per commit, with secondary indexes maintained in random order",
		batch)
	if r.p.Bool("deletes") {
		p.Doc += " and as many of the oldest rows deleted"
	}
	p.Doc += "?"
	work := batches(rows, batch)
	r.addGroup(p, writer, workload.Group{Name: "insert", Work: work, RowsPerOp: batch})
	p.Touches = r.touches()
	if r.p.Bool("deletes") {
		r.addGroup(p, deleter, workload.Group{Name: "delete", Work: work, RowsPerOp: batch})
	}
	return p
}

// touches returns the entries of secondary indexes that change per inserted row,
// including those of the row deleted for it; the keys of both are in order.
func (r *run) touches() (out []workload.Touch) {
	each := 1.0
	if r.p.Bool("deletes") {
		each = 2
	}
	for t := range r.tables {
		for _, index := range r.indexNames(t) {
			out = append(out, workload.Touch{Table: tableName(t), Index: index, PerUnit: each / float64(r.tables),
				Changes: true})
		}
	}
	return out
}

// queries returns a step of queries concurrent with writers at a fixed rate.
func (r *run) queries(name string, rate int64, as role) *plan {
	p := &plan{batch: min(r.p.Int("write_batch"), rate), indexed: true, wantsIndex: true}
	p.Name, p.Primary, p.WritesPer, p.Access = name, opQuery, opInsert, workload.RangeAccess
	subject := "short range queries that an index covers"
	if as == pointQuerier {
		p.Access = workload.PointAccess
		subject = fmt.Sprintf("reads of %d rows by key", r.p.Int("rows_per_query"))
	}
	p.Doc = fmt.Sprintf("How many %s are answered, and how fast, while every client writes %d rows/s?", subject, rate)
	seconds := r.p.Float("query_seconds")
	g := workload.Group{Name: "insert", RowsPerOp: p.batch, Rate: float64(rate) / float64(p.batch),
		Pace: pace.Kind(r.p.String("pace"))}
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
