package watch

import (
	"cmp"
	_ "embed" // for shown.json
	"encoding/json"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// view is the part of a table that shows a group of series: a line for each device,
// process, server or storage, with some columns.
type view struct {
	Title   string
	Columns []column
}

// column shows a series. It is present if the series, or the series it is derived from,
// is present: the time per read is unknown while nothing is read.
type column struct{ Head, Name, Of string }

// defaults is the default selection: Leads are the most important series and fit in 80
// columns, Views are all series that tables show in columns, and Derived are the
// expressions computed from them.
var defaults = func() (out struct {
	Leads, Views []view
	Derived      []Expression
}) {
	if err := json.Unmarshal(shown, &out); err != nil {
		panic(err) // it is part of the program
	}
	return out
}()

//go:embed shown.json
var shown []byte

// inView are the names that views show.
var inView = func() map[string]bool {
	names := make(map[string]bool)
	for _, v := range defaults.Views {
		for _, c := range v.Columns {
			names[c.Name] = true
		}
	}
	return names
}()

// table returns a view of a frame, empty if there is nothing to show.
func (v *view) table(f *Frame) page.Table {
	cells := make(map[[2]string]string) // by name and labels
	var who []string                    // labels, in the order of the frame
	there := make(map[string]bool)
	var feet []string
	for _, r := range f.each {
		there[r.Name] = true
		if !slices.ContainsFunc(v.Columns, func(c column) bool { return c.Name == r.Name }) {
			continue
		}
		labels, mark := splitExplicit(r.Labels)
		if !slices.Contains(who, labels) {
			who = append(who, labels)
		}
		if mark != "" && len(feet) == 0 {
			feet = []string{"  " + explicitFoot}
		}
		if value, ok := r.Shown(); ok {
			cells[[2]string{r.Name, labels}] = quantity.In(value, r.ShownUnit()) + mark
		}
	}
	t := page.Table{Head: v.Title, Groups: []page.Group{{Foot: feet}}}
	for _, labels := range who {
		t.Groups[0].Rows = append(t.Groups[0].Rows, page.Row{Head: "  " + objectName(labels)})
	}
	for _, c := range v.Columns {
		if !there[c.Name] && !there[c.Of] {
			continue // not available on this machine or engine
		}
		t.Columns = append(t.Columns, page.Column{Name: c.Head})
		for i, labels := range who {
			row := &t.Groups[0].Rows[i]
			row.Cells = append(row.Cells, page.Cell{Text: cmp.Or(cells[[2]string{c.Name, labels}], quantity.Unknown),
				Number: true})
		}
	}
	return t
}

const explicitFoot = "* COMMIT statements only: the server does not count single statements"

// splitExplicit returns the labels of the object that a series describes, and a mark if the
// series covers only part of it.
func splitExplicit(labels string) (object, mark string) {
	all := observe.ParseLabels(labels)
	remaining := slices.DeleteFunc(all, func(l observe.Label) bool { return l.Name == engine.ExplicitOnly })
	if len(remaining) == len(all) {
		return labels, ""
	}
	return remaining.String(), "*"
}

// objectName returns the name of the object that labels identify.
func objectName(labels string) string {
	values := quantity.Texts(observe.ParseLabels(labels), func(l observe.Label) string { return l.Value })
	return escape.Line(strings.Join(values, " "))
}

// Builtins returns the expressions of the built-in derived metrics, which are always
// shown. Busy corresponds to us+sy in vmstat, without iowait and steal time.
func Builtins() []*Expression {
	var expressions []*Expression
	for _, b := range defaults.Derived {
		e, err := ParseExpression("built in", b.Name, b.Text)
		if err != nil {
			panic(err) // a test parses them all
		}
		e.Unit, e.builtin = b.Unit, true
		expressions = append(expressions, e)
	}
	return expressions
}
