package enginetest

import (
	"slices"
	"testing"

	"rumbench/model"
)

// testConditions: a scan's conditions apply before all that it does with rows,
// and NULL meets none.
func testConditions(t *testing.T, s Suite) {
	c := newClient(t, s.open(t, true))
	null := model.Value{}
	insert := c.prepare(model.Op{Kind: model.Insert, Table: "things", Columns: []string{"id", "a", "n", "s"}, Rows: 1})
	for i, row := range [][]any{{1, 10, "a"}, {1, 20, "abc"}, {2, null, "ab"}, {2, 10, null}, {3, 30, "é"}, {3, 20, "a"}} {
		_, _, err := collect(insert, Values(slices.Concat([]any{i + 1}, row))...)
		check(t, err)
	}
	where := func(column string, is model.Comparison, extra ...model.Condition) []model.Condition {
		return append([]model.Condition{{Column: column, Is: is}}, extra...)
	}
	for _, k := range []struct {
		name  string
		op    model.Op
		where []model.Condition
		args  []any
		want  []int64
	}{
		{"equals", model.Op{}, where("n", model.Equals), []any{10}, []int64{1, 4}},
		{"at least", model.Op{}, where("n", model.AtLeast), []any{20}, []int64{2, 5, 6}},
		{"at most", model.Op{}, where("n", model.AtMost), []any{20}, []int64{1, 2, 4, 6}},
		{"shorter", model.Op{}, where("s", model.ShorterThan), []any{2}, []int64{1, 6}},
		{"text", model.Op{}, where("s", model.AtLeast), []any{"ab"}, []int64{2, 3, 5}},
		{"NULL", model.Op{}, where("n", model.Equals), []any{null}, nil},
		{"two", model.Op{}, where("n", model.AtLeast, where("s", model.AtMost)...), []any{20, "a"}, []int64{6}},
		{"limit after", model.Op{Desc: true, Limit: 2}, where("n", model.AtMost), []any{20}, []int64{6, 4}},
		{"bounds", model.Op{Lower: model.Inclusive, Upper: model.Exclusive},
			where("n", model.AtMost), []any{2, 6, 20}, []int64{2, 4}},
		{"equality", model.Op{Index: "things_a", Equal: 1}, where("n", model.AtLeast), []any{2, 0}, []int64{4}},
		{"index", model.Op{Index: "things_n", Desc: true, Limit: 2},
			where("a", model.AtLeast), []any{3}, []int64{5, 6}},
		{"count", model.Op{Aggregate: model.Count}, where("a", model.AtMost), []any{2}, []int64{4}},
		{"sum", model.Op{Aggregate: model.Sum}, where("a", model.Equals), []any{3}, []int64{11}},
		{"sum by index", model.Op{Index: "things_n", Aggregate: model.Sum, Upper: model.Inclusive},
			where("a", model.AtLeast), []any{20, 2}, []int64{10}},
		{"distinct", model.Op{Columns: []string{"n"}, Distinct: true, OrderBy: "n"},
			where("n", model.AtLeast), []any{0}, []int64{10, 20, 30}},
		{"ranges", model.Op{Free: true, Ranges: 2, Lower: model.Inclusive, Upper: model.Inclusive, OrderBy: "id"},
			where("n", model.AtMost), []any{1, 2, 5, 6, 20}, []int64{1, 2, 6}},
	} {
		if s.StandIn && k.name == "shorter" {
			continue
		}
		k.op.Kind, k.op.Table, k.op.Where = model.Scan, "things", k.where
		if k.op.Columns == nil {
			k.op.Columns = []string{"id"}
		}
		r, rows := c.do(k.op, Values(k.args)...)
		var got []int64
		for _, row := range rows {
			got = append(got, row[0].Int())
		}
		if k.op.Aggregate != model.NoAggregate {
			got = []int64{r.Value.Int()}
		}
		failIf(t, !slices.Equal(got, k.want), "%s: got %v, want %v", k.name, got, k.want)
	}
}
