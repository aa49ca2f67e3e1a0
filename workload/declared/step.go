package declared

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"rumbench/internal/form"
	"rumbench/internal/gen"
	"rumbench/internal/hint"
	"rumbench/internal/pace"
	"rumbench/model"
	"rumbench/workload"
)

// step is a step of a file. It has many fields: most are of one kind of steps.
type step struct {
	workload.Step
	kind    string
	table   *tableDef // of a load, or of an index
	rows    int64     // of a load
	batch   int64
	first   bool     // the table is loaded for the first time
	clears  bool     // its rows are removed before
	indexes []string // that are built
	groups  []*group
	changes []*tableDef // of which rows are inserted or deleted
	// atOnce are the indexes that exist from the beginning, and built those at the end
	// of the step, by table.
	atOnce, built map[*tableDef][]string
}

// group is a group of clients.
type group struct {
	name  string
	ops   []string
	mix   *gen.Alias // nil: they are done in turn
	retry workload.Retry
}

// surveyLoads finds out how many rows the loads insert into each table: distributions
// depend on it.
func (c *compiler) surveyLoads(n *form.Node) {
	if n == nil {
		return
	}
	for _, s := range n.Items {
		t, rows := c.table(word(s.Get(stepLoad))), s.Get("rows")
		if t == nil || rows == nil {
			continue
		}
		k, _ := c.whole(rows, "rows", 0)
		if clears := s.Get("clear"); clears != nil && clears.Value == true {
			t.loaded = 0
		}
		t.loaded += k
	}
}

// surveyOperations finds out which tables lose rows, and of which it is not known how
// many rows they have.
func (c *compiler) surveyOperations(n *form.Node) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		do := e.Value
		if do.Kind == form.Mapping {
			do = do.Get("do")
		}
		if do == nil {
			continue
		}
		for _, s := range do.Items {
			if t := c.table(word(s.Get(sDelete))); t != nil {
				t.deletes = true
			}
			if t := c.table(word(s.Get(sInsert))); t != nil && t.keysGiven(s.Get("set")) {
				t.inexact = true
			}
		}
	}
}

// keysGiven reports whether a set names a column of the key.
func (t *tableDef) keysGiven(set *form.Node) bool {
	return set != nil && slices.ContainsFunc(t.Key, func(k string) bool { return set.Get(k) != nil })
}

// readSteps reads the steps. The first one that does something creates the tables.
func (c *compiler) readSteps(n *form.Node, ops []*operation) (steps []*step) {
	if n == nil || !c.Is(n, form.List, "steps is a list", "as in [{load: queue, rows: 100k}, {run: work, seconds: 60, …}]") {
		return nil
	}
	atOnce := map[*tableDef][]string{}
	for _, t := range c.tables {
		atOnce[t] = t.atOnce(n)
	}
	b := &stepReader{compiler: c, ops: ops, built: maps.Clone(atOnce), loaded: map[*tableDef]bool{}}
	for _, item := range n.Items {
		if s := b.step(item); s != nil {
			b.steps = append(b.steps, s)
		}
	}
	if len(c.Problems) > 0 {
		return nil
	}
	i := slices.IndexFunc(b.steps, func(s *step) bool { return s.Settle == nil })
	if i < 0 {
		c.At(n, "the steps do nothing", "add {load: TABLE, rows: 100k} or {run: NAME, …}")
		return nil
	}
	b.steps[i].Creates, b.steps[i].atOnce = true, atOnce
	b.judge()
	return b.steps
}

// atOnce returns the indexes that exist from the beginning: those that no step builds.
func (t *tableDef) atOnce(steps *form.Node) (names []string) {
	for _, ix := range t.Indexes {
		later := slices.ContainsFunc(steps.Items, func(s *form.Node) bool {
			only := s.Get("indexes")
			return word(s.Get(stepIndex)) == t.Name && (only == nil || word(only) == ix.Name ||
				slices.ContainsFunc(only.Items, func(n *form.Node) bool { return n.Text == ix.Name }))
		})
		if !later {
			names = append(names, ix.Name)
		}
	}
	return names
}

// stepReader reads steps one after the other.
type stepReader struct {
	*compiler
	ops    []*operation
	steps  []*step
	built  map[*tableDef][]string // so far
	loaded map[*tableDef]bool     // so far
}

func (b *stepReader) step(n *form.Node) *step {
	s := &step{batch: 1}
	if n.Kind == form.Scalar && n.Text == stepSettle {
		s.kind = stepSettle
		s.Settle = workload.NewSettle(-1, b.rows())
		s.Name, s.Doc = b.unique(stepSettle), "The engine comes to rest: deferred work is done."
		return s
	}
	if !b.Is(n, form.Mapping, "a step is a map, or settle", "as in {load: TABLE, rows: 100k}") {
		return nil
	}
	for _, k := range stepNames {
		if n.Get(k) != nil {
			s.kind = k
			break
		}
	}
	if s.kind == "" {
		b.At(n, "the step does nothing", "it has one of the keys load, index, settle and run")
		return nil
	}
	before := len(b.Problems)
	f := b.Fields(n, "a step: "+s.kind, stepKinds[s.kind].Names())
	map[string]func(*step, form.Fields){stepLoad: b.load, stepIndex: b.index, stepSettle: b.settle, stepRun: b.run}[s.kind](s, f)
	form.Bind(f, "doc", form.Prose, func(v string) { s.Doc = v })
	if len(b.Problems) > before || s.kind == stepLoad && s.rows == 0 || s.kind == stepRun && s.Seconds == 0 && s.Groups[0].Work == 0 {
		return nil
	}
	s.built = maps.Clone(b.built)
	return s
}

// rows returns how many rows the loads insert.
func (b *stepReader) rows() (n int64) {
	for _, t := range b.tables {
		n += t.loaded
	}
	return n
}

// unique returns a name that no step has.
func (b *stepReader) unique(name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(b.steps, func(s *step) bool { return s.Name == name })
	}
	for i := 2; taken(name); i++ {
		if !taken(fmt.Sprintf("%s-%d", name, i)) {
			return fmt.Sprintf("%s-%d", name, i)
		}
	}
	return name
}

func (b *stepReader) load(s *step, f form.Fields) {
	s.table = b.tableOf(f.Value(stepLoad))
	if s.table == nil {
		return
	}
	clients := int64(1)
	s.batch = 100
	if n := f.Value("rows"); n == nil {
		b.At(f.Of, "the load has no rows", "how many, as in {load: "+s.table.Name+", rows: 100k}")
	} else {
		s.rows, _ = b.whole(n, "rows", 0)
	}
	if n := f.Value("clients"); n != nil {
		clients, _ = b.whole(n, "clients", 1)
	}
	if n := f.Value("batch"); n != nil {
		s.batch, _ = b.whole(n, "batch", 1)
	}
	form.Bind(f, "clear", form.Boolean, func(v bool) { s.clears = v })
	s.first = !b.loaded[s.table]
	b.loaded[s.table] = b.loaded[s.table] || s.rows > 0
	b.name(s, f)
	s.batch = max(1, min(s.batch, s.rows))
	s.Doc = fmt.Sprintf("How fast are %d rows inserted into table %s?", s.rows, s.table.Name)
	s.Access = workload.WriteAccess
	s.Primary, s.WritesPer = sInsert, sInsert
	batches := (s.rows + s.batch - 1) / s.batch
	s.Groups = []workload.Group{{
		Name: stepLoad, Clients: int(clients), Work: (batches + clients - 1) / clients, RowsPerOp: s.batch,
		Ops: []workload.OpKind{{Name: sInsert, Unit: "row"}},
	}}
}

// name names a step after its kind, and its table if there are several.
func (b *stepReader) name(s *step, f form.Fields) {
	s.Name = s.kind
	if len(b.tables) > 1 {
		s.Name += "-" + s.table.Name
	}
	s.Name = b.unique(s.Name)
	form.Bind(f, "name", form.OneLine, func(v string) { s.Name = v })
	if s.Name != b.unique(s.Name) {
		b.At(f.Of.Get("name"), fmt.Sprintf("there is a step %q already", s.Name), "")
	}
}

func (b *stepReader) index(s *step, f form.Fields) {
	s.table = b.tableOf(f.Value(stepIndex))
	if s.table == nil {
		return
	}
	var known []string
	for _, ix := range s.table.Indexes {
		known = append(known, ix.Name)
	}
	s.indexes = f.Words("indexes", "names of indexes", func(name string) (string, error) {
		if !slices.Contains(known, name) {
			return "", hint.Errorf(hint.OneOf(name, known), "table %s has no index %q", s.table.Name, name)
		}
		return name, nil
	})
	if f.Of.Get("indexes") == nil {
		s.indexes = known
	}
	s.indexes = slices.DeleteFunc(slices.Clone(s.indexes), func(name string) bool { return slices.Contains(b.built[s.table], name) })
	if len(s.indexes) == 0 {
		b.At(f.Of, "the step builds no index: table "+s.table.Name+" has none that is not built already", "")
	}
	b.built[s.table] = append(slices.Clone(b.built[s.table]), s.indexes...)
	b.name(s, f)
	s.Doc = fmt.Sprintf("How long does it take to build indexes on a table, and what does it cost per row of table %s?", s.table.Name)
	s.Primary, s.WritesPer, s.Whole, s.Access = stepIndex, stepIndex, true, workload.WriteAccess
	s.Groups = []workload.Group{{Name: stepIndex, Clients: 1, Work: 1, Ops: []workload.OpKind{{Name: stepIndex, Unit: "row"}}}}
	s.groups = []*group{{}}
	if n := f.Value("groups"); n != nil && b.Is(n, form.Mapping, "groups is a map of groups by name", "as in {readers: {clients: 2, do: OPERATION}}") {
		for _, e := range n.Entries {
			b.group(s, e, false)
		}
	}
	for _, t := range s.changes {
		b.At(f.Of, "table "+t.Name+" changes while the index is built", "only reads are possible meanwhile")
	}
}

func (b *stepReader) settle(s *step, f form.Fields) {
	floor := time.Duration(-1)
	if n := f.Value(stepSettle); !n.IsNull() {
		seconds, _ := b.number(n, "settle", 0)
		floor = time.Duration(seconds * float64(time.Second))
	}
	s.Settle = workload.NewSettle(floor, b.rows())
	s.Name, s.Doc = b.unique(stepSettle), "The engine comes to rest: deferred work is done."
}

func (b *stepReader) run(s *step, f form.Fields) {
	form.Bind(f, stepRun, form.OneLine, func(v string) { s.Name = v })
	if s.Name != b.unique(s.Name) {
		b.At(f.Of.Get(stepRun), fmt.Sprintf("there is a step %q already", s.Name), "")
	}
	s.Doc = "How many operations are done, how fast, and at what cost?"
	form.Bind(f, "warmup", form.Boolean, func(v bool) { s.Warmup = v })
	if n := f.Value("seconds"); n != nil {
		s.Seconds, _ = b.number(n, "seconds", 0)
	}
	s.Judged = f.Words("judged", "names of metrics, see rumbench list metrics", nil)
	n := f.Value("groups")
	if n == nil {
		b.At(f.Of, "the run has no groups", "as in {groups: {all: {clients: 4, do: OPERATION}}}")
		return
	}
	if !b.Is(n, form.Mapping, "groups is a map of groups by name", "as in {all: {clients: 4, do: OPERATION}}") {
		return
	}
	for i, e := range n.Entries {
		b.group(s, e, i == 0)
	}
	if f.Of.Get("seconds") == nil && len(s.Groups) > 0 && s.Groups[0].Work == 0 {
		b.At(f.Of, "the run never ends", "give it seconds, or its first group operations")
	}
}

func (b *stepReader) group(s *step, e form.Entry, first bool) {
	f := b.Fields(e.Value, "group "+e.Key.Text, groupKeys.Names())
	g := &group{name: e.Key.Text}
	w := workload.Group{Name: g.name, Clients: 1, RowsPerOp: 1, Pace: pace.Even}
	if n := f.Value("clients"); n != nil {
		clients, _ := b.whole(n, "clients", 1)
		w.Clients = int(clients)
	}
	ops := b.groupOps(g, f)
	of := "operation"
	switch {
	case !first:
		of = g.name
	case len(ops) == 1:
		of = ops[0].name
	}
	if first {
		s.Primary, s.WritesPer, s.Access = of, of, access(ops)
	}
	for _, o := range ops {
		w.Ops = append(w.Ops, o.kind(of))
		for _, st := range o.statements {
			b.indexed(s, st)
			if st.kind != sGet && st.kind != sScan && !slices.Contains(s.changes, st.table) {
				s.changes = append(s.changes, st.table)
			}
		}
	}
	if n := f.Value("operations"); n != nil {
		total, _ := b.whole(n, "operations", 1)
		w.Work = max(1, total/int64(w.Clients))
	}
	form.Bind(f, "pace", form.OneOf(string(pace.Even), string(pace.Poisson)), func(v string) { w.Pace = pace.Kind(v) })
	b.rate(&w, s, f)
	form.Bind(f, "retry", form.OneOf(string(workload.RetrySame), string(workload.RetryNew), string(workload.RetryNone)), func(v string) {
		w.Retry.Policy = workload.RetryPolicy(v)
	})
	g.retry = w.Retry
	s.Groups, s.groups = append(s.Groups, w), append(s.groups, g)
}

// indexed refuses a statement that reads an index before it is built.
func (b *stepReader) indexed(s *step, st *statement) {
	name := st.variants[0].op.Index
	if name != "" && !slices.Contains(b.built[st.table], name) {
		b.At(st.at, fmt.Sprintf("index %s is built after step %s", name, s.Name), "move the step {index: "+st.table.Name+"} before it")
	}
}

// groupOps reads which operations a group does.
func (b *stepReader) groupOps(g *group, f form.Fields) (ops []*operation) {
	do, mix, sequence := f.Value("do"), f.Value("mix"), f.Value("sequence")
	var nodes []*form.Node
	switch {
	case do != nil && mix == nil && sequence == nil:
		nodes = []*form.Node{do}
	case mix != nil && do == nil && sequence == nil:
		nodes = b.mix(g, mix)
	case sequence != nil && do == nil && mix == nil:
		if nodes = sequence.Items; len(nodes) == 0 {
			b.At(sequence, "sequence is a list of operations", "")
		}
	default:
		b.At(f.Of, fmt.Sprintf("group %s needs one of do, mix and sequence", g.name), "as in {do: OPERATION} or {mix: {A: 50, B: 50}}")
	}
	for _, n := range nodes {
		i := slices.IndexFunc(b.ops, func(o *operation) bool { return o.name == n.Text })
		if i < 0 {
			var known []string
			for _, o := range b.ops {
				known = append(known, o.name)
			}
			b.At(n, fmt.Sprintf("there is no operation %q", n.Text), hint.OneOf(n.Text, known))
			continue
		}
		g.ops = append(g.ops, n.Text)
		ops = append(ops, b.ops[i])
	}
	return ops
}

// mix reads the shares of operations. Those of which it is 0 are left out.
func (b *stepReader) mix(g *group, n *form.Node) (nodes []*form.Node) {
	if !b.Is(n, form.Mapping, "mix is a map of operations to shares", "as in {put: 50, take: 50}") {
		return nil
	}
	var weights []float64
	for _, e := range n.Entries {
		if w, ok := b.number(e.Value, "the share of "+e.Key.Text, 0); ok && w > 0 {
			nodes, weights = append(nodes, e.Key), append(weights, w)
		}
	}
	if len(weights) == 0 {
		b.At(n, "no share is positive", "")
		return nil
	}
	g.mix = gen.NewAlias(weights)
	return nodes
}

// rate reads a constant rate, or a curve, which is an open system.
func (b *stepReader) rate(w *workload.Group, s *step, f form.Fields) {
	n := f.Value("rate")
	if n == nil {
		return
	}
	if n.Kind != form.Mapping || n.Get("mean") == nil {
		rate, _ := b.number(n, "rate", 0)
		w.Rate = rate / float64(w.Clients)
		return
	}
	r := b.Fields(n, "rate", rateKeys.Names())
	values := map[string]float64{}
	for _, key := range rateKeys.Names() {
		v := r.Value(key)
		if v == nil {
			b.At(n, "the rate has no "+key, "as in {mean: 4500, amplitude: 1000, period: 60}")
			return
		}
		values[key], _ = b.number(v, key, 0)
	}
	switch mean, amplitude, period := values["mean"], values["amplitude"], values["period"]; {
	case amplitude > mean:
		b.At(n, fmt.Sprintf("the rate would fall below 0: its amplitude is %v, and its mean %v", amplitude, mean), "")
	case mean == 0: // as fast as they can
	case period < 1:
		b.At(n, "the period is at least a second", "")
	case s.Seconds == 0 || w.Work > 0:
		b.At(n, "a curve of rates needs a run that is limited by seconds", "")
	default:
		w.Arrivals = &pace.Arrivals{Kind: w.Pace, Segments: wave(mean, amplitude, period, s.Seconds)}
	}
}

// wave returns mean + amplitude·sin(2πt/period), in straight pieces whose ends are on
// the curve: 48 in a period, as many as half hours in a day. Pieces lie within the
// curve, so each is stretched to the curve's own area.
func wave(mean, amplitude, period, seconds float64) (out []pace.Segment) {
	const pieces = 48
	length := period / pieces
	at := func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / pieces) }
	stretch := math.Pi / pieces / math.Tan(math.Pi/pieces) // of a chord's area to its arc's
	for i := range int(math.Ceil(seconds/length)) + 1 {
		out = append(out, pace.Segment{Seconds: length, From: max(0, mean+amplitude/stretch*at(i)), To: max(0, mean+amplitude/stretch*at(i+1))})
	}
	return out
}

// judge chooses what runs are compared by where the file does not say so.
func (b *stepReader) judge() {
	var runs []*step
	for _, s := range b.steps {
		if s.kind == stepRun && !s.Warmup {
			runs = append(runs, s)
		}
	}
	if len(runs) == 0 {
		for _, s := range b.steps {
			if s.Settle == nil && !s.Warmup {
				runs = append(runs, s)
			}
		}
	}
	for _, s := range runs {
		switch {
		case len(s.Judged) > 0:
		case len(runs) == 1:
			s.Judged = []string{"rows_per_s", "service_p99_us", "cpu_us", "write_kb", "space_amplification"}
		default:
			s.Judged = []string{"rows_per_s"}
		}
	}
}

// open sets how the steps are opened.
func (r *run) openers(steps []*step) {
	for _, s := range steps {
		if s.Settle == nil {
			s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) { return r.open(ctx, s, env) }
		}
		r.steps = append(r.steps, s.Step)
	}
}

// entryBytes returns the mean bytes of the index entries that a statement writes per
// row.
func (s *stage) entryBytes(t *tableDef, op *model.Op) (sum int64) {
	for i := range t.Indexes {
		ix := &t.Indexes[i]
		changed := op.Kind == model.Insert || slices.ContainsFunc(op.Set, func(a model.Assign) bool {
			return slices.Contains(ix.Columns, a.Column) || slices.Contains(ix.Include, a.Column)
		})
		if changed && slices.Contains(s.of.built[t], ix.Name) {
			sum += int64(t.entryBytes(ix))
		}
	}
	return sum
}
