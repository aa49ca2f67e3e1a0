package enginetest

import (
	"context"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

// testClear: a table loses its rows and index entries, while sessions write to
// others; then it takes the same rows again.
func testClear(t *testing.T, s Suite) {
	db := s.open(t, true)
	schema := s.schema()
	things, _ := schema.Table("things")
	fill := model.Op{Kind: model.Insert, Table: "things", Columns: []string{"id", "a", "n"}, Rows: 2}
	const pushes = 50
	parallel(t, db, 2, func(i int, c *client) error {
		if i == 1 {
			return clearRepeatedly(db, c, things, fill)
		}
		push := c.prepare(pushOp)
		for done := 0; done < pushes; {
			switch _, _, err := collect(push, ints(1, 2, 3, 4, 5)...); {
			case err == nil:
				done++
			case !engine.ClassOf(err).Yields():
				return err
			}
		}
		return nil
	})
	c := newClient(t, db)
	r, _ := c.do(countOp)
	failIf(t, r.Value.Int() != 5*pushes, "another table has %v rows, want %d", r.Value, 5*pushes)
	if can(s, model.CapUnique) {
		name := model.Op{Kind: model.Insert, Table: "names", Columns: []string{"id", "name"}, Rows: 1}
		for range 2 {
			c.do(name, Values([]any{1, "a"})...)
			check(t, db.ClearTable(context.Background(), "names"))
		}
	}
	failIf(t, db.ClearTable(context.Background(), "no such table") == nil, "a table that is not in the schema was cleared")
}

// clearRepeatedly fills a table and clears it, and looks for leftovers.
func clearRepeatedly(db engine.DB, c *client, table *model.Table, fill model.Op) error {
	for range 3 {
		c.do(fill, ints(1, 1, 5, 2, 1, 6)...)
		if err := db.ClearTable(context.Background(), table.Name); err != nil {
			return err
		}
		for _, ix := range append(slices.Clone(table.Indexes), model.Index{}) {
			r, _ := c.do(model.Op{Kind: model.Scan, Table: table.Name, Index: ix.Name, Columns: []string{"id"}})
			failIf(c.t, r.Rows != 0, "by %q: %d rows of a cleared table", ix.Name, r.Rows)
		}
	}
	return nil
}
