package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"rumbench/internal/result"
)

// Gate is a condition on a comparison, such as
//
//	ops_per_s < 0.95 && sure
//
// A metric's name stands for new ÷ base; low.METRIC and high.METRIC for the
// bounds of its interval, base.METRIC and new.METRIC for the two medians and
// verdict.METRIC for the verdict. Sure is true where the verdict of every metric
// of the condition is better or worse. Step and op tell where it is judged.
type Gate struct {
	text    string
	metrics []string // that it names
	program *vm.Program
}

// NewGate compiles a condition. The error says what is wrong with it.
func NewGate(text string) (*Gate, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	g := &Gate{text: text}
	v := &namesOf{}
	ast.Walk(&tree.Node, v)
	if v.unknown != "" {
		return nil, fmt.Errorf("condition %q: %q is no metric%s", text, v.unknown, similar(v.unknown))
	}
	if len(v.metrics) == 0 {
		return nil, fmt.Errorf("condition %q names no metric", text)
	}
	g.metrics = v.metrics
	g.program, err = expr.Compile(text, expr.Env(g.env("", "", nil)), expr.AsBool())
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	return g, nil
}

// String is the condition as given.
func (g *Gate) String() string { return g.text }

// members are what a metric can be asked for beside its ratio.
var members = []string{"low", "high", "base", "new", "verdict"}

// namesOf collects the metrics that a condition names.
type namesOf struct {
	metrics []string
	unknown string
}

// Visit is called with every node, the inner ones first.
func (v *namesOf) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value != "sure" && n.Value != "step" && n.Value != "op" && !slices.Contains(members, n.Value) {
			v.add(n.Value)
		}
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			v.add(name.Value)
		}
	}
}

func (v *namesOf) add(name string) {
	if result.MetricByName(name) == nil {
		v.unknown = name
	} else {
		v.metrics = appendNew(v.metrics, name)
	}
}

// similar hints at a metric with a part of the name in common.
func similar(name string) string {
	for _, m := range result.Metrics() {
		if strings.Contains(m.Name, name) || strings.Contains(name, m.Name) {
			return fmt.Sprintf("; is %s meant?", m.Name)
		}
	}
	return "; rumbench list metrics names them"
}

// Finding is a place of which a gate's condition is true.
type Finding struct {
	Step *Step
	Op   string // "" where it is about the whole step
	// Effects are those of the condition's metrics.
	Effects []*Effect
}

// Find returns where the condition is true, and in how many places it could be
// judged at all.
func (g *Gate) Find(j *Judgement) (found []Finding, judged int, err error) {
	for _, subject := range g.subjects(j) {
		effects := g.effects(j, subject)
		if effects == nil {
			continue
		}
		judged++
		out, err := expr.Run(g.program, g.env(subject.step.Name, subject.op, effects))
		if err != nil {
			return nil, judged, fmt.Errorf("condition %q in step %s: %w", g.text, subject.step.Name, err)
		}
		if out.(bool) {
			found = append(found, Finding{subject.step, subject.op, slices.Collect(g.inOrder(effects))})
		}
	}
	return found, judged, nil
}

// subject is what a condition is judged of: an operation kind of a step, or
// the whole step.
type subject struct {
	step *Step
	op   string
}

// subjects are the operation kinds of which the first metric is known; those of
// the whole step have none.
func (g *Gate) subjects(j *Judgement) []subject {
	var out []subject
	for i := range j.Items {
		if it := &j.Items[i]; it.Metric() == g.metrics[0] {
			if s := (subject{it.Step, it.New.Op}); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// effects are those of the condition's metrics for a subject; nil if one of
// them is not known or cannot be compared.
func (g *Gate) effects(j *Judgement, s subject) map[string]*Effect {
	out := map[string]*Effect{}
	for _, m := range g.metrics {
		e := j.of(s, m)
		if e == nil || e.Verdict == "" || math.IsNaN(e.Ratio) {
			return nil
		}
		out[m] = e
	}
	return out
}

// of is a metric's effect for a subject: of its operation kind, or of the step;
// in each the headline comes first.
func (j *Judgement) of(s subject, metric string) *Effect {
	var whole *Effect
	for i := range j.Items {
		it := &j.Items[i]
		switch {
		case it.Step != s.step || it.Metric() != metric:
		case it.New.Op == s.op:
			return &it.Effect
		case it.New.Op == "" && whole == nil:
			whole = &it.Effect
		}
	}
	return whole
}

// env is what the condition sees.
func (g *Gate) env(step, op string, effects map[string]*Effect) map[string]any {
	env := map[string]any{"step": step, "op": op}
	numbers := map[string]map[string]float64{"low": {}, "high": {}, "base": {}, "new": {}}
	verdicts := map[string]string{}
	sure := effects != nil
	for _, m := range g.metrics {
		e := effects[m]
		if e == nil {
			e = &Effect{} // to compile with
		}
		env[m] = e.Ratio
		numbers["low"][m], numbers["high"][m] = e.Low, e.High
		numbers["base"][m], numbers["new"][m] = e.Base.Value, e.New.Value
		verdicts[m] = string(e.Verdict)
		sure = sure && e.Sure()
	}
	for name, of := range numbers {
		env[name] = of
	}
	env["verdict"], env["sure"] = verdicts, sure
	return env
}

func (g *Gate) inOrder(effects map[string]*Effect) func(yield func(*Effect) bool) {
	return func(yield func(*Effect) bool) {
		for _, m := range g.metrics {
			if !yield(effects[m]) {
				return
			}
		}
	}
}
