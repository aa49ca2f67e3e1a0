package declared

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// readSteps reads the steps. The first step that does something creates the tables.
func (c *compiler) readSteps(n *strictyaml.Node, ops []*operation) (steps []*step) {
	if n == nil || !c.Is(n, strictyaml.List, "steps is a list",
		"as in [{load: queue, rows: 100k}, {run: work, seconds: 60, …}]") {
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
	i := slices.IndexFunc(b.steps, func(s *step) bool { return s.HasClients() })
	if i < 0 {
		c.At(n, "the steps do nothing", "add {load: TABLE, rows: 100k} or {run: NAME, …}")
		return nil
	}
	b.steps[i].Creates, b.steps[i].atOnce = true, atOnce
	b.judge()
	return b.steps
}

// atOnce returns the indexes that exist from the beginning: those that no step builds.
func (t *tableDef) atOnce(steps *strictyaml.Node) (names []string) {
	for _, ix := range t.Indexes {
		later := slices.ContainsFunc(steps.Items, func(s *strictyaml.Node) bool {
			only := s.Get("indexes")
			return word(s.Get(stepIndex)) == t.Name && (only == nil || word(only) == ix.Name ||
				slices.ContainsFunc(only.Items, func(n *strictyaml.Node) bool { return n.Text == ix.Name }))
		})
		if !later {
			names = append(names, ix.Name)
		}
	}
	return names
}

func (b *stepReader) step(n *strictyaml.Node) *step {
	if n.Kind == strictyaml.Scalar && n.Text == stepSettle {
		return &step{kind: stepSettle, batch: 1, Step: workload.SettleStep(b.unique(stepSettle), -1, b.rows(), "")}
	}
	if !b.Is(n, strictyaml.Mapping, "a step is a map, or settle", "as in {load: TABLE, rows: 100k}") {
		return nil
	}
	s := &step{batch: 1, touches: map[*tableDef][]touch{}}
	for _, k := range stepNames {
		if n.Get(k) != nil {
			s.kind = k
			break
		}
	}
	if s.kind == "" {
		b.At(n, "the step does nothing", "it has one of the keys "+quantity.Joined(stepNames))
		return nil
	}
	previous := len(b.Problems)
	f := b.Fields(n, "a "+s.kind+" step", stepKinds[s.kind].Names())
	map[string]func(*step, strictyaml.Fields){stepLoad: b.load, stepIndex: b.index, stepSettle: b.settle,
		stepRestart: b.restart, stepRun: b.run}[s.kind](s, f)
	strictyaml.Bind(f, "doc", strictyaml.Prose, func(v string) { s.Doc = v })
	if len(b.Problems) > previous || s.kind == stepLoad && s.rows == 0 || s.kind == stepRun && s.Seconds == 0 &&
		s.Groups[0].Work == 0 {
		return nil
	}
	s.built, s.Divides = maps.Clone(b.built), s.divides()
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

func (b *stepReader) load(s *step, f strictyaml.Fields) {
	if n := f.Value(stepLoad); n != nil {
		s.table = b.tableOf(n)
	}
	if s.table == nil {
		return
	}
	if n := f.Value("rows"); n == nil && f.Of.Get("rows") == nil {
		b.At(f.Of, "the load has no rows", "how many, as in {load: "+s.table.Name+", rows: 100k}")
	} else if n != nil {
		s.rows, _ = b.whole(n, "rows", 0, manyRows)
		s.rows = limited(s.rows, b.limit)
	}
	clients := max(1, b.wholeOf(f, "clients", 1, mostClients, 1))
	s.batch = b.wholeOf(f, "batch", 1, mostBatch, 100)
	strictyaml.Bind(f, "clear", strictyaml.Boolean, func(v bool) { s.clears = v })
	if s.clears && s.table.AutoColumn() >= 0 { // only some engines restart the numbering
		b.At(f.Of.Get("clear"), "the engine numbers the rows of table "+s.table.Name+
			", and where it begins after they are removed depends on the engine",
			"number them by a sequence instead of auto, or load the table once")
	}
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
func (b *stepReader) name(s *step, f strictyaml.Fields) {
	s.Name = s.kind
	if len(b.tables) > 1 {
		s.Name += "-" + s.table.Name
	}
	s.Name = b.unique(s.Name)
	strictyaml.Bind(f, "name", strictyaml.OneLine, func(v string) { s.Name = v })
	if s.Name != b.unique(s.Name) {
		b.At(f.Of.Get("name"), fmt.Sprintf("there is a step %q already", s.Name), "")
	}
}

func (b *stepReader) index(s *step, f strictyaml.Fields) {
	if n := f.Value(stepIndex); n != nil {
		s.table = b.tableOf(n)
	}
	if s.table == nil || s.table.wrong {
		return
	}
	previous := len(b.Problems)
	known := s.table.indexNames()
	s.indexes = f.Words("indexes", "names of indexes", func(name string) (string, error) {
		if !slices.Contains(known, name) {
			return "", hint.Errorf(hint.OneOf(name, known), "table %s has no index %q", s.table.Name, name)
		}
		return name, nil
	})
	if f.Of.Get("indexes") == nil {
		s.indexes = known
	}
	s.indexes = slices.DeleteFunc(slices.Clone(s.indexes),
		func(name string) bool { return slices.Contains(b.built[s.table], name) })
	if len(s.indexes) == 0 && len(b.Problems) == previous {
		b.At(f.Of, "the step builds no index: table "+s.table.Name+" has none that is not built already", "")
	}
	b.name(s, f)
	s.Doc = fmt.Sprintf("How long does it take to build indexes on a table, and what does it cost per row of table %s?",
		s.table.Name)
	s.Primary, s.WritesPer, s.Whole, s.Access = stepIndex, stepIndex, true, workload.WriteAccess
	s.Builds = len(s.indexes)
	s.Groups = []workload.Group{{Name: stepIndex, Clients: 1, Work: 1,
		Ops: []workload.OpKind{{Name: stepIndex, Unit: "row"}}}}
	s.groups = []*group{{}}
	for _, e := range entries(&b.Document, f.Value("groups"), "groups is a map of groups by name",
		"as in {readers: {clients: 2, do: OPERATION}}") {
		b.group(s, e, false)
	}
	b.built[s.table] = append(slices.Clone(b.built[s.table]), s.indexes...)
	for _, t := range b.tables {
		if s.changes(t) {
			b.At(f.Of, "table "+t.Name+" changes while the index is built", "only reads are possible then")
		}
	}
}

func (b *stepReader) settle(s *step, f strictyaml.Fields) {
	floor := time.Duration(-1)
	if n := f.Value(stepSettle); n != nil {
		seconds, _ := b.seconds(n, "settle", 0)
		floor = quantity.AsDuration(seconds)
	}
	s.Step = workload.SettleStep(b.unique(stepSettle), floor, b.rows(), "")
}

func (b *stepReader) restart(s *step, f strictyaml.Fields) {
	caches := workload.CachesDropped
	strictyaml.Bind(f, stepRestart, strictyaml.OneOf(workload.CachesDropped, workload.CachesKept),
		func(v workload.Caches) { caches = v })
	if len(b.steps) == 0 {
		b.At(f.Of, "the engine restarts before there is anything in it", "put the restart after a load")
	}
	s.Step = workload.RestartStep(b.unique(stepRestart), caches)
}

func (b *stepReader) run(s *step, f strictyaml.Fields) {
	strictyaml.Bind(f, stepRun, strictyaml.OneLine, func(v string) { s.Name = v })
	if s.Name != b.unique(s.Name) {
		b.At(f.Of.Get(stepRun), fmt.Sprintf("there is a step %q already", s.Name), "")
	}
	s.Doc = "How many operations are done, how fast, and at what cost?"
	strictyaml.Bind(f, "warmup", strictyaml.Boolean, func(v bool) { s.Warmup = v })
	if n := f.Value("seconds"); n != nil {
		s.Seconds, _ = b.seconds(n, "seconds", 0)
	}
	s.Judged = f.Words("judged", "names of metrics, see rumbench list metrics", metric.JudgedAs)
	const help = "{all: {clients: 4, do: OPERATION}}"
	switch n := f.Value("groups"); {
	case n == nil && f.Of.Get("groups") != nil:
		return // already reported
	case n == nil:
		b.At(f.Of, "the run has no groups", "as in {groups: "+help+"}")
		return
	case n.Kind == strictyaml.Mapping && len(n.Entries) == 0:
		b.At(n, "the run has no groups", "as in {groups: "+help+"}")
	default:
		for i, e := range entries(&b.Document, n, "groups is a map of groups by name", "as in "+help) {
			b.group(s, e, i == 0)
		}
	}
	if f.Of.Get("seconds") == nil && len(s.Groups) > 0 && s.Groups[0].Work == 0 {
		b.At(f.Of, "the run never ends", "give it seconds, or its first group operations")
	}
}

// judge chooses the metrics by which runs are compared, if the file names none.
func (b *stepReader) judge() {
	var runs []*step
	for _, s := range b.steps {
		if s.kind == stepRun && !s.Warmup {
			runs = append(runs, s)
		}
	}
	if len(runs) == 0 {
		for _, s := range b.steps {
			if s.HasClients() && !s.Warmup {
				runs = append(runs, s)
			}
		}
	}
	for _, s := range runs {
		switch {
		case len(s.Judged) > 0:
		case len(runs) == 1:
			s.Judged = []string{metric.RowsPerS, metric.ServiceP99US, metric.CPUUS, metric.WriteKB, metric.SpaceAmplification}
		default:
			s.Judged = []string{metric.RowsPerS}
		}
	}
}
