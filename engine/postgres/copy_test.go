package postgres

import (
	"context"
	"errors"
	"math"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// Rows that are copied are the same as those that are inserted.
func TestCopy(t *testing.T) {
	c := config(need.TempDir(t))
	c.Options = map[string]any{optCopy: true}
	d := open(t, c)
	fill(t, d)
	s := newSession(t, d)
	const all = "SELECT md5(string_agg(t::text, ';' ORDER BY t::text)) FROM "
	for _, x := range []struct {
		op   model.Op
		rows []any
	}{
		{enginetest.SaleInsert(4), append(saleRows(0, 3), nil, 1, 2, 3, -1e300, nil)},
		{linkInsert(3), []any{1, "a", []byte{0, 255}, 1, 1, math.MinInt64, "", []byte{}, nil, nil, 2, "é'\\", nil, math.MaxInt64, 2}},
	} {
		table := d.Dialect().Name(x.op.Table) + " t"
		clear(t, d)
		prepare(t, s, x.op).Changes(int64(x.op.Rows), x.rows...)
		inserted := answer(t, d.Admin(), all+table)
		clear(t, d)
		load := x.op
		load.Load = true
		copied := prepare(t, s, load)
		if _, ok := copied.Stmt.(*copier); !ok {
			t.Fatalf("%T", copied.Stmt)
		}
		copied.Changes(int64(x.op.Rows), x.rows...)
		expect.Equal(t, answer(t, d.Admin(), all+table), inserted,
			x.op.Table, answer(t, d.Admin(), "SELECT t::text FROM "+table))
	}
	load := linkInsert(2)
	load.Load = true
	copied := prepare(t, s, load)
	copied.Fails(engine.Duplicate, 5, "a", nil, 1, 5, 1, "a", nil, 1, 1)
	copied.Fails(engine.Fatal, 5, "a", nil, 1, 5)
	expect.Equal(t, answer(t, d.Admin(), "SELECT count(*) FROM link"), "3", "rows after a copy that failed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := copied.Stmt.Exec(ctx, enginetest.Values([]any{5, "a", nil, 1, 5, 5, "b", nil, 1, 6}), &copied.Result); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	copied.Changes(2, 5, "a", nil, 1, 5, 5, "b", nil, 1, 6)
	load.OnConflict = model.Ignore // which COPY cannot do
	prepare(t, s, load).Changes(0, 5, "a", nil, 1, 5, 5, "b", nil, 1, 6)
}
