package plan

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

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
	names := stepNames(steps, anyStep)
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
