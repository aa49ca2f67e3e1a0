package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/text/hint"
)

// Gate is a condition on a comparison, such as
//
//	ops_per_s < 0.95 && sure
//
// A metric's name, or a nickname such as p99, represents new ÷ base; low.METRIC and high.METRIC the
// bounds of its interval, base.METRIC and new.METRIC the two medians, and verdict.METRIC the
// verdict. Sure is true if the verdict of every metric of the condition is better or worse, and steady
// if none of its numbers depends on how long the step lasted. Step and op are where it is judged.
type Gate struct {
	text    string
	metrics []string            // that it names
	means   map[string][]string // the metrics of each name, see metric.Named
	judged  []string            // of these, the metrics whose verdicts it uses
	// literals are the steps and operation kinds that it compares with.
	literals []literal
	program  *vm.Program
}

// NewGate compiles a condition.
func NewGate(text string) (*Gate, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	g := &Gate{text: text}
	v := &namesOf{means: map[string][]string{}}
	ast.Walk(&tree.Node, v)
	if problem := v.problem(); problem != "" {
		return nil, fmt.Errorf("condition %q%s", text, problem)
	}
	g.metrics, g.means, g.judged, g.literals = v.metrics, v.means, v.asked(), v.literals
	g.program, err = expr.Compile(text, expr.Env(g.env("", "", nil)), expr.AsBool())
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	return g, nil
}

// Judged returns the metrics of the condition that have a verdict.
func (g *Gate) Judged() (out []string) {
	for _, name := range g.metrics {
		if m := metric.ByName(g.means[name][0]); m.Better != "" {
			out = AppendNew(out, m.Name)
		}
	}
	return out
}

// Metrics returns all metrics that the names in the condition may mean.
func (g *Gate) Metrics() (out []string) {
	for _, name := range g.metrics {
		out = AppendNew(out, g.means[name]...)
	}
	return out
}

// String returns the condition as given.
func (g *Gate) String() string { return g.text }

// words are the names that are not those of metrics.
var words = []string{"sure", "steady", "step", "op"}

// members are the properties of a metric in addition to its ratio.
var members = []string{"low", "high", "base", "new", "verdict"}

// literal is a text that step, op or a verdict is compared with.
type literal struct{ object, text string }

// namesOf collects the names that a condition uses.
type namesOf struct {
	metrics  []string
	means    map[string][]string
	unknown  error // of a name that is not a metric
	literals []literal
	verdict  string   // a text that is not a verdict
	sure     bool     // it uses the verdicts of all metrics
	verdicts []string // metrics whose verdicts it uses
}

// problem returns the problem with the names; "" if there is none.
func (v *namesOf) problem() string {
	switch {
	case v.unknown != nil:
		return fmt.Sprintf(": %v; %s", v.unknown, hint.Of(v.unknown))
	case v.verdict != "":
		return fmt.Sprintf(": %q is no verdict; better, worse, same, unclear and unstable are", v.verdict)
	case len(v.metrics) == 0:
		return " names no metric"
	}
	for _, name := range v.asked() { // a condition on a nonexistent verdict would never hold
		if m := metric.ByName(v.means[name][0]); m.Better == "" {
			problem := ": " + name + " is never judged, as neither direction of it is better: it has no verdict and is never " +
				"sure"
			if m.JudgedBy != "" {
				problem += "; " + m.JudgedBy + " is judged"
			}
			return problem
		}
	}
	return ""
}

// asked returns the metrics whose verdicts the condition uses.
func (v *namesOf) asked() []string {
	if v.sure {
		return v.metrics
	}
	return v.verdicts
}

// Visit is called with every node, the inner ones first.
func (v *namesOf) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		v.sure = v.sure || n.Value == "sure"
		if !slices.Contains(words, n.Value) && !slices.Contains(members, n.Value) {
			v.add(n.Value)
		}
	case *ast.BinaryNode:
		if n.Operator == "==" || n.Operator == "!=" {
			v.compared(n.Left, n.Right)
			v.compared(n.Right, n.Left)
		}
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			v.add(name.Value)
			if object, ok := n.Node.(*ast.IdentifierNode); ok && object.Value == "verdict" {
				v.verdicts = append(v.verdicts, name.Value)
			}
		}
	}
}

// compared records the operand that a name is compared with.
func (v *namesOf) compared(name, operand ast.Node) {
	text, ok := operand.(*ast.StringNode)
	if !ok {
		return
	}
	switch n := name.(type) {
	case *ast.IdentifierNode:
		if n.Value == "step" || n.Value == "op" {
			v.literals = append(v.literals, literal{n.Value, text.Value})
		}
	case *ast.MemberNode:
		if object, ok := n.Node.(*ast.IdentifierNode); ok && object.Value == "verdict" &&
			!slices.Contains(Verdicts, Verdict(text.Value)) {
			v.verdict = text.Value
		}
	}
}

func (v *namesOf) add(name string) {
	means, err := metric.Named(name)
	if err != nil {
		v.unknown = err
		return
	}
	v.metrics, v.means[name] = AppendNew(v.metrics, name), means
}

// Finding is a step and operation that satisfy a gate's condition.
type Finding struct {
	Step    *Step
	Op      string    // "" for the whole step
	Effects []*Effect // of the condition's metrics
}

// Findings is the result of a gate.
type Findings struct {
	True   []Finding // the steps and operations for which the condition holds
	Judged int       // the number of places that could be judged
	// Blind are the reasons why the condition could not be judged although the base has numbers. A
	// gate with any must not pass.
	Blind []string
}

// Find judges the condition for every number of the base with the first of its metrics, in the
// named steps, or in all if none are named.
func (g *Gate) Find(j *Judgement, steps []string) (Findings, error) {
	var out Findings
	for i := range j.Items {
		it := &j.Items[i]
		if !g.first(j, it) || !it.Base.known() || len(steps) > 0 && !slices.Contains(steps, it.Step.Name) {
			continue
		}
		effects, blind := g.effects(j, it)
		if blind != "" {
			out.Blind = AppendNew(out.Blind, it.Step.Name+": "+blind)
			continue
		}
		if effects == nil {
			continue // a metric that the step does not have
		}
		holds, err := expr.Run(g.program, g.env(it.Step.Name, it.New.Op, effects))
		if err != nil {
			return out, fmt.Errorf("condition %q in step %s: %w", g.text, it.Step.Name, err)
		}
		unproven := g.unproven(effects)
		switch {
		case holds.(bool):
			f := Finding{Step: it.Step, Op: it.New.Op}
			for _, m := range g.metrics {
				f.Effects = append(f.Effects, effects[m])
			}
			out.True = append(out.True, f)
		case unproven != "":
			out.Blind = AppendNew(out.Blind, it.Step.Name+": "+unproven)
			continue
		}
		out.Judged++
	}
	return out, nil
}

// unproven returns the reason if a condition on verdicts could not hold whatever the numbers are;
// "" if it could.
func (g *Gate) unproven(effects map[string]*Effect) string {
	for _, m := range g.judged {
		if few := effects[m].tooFew(); few != "" {
			return m + " cannot be judged: " + few
		}
	}
	return ""
}

// Check returns an error for steps and operation kinds that no judgement has: a condition
// on them would never hold.
func (g *Gate) Check(judgements ...*Judgement) error {
	for _, l := range g.literals {
		has := func(it Item) bool {
			return l.object == "step" && it.Step.Name == l.text || l.object == "op" &&
				(it.New.Op == l.text || it.Base.Op == l.text)
		}
		if !slices.ContainsFunc(judgements, func(j *Judgement) bool { return slices.ContainsFunc(j.Items, has) }) {
			return fmt.Errorf("condition %q: there is no %s %q", g.text, l.object, l.text)
		}
	}
	return nil
}

// effects returns the effects of the condition's metrics for the first one's
// item; nil if the step lacks one of them. blind is why one cannot be judged.
func (g *Gate) effects(j *Judgement, first *Item) (effects map[string]*Effect, blind string) {
	effects = map[string]*Effect{g.metrics[0]: &first.Effect}
	for _, m := range g.metrics[1:] {
		i := slices.IndexFunc(g.means[m], func(name string) bool {
			effects[m] = j.beside(first, name)
			return effects[m] != nil
		})
		if i < 0 {
			return nil, ""
		}
	}
	for _, m := range g.metrics {
		if e := effects[m]; e.Verdict == "" && e.Why != "" {
			return nil, m + " cannot be judged: " + e.Why
		}
	}
	return effects, ""
}

// first reports whether an item belongs to the condition's first metric: of the
// metrics that its name means, the first one present for the same step and
// operation kind.
func (g *Gate) first(j *Judgement, it *Item) bool {
	means := g.means[g.metrics[0]]
	rank := slices.Index(means, it.Metric())
	if rank <= 0 {
		return rank == 0
	}
	for i := range j.Items {
		o := &j.Items[i]
		if o.Step == it.Step && o.New.Op == it.New.Op && o.Base.known() && slices.Contains(means[:rank], o.Metric()) {
			return false
		}
	}
	return true
}

// beside returns a different metric's effect that matches an item: one with the
// same denominator and operation kind, or the same kind, or where one of the
// two belongs to the whole step; among equals the headline comes first.
func (j *Judgement) beside(first *Item, metric string) *Effect {
	var best *Effect
	rank := 0
	for i := range j.Items {
		it := &j.Items[i]
		if it.Step != first.Step || it.Metric() != metric || !it.Base.known() {
			continue
		}
		r := 1
		switch {
		case it.New.Op == first.New.Op && it.New.Per == first.New.Per:
			r = 3
		case it.New.Op == first.New.Op:
			r = 2
		case it.New.Op != "" && first.New.Op != "":
			continue
		}
		if r > rank {
			best, rank = &it.Effect, r
		}
	}
	return best
}

// env returns the variables of the condition.
func (g *Gate) env(step, op string, effects map[string]*Effect) map[string]any {
	env := map[string]any{"step": step, "op": op}
	numbers := map[string]map[string]float64{"low": {}, "high": {}, "base": {}, "new": {}}
	verdicts := map[string]string{}
	sure, steady := effects != nil, true
	for _, m := range g.metrics {
		e := effects[m]
		if e == nil {
			e = &Effect{Base: &Number{}, New: &Number{}} // for compiling
		}
		env[m] = e.gateRatio()
		numbers["low"][m], numbers["high"][m] = e.bounds()
		numbers["base"][m], numbers["new"][m] = e.Base.Value, e.New.Value
		verdicts[m] = string(e.Verdict)
		sure, steady = sure && e.Sure(), steady && e.Base.steady() && e.New.steady()
	}
	for name, values := range numbers {
		env[name] = values
	}
	env["verdict"], env["sure"] = verdicts, sure
	env["steady"] = steady
	return env
}

// steady reports whether no trial's number depends on how long the step lasted: its rate was on one level, of
// enough cycles of the engine, and not on credit.
func (n *Number) steady() bool {
	return !slices.ContainsFunc(n.Rows, func(r *metric.Row) bool {
		return metric.Has(r.Warnings, remark.NotSteady) || metric.Has(r.Warnings, remark.ShortCycle) ||
			metric.Has(r.Warnings, remark.OnCredit)
	})
}

// gateRatio returns the ratio for a condition: 0 ÷ 0 is 1, and anything else ÷
// 0 is infinite.
func (e *Effect) gateRatio() float64 {
	switch {
	case !math.IsNaN(e.Ratio):
		return e.Ratio
	case e.New.Value == e.Base.Value:
		return 1
	}
	return math.Copysign(math.Inf(1), e.New.Value-e.Base.Value)
}

// bounds returns the bounds of the ratio for a condition: unknown ones are 0
// and infinity.
func (e *Effect) bounds() (low, high float64) {
	low, high = e.Low, e.High
	if math.IsNaN(low) {
		low = 0
	}
	if math.IsNaN(high) {
		high = math.Inf(1)
	}
	return low, high
}
