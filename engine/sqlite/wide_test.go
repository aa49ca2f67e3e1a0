package sqlite

import (
	"fmt"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/model"
)

// Long rows do not take a page each, however long they are, and are found by their key.
func TestLongRows(t *testing.T) {
	for _, length := range []int{200, 900, 980, 1200, 3000} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			const rows = 1000
			c := config(t.TempDir())
			c.Schema = model.Schema{Tables: []model.Table{{Name: "long", Key: []string{"a", "b"}, Columns: []model.Column{
				{Name: "a", Type: model.String, Width: 16}, {Name: "b", Type: model.Int}, {Name: "v", Type: model.Bytes, Width: length},
			}}}}
			db := open(t, c)
			expect.NoError(t, db.CreateTables(t.Context()))
			s := newSession(t, db)
			insert := enginetest.PrepareOperation(t, s, c.Schema,
				model.Op{Kind: model.Insert, Table: "long", Columns: []string{"a", "b", "v"}, Rows: 1})
			for i := range rows {
				insert.Changes(1, fmt.Sprintf("key %d", i), i, make([]byte, length))
			}
			sizes, err := db.Sizes(t.Context())
			expect.NoError(t, err)
			expect.Must(t, len(sizes) == 2 && sizes[0].Object == "long", "the sizes are of", sizes)
			if ratio := float64(sizes[0].Bytes) / float64(rows*(length+20)); ratio > 2 {
				t.Errorf("the table takes %.1f times the bytes of its rows", ratio)
			}
			for _, op := range []model.Op{
				{Kind: model.Get, Columns: []string{"v"}},
				{Kind: model.Get, Columns: []string{"v"}, Keys: 3},
				{Kind: model.Scan, Columns: []string{"v"}, Equal: 1, Limit: 10},
				{Kind: model.Scan, Columns: []string{"v"}, Lower: model.Inclusive, Limit: 10},
				{Kind: model.Update, Set: []model.Assign{{Column: "v"}}},
				{Kind: model.Delete},
			} {
				op.Table = "long"
				p, err := db.(engine.Explainer).Explain(t.Context(), &op)
				expect.NoError(t, err)
				for _, a := range p.Access {
					expect.True(t, a.Index == engine.PrimaryKey && a.How == engine.Seek, op.Label(), a, "by", p.Text)
				}
				expect.True(t, len(p.Access) != 0, op.Label(), "nothing is said of the table in", p.Text)
			}
		})
	}
}

// How a table that exists is read depends on its pages, whatever the plan says of them.
func TestPagesOfAnExistingDatabase(t *testing.T) {
	c := config(t.TempDir())
	c.Page = 16384
	c.Schema = model.Schema{Tables: []model.Table{{Name: "long", Key: []string{"a"}, Columns: []model.Column{
		{Name: "a", Type: model.String, Width: 16}, {Name: "v", Type: model.Bytes, Width: 1200},
	}}}}
	db := open(t, c)
	expect.NoError(t, db.CreateTables(t.Context()))
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	enginetest.PrepareOperation(t, session, c.Schema,
		model.Op{Kind: model.Insert, Table: "long", Columns: []string{"a", "v"}, Rows: 1}).Changes(1, "key", []byte{1})
	expect.NoError(t, session.Close())
	expect.NoError(t, db.Close())
	c.Page = 0
	p, err := open(t, c).(engine.Explainer).Explain(t.Context(),
		&model.Op{Kind: model.Scan, Table: "long", Columns: []string{"v"}, Equal: 1})
	expect.NoError(t, err)
	if want := "SEARCH long USING PRIMARY KEY (a=?)"; p.Text != want {
		t.Errorf("%q, want %q", p.Text, want)
	}
}
