package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Published is a set of figures published elsewhere. Reports show it next to
// the measured figures; it is never part of a result.
type Published struct {
	Source   string // author, title, date, and where it can be read
	Hardware string // that it was measured on
	Note     string // such as corrections of units; may be empty
	Rows     []PublishedRow
}

// PublishedRow holds the figures of one configuration.
type PublishedRow struct {
	Name    string             // as published
	Like    string             // the target that corresponds to it; "" for none
	Step    string             // the step of the run that corresponds to it; "" for none
	Per     string             // the unit that its costs are per: "insert row"; "" if not given
	Figures map[string]float64 // by metric, in the metric's unit
}

func figuresShape() strictyaml.Shape {
	properties := strictyaml.Shape{}
	for _, m := range metric.All() {
		properties[m.Name] = figure(&m).Shape.With("description", m.Meaning())
	}
	return strictyaml.Shape{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
}

// published reads the published figures.
func (b *binder) published(f strictyaml.Fields, p *Plan) {
	for _, n := range f.List("published", "each entry on its own line, as - {source: TEXT, hardware: TEXT, rows: […]}") {
		entry, ok := b.Record(n, "an entry of published", publishedKeys.Names(), "source", "hardware", "rows")
		if !ok {
			continue
		}
		var e Published
		publishedKeys.Bind(entry, &e)
		rows := entry.List("rows", "each row on its own line, as - {name: NAME, figures: {rows_per_s: 17705}}")
		if v := entry.Of.Get("rows"); v != nil && v.Kind == strictyaml.List && len(rows) == 0 {
			b.At(v, "rows is empty", "an entry without figures says nothing")
		}
		for _, r := range rows {
			if row, ok := b.publishedRow(r, f, p); ok {
				e.Rows = append(e.Rows, row)
			}
		}
		p.Published = append(p.Published, e)
	}
}

func (b *binder) publishedRow(n *strictyaml.Node, plan strictyaml.Fields, p *Plan) (row PublishedRow, ok bool) {
	f, ok := b.Record(n, "a published row", publishedRowKeys.Names(), "name", "figures")
	if !ok {
		return row, false
	}
	publishedRowKeys.Bind(f, &row)
	row.Figures = figures(f)
	if targets := plan.Of.Get("targets"); row.Like != "" && targets != nil && targets.Kind == strictyaml.List {
		if names := targetNames(targets.Items); !slices.Contains(names, row.Like) {
			b.At(f.Value("like"), fmt.Sprintf("like: the plan has no target %q", row.Like), hint.OneOf(row.Like, names))
		}
	}
	if row.Step != "" && p.Run != nil {
		b.checkStep(f.Value("step"), row.Step, p.Steps())
	}
	return row, true
}

func (b *binder) checkStep(at *strictyaml.Node, name string, steps []workload.Step) {
	names := quantity.Texts(steps, func(s workload.Step) string { return s.Name })
	if !slices.Contains(names, name) {
		help := hint.OneOf(name, names) + "; --set published=[] leaves all published figures out"
		b.At(at, fmt.Sprintf("step: the run has no step %q", name), strings.TrimPrefix(help, "; "))
	}
}

// figures reads numbers by metric.
func figures(f strictyaml.Fields) map[string]float64 {
	n := f.Value("figures")
	if n == nil {
		return nil
	}
	if n.Kind != strictyaml.Mapping || len(n.Entries) == 0 {
		f.In.At(n, "figures must be a map of metrics", "as in {rows_per_s: 17705, write_kb: 1.75}")
		return nil
	}
	out := map[string]float64{}
	for _, e := range n.Entries {
		m := metric.ByName(e.Key.Text)
		if m == nil {
			f.In.At(e.Key, fmt.Sprintf("there is no metric %q", e.Key.Text),
				hint.Meant(e.Key.Text, metric.Names(), metric.Listed))
			continue
		}
		out[m.Name] = 0
		strictyaml.Bind(strictyaml.Fields{In: f.In, Of: n}, m.Name, figure(m), func(v float64) { out[m.Name] = v })
	}
	return out
}

// figure returns a reader of a number in the metric's unit, or of a size if that
// is bytes.
func figure(m *metric.Metric) strictyaml.ScalarOf[float64] {
	shape := strictyaml.Shape{"type": "number", "minimum": 0}
	if m.Unit == "B" {
		shape = strictyaml.NumberOrText(strictyaml.Shape{"minimum": 0}, quantity.SizePattern)
	}
	return strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
		v, ok := strictyaml.Number(n)
		help := ""
		if m.Unit == "B" {
			help = "a number of bytes, or a size such as 18GiB or 18.3GB"
			if !ok {
				var err error
				v, err = quantity.RoundSize(n.Text)
				ok = err == nil
			}
		}
		if !ok || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return 0, hint.Errorf(help, "%q is not a finite number of at least 0", n.Text)
		}
		return v, nil
	}, shape)
}
