package mysql

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// What our own queries do is in no counter, and is not taken from the clients'.
func TestObserversDoNotCount(t *testing.T) {
	d := private(t, engine.Config{Options: map[string]any{"waits": true}})
	expect.NoError(t, d.CreateTables(t.Context()))
	insert(t, d, insertOp, 1000)
	a, err := d.Activity(t.Context())
	expect.NoError(t, err)
	defer a.Close()
	look := func() {
		expect.NoError(t, a.Sample(t.Context(), func(engine.SessionActivity, int) {}))
		points(t, d)
	}
	look()
	before := points(t, d)
	for range 20 {
		look()
	}
	after := points(t, d)
	for name, p := range after {
		own := strings.HasPrefix(name, "mysql.handler_") || strings.HasPrefix(name, "mysql.rows_") || strings.HasPrefix(name, "mysql.created_tmp_")
		if n := p.Value - before[name].Value; p.Kind == engine.Counter && n != 0 &&
			(own || name == engine.Queries || name == engine.RowsExamined || name == "mysql.com_select") {
			t.Errorf("%s grew by %v", name, n)
		}
	}
	ask(t, d, "SELECT COUNT(price) FROM sale")
	look()
	before, after = after, points(t, d)
	if n := after[engine.RowsExamined].Value - before[engine.RowsExamined].Value; n < 2000 || n > 2002 { // each sale is two rows
		t.Errorf("%v rows were examined", n)
	}
	expect.Equal(t, after[engine.Queries].Value-before[engine.Queries].Value, 1, "queries")
}
