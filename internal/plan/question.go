package plan

import (
	"fmt"
	"slices"

	"rumbench/internal/hint"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

const questionHint = "as in question: {steps: [l.i1], metrics: [throughput, p99], worse_by: 5%}"

// question reads what the comparison of the targets is to answer.
func (b *binder) question(f fields, p *Plan) {
	n := f.value("question")
	if n == nil {
		return
	}
	of := b.fields(n, "question", questionKeys.names())
	if n.kind != mapping {
		return
	}
	q := &p.Question
	q.Steps = b.names(of, "steps", func(name string) (string, error) { return stepNamed(p, name) })
	q.Metrics = b.names(of, "metrics", Judged)
	questionKeys.bind(of, q)
	if why := q.Contradiction(); why != "" {
		b.at(of.of.key("equivalent_within"), why, "lower equivalent_within")
	}
	if !q.Declared() && len(of.of.entries) == 0 {
		b.at(n, "question asks nothing", questionHint)
	}
}

// names reads a name or a list of them.
func (d *document) names(f fields, key string, read func(string) (string, error)) (out []string) {
	n := f.value(key)
	if n == nil {
		return nil
	}
	items := []*node{n}
	if n.kind == list {
		if items = n.items; len(items) == 0 {
			d.at(n, key+" is empty", questionHint)
		}
	}
	for _, item := range items {
		if !d.is(item, scalar, key+" is a name or a list of names", questionHint) || item.kind == broken {
			continue
		}
		name, err := read(item.text)
		switch {
		case err != nil:
			d.at(item, key+": "+err.Error(), hint.Of(err))
		case slices.Contains(out, name):
			d.at(item, fmt.Sprintf("%s: %s is given twice", key, item.text), "remove one")
		default:
			out = append(out, name)
		}
	}
	return out
}

// stepNamed returns a step that can be judged.
func stepNamed(p *Plan, name string) (string, error) {
	if p.Run == nil {
		return name, nil // that is reported already
	}
	var names []string
	for _, s := range p.Steps() {
		if s.Settle == nil && !s.Warmup {
			names = append(names, s.Name)
		}
	}
	if !slices.Contains(names, name) {
		return "", hint.Errorf(hint.OneOf(name, names), "there is no step %q to judge", name)
	}
	return name, nil
}

// Judged returns the metric that is judged under a name that a user may write for it. Of a
// latency it is that of the response times; where there are none, service times stand in.
func Judged(name string) (string, error) {
	names, err := metric.Named(name)
	if err != nil {
		return "", err
	}
	m := metric.ByName(names[0])
	switch {
	case m.Better != "":
		return m.Name, nil
	case m.JudgedBy != "":
		return "", hint.Errorf("write "+m.JudgedBy, "%s is shown and never judged", m.Name)
	}
	return "", hint.Errorf("rumbench list metrics names the direction of each", "neither direction of %s is better", m.Name)
}

// judgedShape accepts the names of metrics that can be judged.
func judgedShape() schema {
	var choices []schema
	for _, m := range metric.All() {
		if _, err := Judged(m.Name); err == nil {
			choices = append(choices, schema{"const": m.Name, "description": m.Meaning()})
		}
	}
	for _, nick := range metric.Nicknames() {
		if m, err := Judged(nick.Name); err == nil {
			choices = append(choices, schema{"const": nick.Name, "description": metric.ByName(m).Meaning()})
		}
	}
	return schema{"anyOf": choices}
}

// difference reads a difference that matters, as a share.
var difference = scalarOf[float64]{readDifference, shareShape(schema{"exclusiveMinimum": 0, "exclusiveMaximum": 1})}

func readDifference(n *node) (float64, error) {
	v, err := share(0).read(n)
	if v, ok := number(n); ok && v > 1 && v < 100 {
		return 0, hint.Errorf("write "+n.text+"%, if percent are meant", "%q is not a share below 1", n.text)
	}
	if err == nil && !result.ValidDifference(v) {
		err = hint.Errorf("a share such as 5%", "%q is not a difference above 0 and below 100%%", n.text)
	}
	return v, err
}
