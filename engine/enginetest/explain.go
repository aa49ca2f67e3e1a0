package enginetest

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

// testExplain: an engine with a planner returns the access paths of every
// operation, in the schema's names, and uses the index that a bounded scan names.
func (s Suite) testExplain(t *testing.T) {
	ctx := context.Background()
	db := s.open(t, true)
	explainer, ok := db.(engine.Explainer)
	if !ok {
		t.Skip("the engine has no planner")
	}
	scan := model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}, Lower: model.Inclusive,
		Limit: 5}
	p, err := explainer.Explain(ctx, &scan)
	check(t, err)
	failIf(t, p.None == "" || len(p.Access) > 0, "the plan of an empty table: %+v", p)
	c := newClient(t, db)
	st := c.prepare(model.Op{Kind: model.Insert, Table: "queue", Columns: []string{"v"}, Rows: 100})
	for n := range 30 {
		args := make([]model.Value, 100)
		for i := range args {
			args[i] = model.IntValue(int64(n*100 + i))
		}
		check(t, st.Exec(ctx, args, &engine.Result{}))
	}
	_, err = db.Settle(ctx)
	check(t, err)
	for _, o := range []struct {
		op    model.Op
		index string // "": any
	}{
		{scan, "queue_v"},
		{model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"v"}, Lower: model.Exclusive, Limit: 5},
			engine.PrimaryKey},
		{model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id"}, Lower: model.Inclusive, Upper: model.Inclusive},
			engine.PrimaryKey},
		{model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}, Lower: model.Inclusive,
			Upper: model.Inclusive, Free: true}, ""},
		{model.Op{Kind: model.Get, Table: "queue", Columns: []string{"v"}}, engine.PrimaryKey},
		{model.Op{Kind: model.Get, Table: "queue", Columns: []string{"v"}, Keys: 3}, ""},
		{model.Op{Kind: model.Get, Table: "queue", Columns: []string{"v"}, Index: "queue_v", Equal: 1}, ""},
		{model.Op{Kind: model.Update, Table: "queue", Set: []model.Assign{{Column: "v", Add: true}}}, ""},
		{model.Op{Kind: model.Delete, Table: "queue", Keys: 2}, ""},
		{model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: 5}, ""},
	} {
		p, err := explainer.Explain(ctx, &o.op)
		if err != nil || p.Statement == "" || p.Text == "" || p.TableBytes <= 0 || len(p.Access) == 0 {
			t.Errorf("%s: %+v, %v", o.op.Label(), p, err)
			continue
		}
		for _, a := range p.Access {
			named := a.Index == engine.PrimaryKey || a.Index == "queue_v"
			failIf(t, named == (a.How == engine.WholeTable) || a.Index != "" && !named, "%s: access %+v of\n%s",
				o.op.Label(), a, p.Text)
		}
		first := p.Access[0]
		failIf(t, o.index != "" && (first.Index != o.index || first.How != engine.Seek), "%s: %s, want seek in %s:\n%s",
			o.op.Label(), p.Ways(), o.index, p.Text)
	}
	p, err = explainer.Explain(ctx, &model.Op{Kind: model.Insert, Table: "queue", Columns: []string{"v"}, Rows: 1})
	failIf(t, err != nil || p.None == "", "an insert: %+v, %v", p, err)
}
