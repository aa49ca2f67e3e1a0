package kvkit

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/model"
)

// The operator has the result of the plain operations, however values are grouped,
// and whatever is merged without the row.
func TestOperator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := append([]model.Column{{Name: "id", Type: model.Int}}, drawColumns(t)...)
		for i := range columns {
			columns[i].Name = string(rune('a' + i))
		}
		schema := model.Schema{Tables: []model.Table{{Name: "t", Columns: columns, Key: []string{"a"}}}}
		_, tables, err := newLayouts(schema)
		expect.NoError(t, err)
		operator, err := NewOperator(schema)
		expect.NoError(t, err)
		l := tables[0]
		l.tagged = true
		w := operatorWalk{t: t, l: l}
		if rapid.Bool().Draw(t, "exists") {
			w.insert()
		}
		for range rapid.IntRange(1, 6).Draw(t, "operands") {
			w.change()
		}
		key, _ := l.appendRowKey(nil, make1(l, 1))
		values := w.values
		for len(values) > 1 && rapid.Bool().Draw(t, "in part") { // as a compaction does
			start := rapid.IntRange(0, len(values)-2).Draw(t, "from")
			end := rapid.IntRange(start+1, len(values)-1).Draw(t, "to") + 1
			got, ok, err := operator.Merge(nil, key, false, values[start:end]...)
			expect.Must(t, err == nil && ok, "a part", ok, err)
			values = slices.Replace(slices.Clone(values), start, end, got)
		}
		got, ok, err := operator.Merge(nil, key, true, values...)
		expect.Must(t, err == nil && ok == w.there, "the row exists", ok, err, w.there)
		if !ok {
			return
		}
		if want, _ := l.appendRow(nil, w.row); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x: %v", got, want, w.row)
		}
	})
}

func make1(l *layout, id int64) []model.Value {
	row := make([]model.Value, len(l.columns))
	row[0] = model.IntValue(id)
	return row
}

// operatorWalk is a row changed by the plain code, and the values that change it by
// an operator.
type operatorWalk struct {
	t      *rapid.T
	l      *layout
	row    []model.Value
	there  bool
	values [][]byte
}

func (w *operatorWalk) draw() []model.Value {
	row := make1(w.l, 1)
	for _, c := range w.l.rest {
		row[c] = drawValue(w.t, w.l.columns[c], "cell")
	}
	return row
}

func (w *operatorWalk) add(value []byte, err error) {
	if err != nil {
		w.t.Fatal(err)
	}
	w.values = append(w.values, value)
}

func (w *operatorWalk) insert() {
	w.row, w.there = w.draw(), true
	w.add(w.l.appendRow(nil, w.row))
}

// change updates or upserts the row.
func (w *operatorWalk) change() {
	given := w.draw()
	var added []int
	for _, c := range w.l.rest {
		if k := w.l.columns[c].Type; k == model.Float || k == model.Int && w.l.columns[c].Width != 4 {
			added = append(added, c)
		}
	}
	if rapid.Bool().Draw(w.t, "upsert") {
		w.add(w.l.appendUpsert(nil, given, added))
		if w.there {
			w.addTo(added, given)
		} else {
			w.row, w.there = given, true
		}
		return
	}
	var set []model.Assign
	var columns []int
	var values []model.Value
	for _, c := range w.l.rest {
		add := slices.Contains(added, c) && rapid.Bool().Draw(w.t, "add")
		set, columns, values = append(set, model.Assign{Column: w.l.columns[c].Name, Add: add}), append(columns, c), append(values, given[c])
		if !w.there {
			continue
		}
		if add {
			w.addTo([]int{c}, given)
		} else {
			w.row[c] = given[c]
		}
	}
	w.add(w.l.appendChanges(nil, set, columns, values))
}

// addTo adds columns of a row. A sum that is not a number is an error of the plain
// code in a column without NULL.
func (w *operatorWalk) addTo(columns []int, given []model.Value) {
	for _, c := range columns {
		if sum := w.row[c].Add(given[c]); !sum.IsNull() || !w.l.columns[c].NotNull {
			w.row[c] = sum
		}
	}
}

func TestFormats(t *testing.T) {
	o, err := NewOperator(model.Schema{Tables: []model.Table{
		{Name: "a", Key: []string{"id"}, Columns: []model.Column{
			{Name: "i", Type: model.Int, Width: 4}, {Name: "q", Type: model.Int, NotNull: true}, {Name: "id", Type: model.Int},
			{Name: "t", Type: model.Time}, {Name: "d", Type: model.Float, NotNull: true}, {Name: "s", Type: model.String}, {Name: "b", Type: model.Bytes, NotNull: true},
		}, Indexes: []model.Index{{Name: "x", Columns: []string{"q"}}}},
		{Name: "b", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int}}},
	}})
	expect.NoError(t, err)
	if f := o.Formats(); len(f) != 2 || f[1] != "IqTdSs" || f[3] != "" {
		t.Errorf("formats %v", f)
	}
}
