package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/hint"
	"rumbench/internal/metric"
	"rumbench/internal/quantity"
	"rumbench/workload"
)

// Published is a set of figures published elsewhere. Reports show it beside what
// was measured; it is never part of a result.
type Published struct {
	Source   string // author, title, date, and where it can be read
	Hardware string // what it was measured on
	Note     string // such as corrections of units; may be empty
	Rows     []PublishedRow
}

// PublishedRow holds the figures of one configuration.
type PublishedRow struct {
	Name    string             // as published
	Like    string             // the target that corresponds to it; "" for none
	Step    string             // the step of the run that corresponds to it; "" for none
	Per     string             // what its costs are per: "insert row"; "" if not given
	Figures map[string]float64 // by metric, in the metric's unit
}

func figuresShape() schema {
	properties := schema{}
	for _, m := range metric.All() {
		properties[m.Name] = figure(&m).shape.with("description", m.Meaning())
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
}

// published reads the published figures.
func (b *binder) published(f fields, p *Plan) {
	for _, n := range f.list("published", "each entry on its own line, as - {source: TEXT, hardware: TEXT, rows: […]}") {
		entry, ok := b.record(n, "an entry of published", publishedKeys.names(), "source", "hardware", "rows")
		if !ok {
			continue
		}
		var e Published
		publishedKeys.bind(entry, &e)
		rows := entry.list("rows", "each row on its own line, as - {name: NAME, figures: {rows_per_s: 17705}}")
		if v := entry.of.get("rows"); v != nil && v.kind == list && len(rows) == 0 {
			b.at(v, "rows is empty", "an entry without figures says nothing")
		}
		for _, r := range rows {
			if row, ok := b.publishedRow(r, f, p); ok {
				e.Rows = append(e.Rows, row)
			}
		}
		p.Published = append(p.Published, e)
	}
}

func (b *binder) publishedRow(n *node, plan fields, p *Plan) (row PublishedRow, ok bool) {
	f, ok := b.record(n, "a published row", publishedRowKeys.names(), "name", "figures")
	if !ok {
		return row, false
	}
	publishedRowKeys.bind(f, &row)
	row.Figures = f.figures()
	if targets := plan.of.get("targets"); row.Like != "" && targets != nil && targets.kind == list {
		if names := targetNames(targets.items); !slices.Contains(names, row.Like) {
			b.at(f.value("like"), fmt.Sprintf("like: the plan has no target %q", row.Like), hint.OneOf(row.Like, names))
		}
	}
	if row.Step != "" && p.Run != nil {
		b.checkStep(f.value("step"), row.Step, p.Steps())
	}
	return row, true
}

func (b *binder) checkStep(at *node, name string, steps []workload.Step) {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	if !slices.Contains(names, name) {
		help := hint.OneOf(name, names) + "; --set published=[] leaves all published figures out"
		b.at(at, fmt.Sprintf("step: the run has no step %q", name), strings.TrimPrefix(help, "; "))
	}
}

// figures reads numbers by metric.
func (f fields) figures() map[string]float64 {
	n := f.value("figures")
	if n == nil {
		return nil
	}
	if n.kind != mapping || len(n.entries) == 0 {
		f.in.at(n, "figures must be a map of metrics", "as in {rows_per_s: 17705, write_kb: 1.75}")
		return nil
	}
	out := map[string]float64{}
	for _, e := range n.entries {
		m := metric.ByName(e.key.text)
		if m == nil {
			f.in.at(e.key, fmt.Sprintf("there is no metric %q", e.key.text), hint.Meant(e.key.text, metric.Names(), metric.Listed))
			continue
		}
		out[m.Name] = 0
		bind(fields{f.in, n}, m.Name, figure(m), func(v float64) { out[m.Name] = v })
	}
	return out
}

// figure returns a reader of a number in the metric's unit, or of a size if that
// is bytes.
func figure(m *metric.Metric) scalarOf[float64] {
	shape := schema{"type": "number", "minimum": 0}
	if m.Unit == "B" {
		shape = numberOrText(schema{"minimum": 0}, quantity.SizePattern)
	}
	return scalarOf[float64]{func(n *node) (float64, error) {
		v, ok := number(n)
		help := ""
		if m.Unit == "B" {
			help = "a number of bytes, or a size such as 18GiB or 18.3GB"
			if !ok {
				var err error
				v, err = quantity.RoundSize(n.text)
				ok = err == nil
			}
		}
		if !ok || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return 0, hint.Errorf(help, "%q is not a finite number of at least 0", n.text)
		}
		return v, nil
	}, shape}
}

// list returns the items of a key that must be a list.
func (f fields) list(key, help string) []*node {
	n := f.value(key)
	if n == nil || !f.in.is(n, list, key+" must be a list", help) {
		return nil
	}
	return n.items
}

// record returns the entries of a node that must be a mapping with known keys, of
// which some are required.
func (d *document) record(n *node, what string, known []string, required ...string) (f fields, ok bool) {
	if !d.is(n, mapping, what+" must be a map of keys", "its keys: "+strings.Join(known, ", ")) {
		return f, false
	}
	f = d.fields(n, what, known)
	for _, key := range required {
		if n.get(key) == nil {
			d.at(n, fmt.Sprintf("%s has no %s", what, key), "")
		}
	}
	return f, true
}

// prose reads a text that may span several lines.
var prose = scalarOf[string]{func(n *node) (string, error) {
	s := strings.Join(strings.Fields(n.text), " ")
	if s == "" {
		return "", hint.Errorf("", "the text is empty")
	}
	return s, nil
}, textShape.with("pattern", `\S`)}
