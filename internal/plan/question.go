package plan

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
)

const questionHint = "as in question: {steps: [l.i1], metrics: [throughput, p99], worse_by: 5%}"

// question reads the question that the comparison of the targets is to answer.
func (b *binder) question(f strictyaml.Fields, p *Plan) {
	q := &p.Question
	fields, ok := section(f, "question", questionKeys, q)
	if !ok {
		return
	}
	q.Steps = fields.Words("steps", questionHint, func(name string) (string, error) { return stepNamed(p, name) })
	q.Metrics = fields.Words("metrics", questionHint, metric.JudgedAs)
	if reason := q.Contradiction(); reason != "" {
		b.At(fields.Of.Key("equivalent_within"), reason, "lower equivalent_within")
	}
	if !q.Declared() && len(fields.Of.Entries) == 0 {
		b.At(fields.Of, "question asks nothing", questionHint)
	}
}

// stepNamed returns a step that can be judged.
func stepNamed(p *Plan, name string) (string, error) {
	if p.Run == nil {
		return name, nil // that is reported already
	}
	var names []string
	for _, s := range p.Steps() {
		if s.HasClients() && !s.Warmup {
			names = append(names, s.Name)
		}
	}
	if !slices.Contains(names, name) {
		return "", hint.Errorf(hint.OneOf(name, names), "there is no step %q to judge", name)
	}
	return name, nil
}

// judgedShape accepts the names of metrics that can be judged.
func judgedShape() strictyaml.Shape {
	var choices []strictyaml.Shape
	for _, m := range metric.All() {
		if _, err := metric.JudgedAs(m.Name); err == nil {
			choices = append(choices, strictyaml.Shape{"const": m.Name, "description": m.Meaning()})
		}
	}
	for _, nick := range metric.Nicknames() {
		if m, err := metric.JudgedAs(nick.Name); err == nil {
			choices = append(choices, strictyaml.Shape{"const": nick.Name, "description": metric.ByName(m).Meaning()})
		}
	}
	return strictyaml.Shape{"anyOf": choices}
}

// memory reads a size of memory, which is a page or more: 8 stands for 8 MiB or 8 GiB in other programs.
var memory = strictyaml.NewScalar(func(n *strictyaml.Node) (int64, error) {
	v, err := strictyaml.Size.Read(n)
	if err == nil && v < smallestMemory {
		err = hint.Errorf("write "+n.Text+"MiB or "+n.Text+"GiB, if that is meant", "%q is %d bytes of memory", n.Text, v)
	}
	return v, err
}, strictyaml.SizeShape.With("minimum", smallestMemory))

const smallestMemory = 4096

// difference reads a difference that matters, as a share.
var difference = strictyaml.NewScalar(readDifference,
	strictyaml.ShareShape(strictyaml.Shape{"exclusiveMinimum": 0, "exclusiveMaximum": 1}))

func readDifference(n *strictyaml.Node) (float64, error) {
	v, err := strictyaml.Share(0).Read(n)
	if v, ok := strictyaml.Number(n); ok && v > 1 && v < 100 {
		return 0, hint.Errorf("write "+n.Text+"%, if percent are meant", "%q is not a share below 1", n.Text)
	}
	if err == nil && !result.ValidDifference(v) {
		err = hint.Errorf("a share such as 5%", "%q is not a difference above 0 and below 100%%", n.Text)
	}
	return v, err
}
