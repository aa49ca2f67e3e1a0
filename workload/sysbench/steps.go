package sysbench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// settleName is the entry of the list of tests that is a step of rest.
const settleName = "settle"

// level is where on the axes a step stands.
type level struct {
	tables, clients int64
	ratio           int64 // 0 of a test without one
}

// build makes the steps.
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
			return clientsError(t.name)
		}
		r.trx = r.trx || t.transaction
		for _, l := range r.levels(t) {
			steps := r.test(entry, t, l)
			r.steps = append(r.steps, steps...)
			if t.grows() > 0 {
				for _, s := range steps {
					r.inserting += s.Seconds
				}
			}
		}
	}
	if len(r.steps) == 0 {
		return &workload.ParamError{Param: "tests", Reason: "there is nothing to do", Hint: "name a test, or set load: true"}
	}
	r.findBefore()
	return r.checkNames()
}

func (r *run) checkNames() error {
	seen := map[string]bool{}
	for _, s := range r.steps {
		if seen[s.Name] {
			return &workload.ParamError{Param: "tests", Reason: fmt.Sprintf("%s comes twice", s.Name), Hint: "tell them apart by what follows a dot: " + s.Name + ".again"}
		}
		seen[s.Name] = true
	}
	return nil
}

// before marks a step of reads that comes again after writes.
const before = ".pre"

// findBefore ties steps to those that did the same before writes.
func (r *run) findBefore() {
	for i := range r.steps {
		s := &r.steps[i]
		test, rest, _ := strings.Cut(s.Name, "@")
		earlier := test + before
		if rest != "" {
			earlier += "@" + rest
		}
		if slices.ContainsFunc(r.steps[:i], func(o workload.Step) bool { return o.Name == earlier }) {
			s.Before = earlier
		}
	}
}

// levels returns where a test is run.
func (r *run) levels(t *test) (out []level) {
	ratios := []int64{0}
	if t.writer != nil {
		ratios = r.p.Ints("ratios")
	}
	for _, tables := range r.p.Ints("tables") {
		for _, ratio := range ratios {
			for _, clients := range r.p.Ints("clients") {
				out = append(out, level{tables, clients, ratio})
			}
		}
	}
	return out
}

// place names a step by its test and by the axes on which there are several
// levels, and puts it there.
func (r *run) place(s *workload.Step, entry string, l level) {
	var at []string
	axis := func(name, short string, values []int64, v int64) {
		if len(values) > 1 {
			s.Axes = append(s.Axes, workload.Axis{Name: name, Value: float64(v)})
			at = append(at, fmt.Sprintf("%d%s", v, short))
		}
	}
	if l.ratio > 0 {
		axis("transactions per write", "r", r.p.Ints("ratios"), l.ratio)
	}
	axis("tables", "t", r.p.Ints("tables"), l.tables)
	axis("clients", "c", r.p.Ints("clients"), l.clients)
	s.Name = entry
	if len(at) > 0 {
		s.Base = entry
		s.Name += "@" + strings.Join(at, ".")
	}
}

// test makes the step of a test at a level, after one of warming up.
func (r *run) test(entry string, t *test, l level) (out []workload.Step) {
	if w := r.p.Float("warmup_seconds"); w > 0 {
		s := r.testStep(entry+".warmup", t, l)
		s.Seconds, s.Doc = w, "Caches warm up for the step that follows."
		s.Base, s.Axes, s.Warmup = "", nil, true
		out = append(out, s)
	}
	return append(out, r.testStep(entry, t, l))
}

func (r *run) testStep(entry string, t *test, l level) workload.Step {
	s := workload.Step{Doc: t.doc}
	r.place(&s, entry, l)
	_, word, _ := strings.Cut(entry, ".")
	s.Warmup = strings.HasPrefix(word, "warm")
	s.BeforeWrites = slices.ContainsFunc(strings.Split(word, "."), func(part string) bool { return part == "pre" || part == "warmpre" })
	s.Access = t.access()
	s.Seconds = r.p.Float("read_seconds")
	if t.writes {
		s.Seconds = r.p.Float("write_seconds")
	}
	g := workload.Group{
		Name: "clients", Clients: int(l.clients), RowsPerOp: 1,
		Ops: r.kinds(t, l), Parts: t.parts(r.mixes(l)),
		Retry: workload.Retry{Policy: workload.RetryPolicy(r.p.String("retry")), Max: int(r.p.Int("retry_max")), Backoff: r.p.Duration("retry_backoff")},
	}
	if n := r.p.Int("events"); n > 0 {
		g.Work, s.Seconds = n, 0
	}
	s.Primary = g.Ops[0].Whole()
	s.WritesPer = s.Primary
	s.Groups = []workload.Group{g}
	s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
		return r.openTest(ctx, s.Name, t, l, env)
	}
	return s
}

// kinds returns what a test's operations are.
func (r *run) kinds(t *test, l level) []workload.OpKind {
	switch {
	case t.rows:
		return []workload.OpKind{{Name: "scan", Unit: "row", Returns: true}}
	case r.mixes(l):
		return []workload.OpKind{{Name: opReadOnly, Unit: opTransaction, Of: opTransaction, Returns: true, Finds: t.finds()}, {Name: opReadWrite, Unit: opTransaction, Of: opTransaction, Finds: t.finds()}}
	case t.several():
		return []workload.OpKind{{Name: opTransaction, Unit: opTransaction, Returns: t.reads(), Finds: t.finds()}}
	}
	return []workload.OpKind{{Name: opQuery, Unit: opQuery, Returns: t.reads(), Finds: t.finds()}}
}

// mixes reports whether some transactions of a test write, and others do not.
func (r *run) mixes(l level) bool { return l.ratio > 1 && r.p.String("rw_mode") == "skip" }

// several reports whether an event is more than one statement.
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

// The parts of a transaction beside its statements.
const (
	partBegin          = "begin"
	partCommit         = "commit"
	partBeginReadOnly  = "begin, read-only"
	partCommitReadOnly = "commit, read-only"
)

// parts returns the statements of a transaction that are timed one by one. Where
// some transactions write and others do not, theirs begin and end apart: a
// commit of nothing costs next to nothing.
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

// loaders returns how many clients load.
func (r *run) loaders() int { return min(int(r.p.Int("load_clients")), r.tables) }

// perLoader returns the most tables that one of them has.
func (r *run) perLoader() int64 {
	return (int64(r.tables) + int64(r.loaders()) - 1) / int64(r.loaders())
}

func (r *run) load() workload.Step {
	batch := r.p.Int("load_batch")
	s := workload.Step{
		Name: "load", Creates: true, Primary: opInsert, WritesPer: opInsert, Access: workload.WriteAccess,
		Doc: "How fast are rows appended in the order of the key, without a secondary index?",
	}
	batches := (r.size + batch - 1) / batch
	s.Groups = []workload.Group{{Name: "load", Clients: r.loaders(), Work: batches * r.perLoader(), RowsPerOp: batch, Ops: []workload.OpKind{{Name: opInsert, Unit: "row"}}}}
	s.Open = r.openLoad
	return s
}

func (r *run) index() workload.Step {
	s := workload.Step{
		Name: "index", Primary: opIndex, WritesPer: opIndex,
		Doc: "How fast is the secondary index on k built on the loaded tables?",
	}
	s.Groups = []workload.Group{{Name: "index", Clients: r.loaders(), Work: r.perLoader(), RowsPerOp: r.size, Ops: []workload.OpKind{{Name: opIndex, Unit: "row"}}}}
	s.Open = r.openIndex
	return s
}

func (r *run) settle(name string) workload.Step {
	floor := r.p.Duration("settle_floor")
	if floor < 0 {
		floor = time.Duration(math.Round(min(60+float64(r.size)*float64(r.tables)/1e6, 1200))) * time.Second
	}
	return workload.Step{
		Name: name, Settle: &workload.Settle{Floor: floor},
		Doc: "The engine comes to rest: what it put off is done before the next steps.",
	}
}
