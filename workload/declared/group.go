package declared

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/pace"
)

func (b *stepReader) group(s *step, e strictyaml.Entry, first bool) {
	f := b.Fields(e.Value, "group "+e.Key.Text, groupKeys.Names())
	if e.Value.Kind != strictyaml.Mapping && !e.Value.IsNull() {
		return // already reported
	}
	g := &group{name: e.Key.Text}
	w := workload.Group{Name: g.name, Clients: int(max(1, b.wholeOf(f, "clients", 1, mostClients, 1))), RowsPerOp: 1,
		Pace: pace.Even, Retry: workload.Retry{Policy: workload.RetrySame}}
	ops := g.once(b.groupOps(g, f))
	name := "operation"
	switch {
	case len(ops) == 1 && (first || ops[0].name != s.Primary): // else it would count as the step's
		name = ops[0].name
	case !first:
		name = g.name
	}
	if first {
		s.Primary, s.WritesPer, s.Access = name, name, access(ops)
	}
	for _, o := range ops {
		w.Ops = append(w.Ops, o.kind(name))
		for _, st := range o.statements {
			if st.kind == sOwn {
				s.Unsized = s.Unsized || !st.reads()
				s.otherTables = s.otherTables || !st.reads() && st.writesOtherTables(b.tables)
				continue
			}
			b.indexed(s, st)
			s.touches[st.table] = append(s.touches[st.table], touch{len(s.groups), w.Clients, st})
		}
	}
	for i := range w.Ops {
		w.Ops[i].Share = g.share(i)
	}
	if n := f.Value("operations"); n != nil {
		total, ok := b.whole(n, "operations", 1, manyRows)
		clients := int64(w.Clients)
		w.Work = max(1, (total+clients-1)/clients)
		if all := w.Work * clients; ok && total != all {
			b.At(n, fmt.Sprintf("operations is %d, which %d clients cannot share equally", total, clients),
				fmt.Sprintf("as in operations: %d", all))
		}
	}
	strictyaml.Bind(f, "pace", strictyaml.OneOf(string(pace.Even), string(pace.Poisson)),
		func(v string) { w.Pace = pace.Kind(v) })
	b.rate(&w, s, f)
	strictyaml.Bind(f, "retry", strictyaml.OneOf(string(workload.RetrySame), string(workload.RetryNew),
		string(workload.RetryNone)), func(v string) {
		w.Retry.Policy = workload.RetryPolicy(v)
	})
	g.retry = w.Retry
	s.Groups, s.groups = append(s.Groups, w), append(s.groups, g)
}

// indexed refuses a statement that reads an index before the index is built.
func (b *stepReader) indexed(s *step, st *statement) {
	name := st.variants[0].op.Index
	if name != "" && !slices.Contains(b.built[st.table], name) {
		b.At(st.at, fmt.Sprintf("index %s is built after step %s", name, s.Name),
			"move the step {index: "+st.table.Name+"} before it")
	}
}

// groupOps reads which operations a group does.
func (b *stepReader) groupOps(g *group, f strictyaml.Fields) (ops []*operation) {
	do, mix, sequence := f.Value("do"), f.Value("mix"), f.Value("sequence")
	var nodes []*strictyaml.Node
	switch {
	case do != nil && do.Kind != strictyaml.Scalar:
		b.At(do, "do is the name of one operation", "of several, mix has the shares, and sequence the order")
	case do != nil && mix == nil && sequence == nil:
		nodes = []*strictyaml.Node{do}
	case mix != nil && do == nil && sequence == nil:
		nodes = b.mix(g, mix)
	case sequence != nil && do == nil && mix == nil:
		if nodes = sequence.Items; len(nodes) == 0 {
			b.At(sequence, "sequence is a list of operations", "")
		}
	default:
		b.At(f.Of, fmt.Sprintf("group %s needs one of do, mix and sequence", g.name),
			"as in {do: OPERATION} or {mix: {A: 50, B: 50}}")
	}
	for _, n := range nodes {
		o := b.operationOf(n)
		if o == nil {
			continue
		}
		if g.ops = append(g.ops, n.Text); !o.wrong {
			ops = append(ops, o)
		}
	}
	return ops
}

// operationOf returns the operation that a group names; nil: there is none.
func (b *stepReader) operationOf(n *strictyaml.Node) *operation {
	var known []string
	for _, o := range b.ops {
		if o.name == n.Text {
			b.use("operations", o.name)
			return o
		}
		known = append(known, o.name)
	}
	b.At(n, fmt.Sprintf("there is no operation %q", n.Text), hint.OneOf(n.Text, known))
	return nil
}

// mix reads the shares of operations. Operations with share 0 are left out.
func (b *stepReader) mix(g *group, n *strictyaml.Node) (nodes []*strictyaml.Node) {
	if !b.Is(n, strictyaml.Mapping, "mix is a map of operations to shares", "as in {put: 50, take: 50}") {
		return nil
	}
	var weights []float64
	previous := len(b.Problems)
	for _, e := range n.Entries {
		if w, ok := b.share(e.Value, "the share of "+e.Key.Text, 0); ok && w > 0 {
			nodes, weights = append(nodes, e.Key), append(weights, w)
		} else if ok {
			b.operationOf(e.Key)
		}
	}
	if len(weights) == 0 && len(b.Problems) == previous {
		b.At(n, "no share is positive", "")
	}
	if len(weights) == 0 {
		return nil
	}
	g.mix = gen.NewAlias(weights)
	return nodes
}

// rate reads a constant rate, or a curve, which makes an open system.
func (b *stepReader) rate(w *workload.Group, s *step, f strictyaml.Fields) {
	n := f.Value("rate")
	if n == nil {
		return
	}
	if n.Kind != strictyaml.Mapping ||
		!slices.ContainsFunc(n.Entries,
			func(e strictyaml.Entry) bool { return slices.Contains(rateKeys.Names(), e.Key.Text) }) {
		rate, _ := b.perSecond(n, "rate", 0)
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
		if key == "period" {
			values[key], _ = b.seconds(v, key, 0)
		} else {
			values[key], _ = b.perSecond(v, key, 0)
		}
	}
	switch mean, amplitude, period := values["mean"], values["amplitude"], values["period"]; {
	case amplitude > mean:
		b.At(n, fmt.Sprintf("the rate would fall below 0: its amplitude is %v, and its mean %v", amplitude, mean), "")
	case mean == 0: // as fast as they can
	case period < 1:
		b.At(n, "the period is at least a second", "")
	case s.Seconds == 0 || w.Work > 0:
		b.At(n, "a curve of rates needs a run that is limited by seconds", "")
	case s.Seconds/period > mostPeriods:
		b.At(n, fmt.Sprintf("the run has %.0f periods, and at most %d are possible", s.Seconds/period, mostPeriods),
			"make the period longer")
	default:
		w.Arrivals = &pace.Arrivals{Kind: w.Pace, Segments: wave(mean, amplitude, period, s.Seconds)}
	}
}

// mostPeriods limits the periods of a run: 10,000 days are 27 years.
const mostPeriods = 10_000

// wave returns mean + amplitude·sin(2πt/period), in straight pieces whose ends are on the
// curve: 48 in a period, one for each half hour of a day. Pieces lie within the curve, so
// each is stretched to the area of the curve.
func wave(mean, amplitude, period, seconds float64) (out []pace.Segment) {
	const pieces = 48
	length := period / pieces
	at := func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / pieces) }
	stretch := math.Pi / pieces / math.Tan(math.Pi/pieces) // of a chord's area to its arc's
	for i := range int(math.Ceil(seconds/length)) + 1 {
		out = append(out, pace.Segment{Seconds: length, From: max(0, mean+amplitude/stretch*at(i)),
			To: max(0, mean+amplitude/stretch*at(i+1))})
	}
	return out
}

// stepReader reads steps one after the other.
type stepReader struct {
	*compiler
	ops    []*operation
	steps  []*step
	built  map[*tableDef][]string // so far
	loaded map[*tableDef]bool     // so far
}
