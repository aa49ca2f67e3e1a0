package sysbench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/workload"
)

// The operation kinds.
const (
	opInsert      = "insert"
	opIndex       = "index"
	opQuery       = "query"
	opTransaction = "transaction"
	opReadOnly    = "read-only transaction"
	opReadWrite   = "read-write transaction"
)

// settleName is the entry of parameter tests for a settle step.
const settleName = "settle"

// level is the position of a step on the axes.
type level struct {
	tables, clients int64
	ratio           int64 // 0 for a test without one
}

func (r *run) build() error {
	if r.p.Bool("load") {
		r.steps = append(r.steps, r.load())
		if r.p.Bool("create_secondary") {
			r.steps = append(r.steps, r.index())
		}
		r.steps = append(r.steps, r.settle(settleName))
	}
	for _, entry := range r.p.Strings("tests") {
		if base, _, _ := strings.Cut(entry, "."); base == settleName {
			r.steps = append(r.steps, r.settle(entry))
			continue
		}
		t, err := r.newTest(entry)
		if err != nil {
			return err
		}
		if t.single && r.tables > 1 {
			return &workload.ParamError{Param: "tables", Reason: fmt.Sprintf("test %s works on one table", t.name),
				Help: "set tables: 1, or remove the test"}
		}
		r.trx = r.trx || t.transaction
		for _, l := range r.levels(t) {
			r.steps = append(r.steps, r.test(entry, t, l)...)
		}
	}
	if len(r.steps) == 0 {
		return &workload.ParamError{Param: "tests", Reason: "there are no steps", Help: "name a test, or set load: true"}
	}
	r.findBefore()
	r.judge()
	return r.checkNames()
}

// judge declares the subject of the run: its tests. A few tests are compared by
// throughput, latency and CPU, a suite by the throughput of each test. The load counts
// only if there are no tests.
func (r *run) judge() {
	var tests []*workload.Step
	for i := range r.steps {
		if s := &r.steps[i]; len(s.Groups) > 0 && !s.Warmup && !s.Creates && s.Primary != opIndex {
			tests = append(tests, s)
		}
	}
	judged := []string{metric.RowsPerS}
	if len(tests) <= 3 {
		judged = append(judged, metric.ServiceP99US, metric.CPUUS)
	}
	for _, s := range tests {
		s.Judged = judged
	}
	if len(tests) == 0 {
		r.steps[0].Judged = judged
	}
}

func (r *run) checkNames() error {
	seen := map[string]bool{}
	for _, s := range r.steps {
		if seen[s.Name] {
			return &workload.ParamError{
				Param: "tests", Reason: fmt.Sprintf("%s is repeated", s.Name),
				Help: "add a suffix after a dot: " + s.Name + ".again",
			}
		}
		seen[s.Name] = true
	}
	return nil
}

// before is the suffix of a step of reads that is repeated after writes.
const before = ".pre"

// findBefore sets Before of steps that are repeated after writes.
func (r *run) findBefore() {
	for i := range r.steps {
		s := &r.steps[i]
		test, tail, _ := strings.Cut(s.Name, "@")
		earlier := test + before
		if tail != "" {
			earlier += "@" + tail
		}
		if slices.ContainsFunc(r.steps[:i], func(o workload.Step) bool { return o.Name == earlier }) {
			s.Before = earlier
		}
	}
}

func (d *definitions) levels(t *test) (out []level) {
	ratios := []int64{0}
	if t.writer != nil {
		ratios = d.p.Ints("ratios")
	}
	for _, tables := range d.p.Ints("tables") {
		for _, ratio := range ratios {
			for _, clients := range d.p.Ints("clients") {
				out = append(out, level{tables, clients, ratio})
			}
		}
	}
	return out
}

// locate sets the name, base and axes of a step, from its test and the axes with several
// levels.
func (d *definitions) locate(s *workload.Step, entry string, l level) {
	var at []string
	axis := func(name, short string, values []int64, v int64) {
		if len(values) > 1 {
			s.Axes = append(s.Axes, workload.Axis{Name: name, Value: float64(v)})
			at = append(at, fmt.Sprintf("%d%s", v, short))
		}
	}
	if l.ratio > 0 {
		axis("transactions per write", "r", d.p.Ints("ratios"), l.ratio)
	}
	axis("tables", "t", d.p.Ints("tables"), l.tables)
	axis("clients", "c", d.p.Ints("clients"), l.clients)
	s.Name = entry
	if len(at) > 0 {
		s.Base = entry
		s.Name += "@" + strings.Join(at, ".")
	}
}

// test returns the step of a test at a level, preceded by a warmup step if there is one.
func (r *run) test(entry string, t *test, l level) (out []workload.Step) {
	if w := r.p.Float("warmup_seconds"); w > 0 {
		s := r.testStep(entry+".warmup", t, l)
		s.Seconds, s.Doc = w, "Caches are warmed up for the next step."
		s.Base, s.Axes, s.Warmup = "", nil, true
		out = append(out, s)
	}
	return append(out, r.testStep(entry, t, l))
}

func (r *run) testStep(entry string, t *test, l level) workload.Step {
	s := workload.Step{Doc: t.doc, Grows: t.grows() > 0, Divides: !t.own}
	r.locate(&s, entry, l)
	_, word, _ := strings.Cut(entry, ".")
	s.Warmup = strings.HasPrefix(word, "warm")
	s.BeforeWrites = slices.ContainsFunc(strings.Split(word, "."),
		func(part string) bool { return part == "pre" || part == "warmpre" })
	s.Access = t.access()
	s.Seconds = r.p.Float("read_seconds")
	if t.writes {
		s.Seconds = r.p.Float("write_seconds")
	}
	g := workload.Group{
		Name: "clients", Clients: int(l.clients), RowsPerOp: 1,
		Ops: r.kinds(t, l), Parts: t.parts(r.mixes(l)),
		Retry: workload.Retry{
			Policy: workload.RetryPolicy(r.p.String("retry")), Max: int(r.p.Int("retry_max")),
			Backoff: r.p.Duration("retry_backoff"),
		},
	}
	if n := r.p.Int("events"); n > 0 {
		g.Work, s.Seconds = n, 0
	}
	s.Primary = g.Ops[0].Whole()
	s.WritesPer = s.Primary
	s.Touches = r.touches(t, l)
	s.Groups = []workload.Group{g}
	s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
		return r.openTest(ctx, s.Name, t, l, env)
	}
	return s
}

func (d *definitions) kinds(t *test, l level) []workload.OpKind {
	switch {
	case t.rows:
		return []workload.OpKind{{Name: "scan", Unit: "row", Returns: true}}
	case d.mixes(l):
		return []workload.OpKind{
			{Name: opReadOnly, Unit: opTransaction, Of: opTransaction, Returns: true, Finds: t.finds()},
			{Name: opReadWrite, Unit: opTransaction, Of: opTransaction, Finds: t.finds()},
		}
	case t.several():
		return []workload.OpKind{{Name: opTransaction, Unit: opTransaction, Returns: t.reads(), Finds: t.finds()}}
	}
	return []workload.OpKind{{Name: opQuery, Unit: opQuery, Returns: t.reads(), Finds: t.finds()}}
}

// mixes reports whether only some transactions of a test write.
func (d *definitions) mixes(l level) bool { return l.ratio > 1 && d.p.String("rw_mode") == "skip" }

// several reports whether an event has more than one statement.
func (t *test) several() bool {
	if t.transaction {
		return true
	}
	n := int64(0)
	for _, b := range t.blocks {
		for _, u := range b {
			n += u.times * int64(len(u.statements))
		}
	}
	return n > 1
}

// The parts of a transaction in addition to its statements.
const (
	partBegin          = "begin"
	partCommit         = "commit"
	partBeginReadOnly  = "begin, read-only"
	partCommitReadOnly = "commit, read-only"
)

// parts returns the statements of a transaction that are timed individually. If
// only some transactions write, begin and commit of the others are separate
// parts: an empty commit costs next to nothing.
func (t *test) parts(mixes bool) (names []string) {
	if !t.several() {
		return nil
	}
	if t.transaction {
		names = append(names, partBegin)
	}
	if mixes {
		names = append(names, partBeginReadOnly)
	}
	for _, s := range t.statements() {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	if t.transaction {
		names = append(names, partCommit)
	}
	if mixes {
		names = append(names, partCommitReadOnly)
	}
	return names
}

// loaders returns the number of clients that load.
func (r *run) loaders() int { return min(int(r.p.Int("load_clients")), r.tables) }

// perLoader returns the maximum number of tables per loader.
func (r *run) perLoader() int64 {
	return (int64(r.tables) + int64(r.loaders()) - 1) / int64(r.loaders())
}

func (r *run) load() workload.Step {
	batch := r.p.Int("load_batch")
	batches := (r.size + batch - 1) / batch
	return workload.Step{
		Name: "load", Creates: true, Divides: true, Primary: opInsert, WritesPer: opInsert, Access: workload.WriteAccess,
		Doc:    "How fast are rows appended in primary key order, without a secondary index?",
		Groups: r.loadGroup("load", opInsert, batches*r.perLoader(), batch),
		Open:   r.openLoad,
	}
}

func (r *run) index() workload.Step {
	return workload.Step{
		Name: "index", Divides: true, Primary: opIndex, WritesPer: opIndex, Whole: true, Builds: r.tables,
		Doc:    "How fast is the secondary index on k built on the loaded tables?",
		Groups: r.loadGroup("index", opIndex, r.perLoader(), r.size),
		Open:   r.openIndex,
	}
}

func (r *run) loadGroup(name, op string, work, rowsPerOp int64) []workload.Group {
	return []workload.Group{{
		Name: name, Clients: r.loaders(), Work: work, RowsPerOp: rowsPerOp, Ops: []workload.OpKind{{Name: op, Unit: "row"}},
	}}
}

func (r *run) settle(name string) workload.Step {
	return workload.SettleStep(name, r.p.Duration("settle_floor"), r.size*int64(r.tables), " before the next steps")
}

// touches returns the random index accesses of a query of a test. None are reported if
// some ids are drawn more often than others.
func (r *run) touches(t *test, l level) (out []workload.Touch) {
	if r.p.String("distribution") != uniform {
		return nil
	}
	for table := range int(l.tables) {
		for i, index := range []string{"", indexName(table)} {
			if n := t.touches[i]; n > 0 {
				out = append(out, workload.Touch{Table: tableName(table), Index: index, PerUnit: n / float64(l.tables),
					Changes: t.writes})
			}
		}
	}
	return out
}
