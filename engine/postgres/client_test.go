package postgres

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// An operation allocates nothing, however it is sent.
func TestAllocations(t *testing.T) {
	for _, protocol := range engine.Protocols() {
		c := config(need.TempDir(t))
		c.Protocol = protocol
		d := open(t, c)
		fill(t, d)
		s := newSession(t, d)
		prepare(t, s, enginetest.SaleInsert(100)).OK(saleRows(0, 100)...)
		ctx, cancel := context.WithCancel(t.Context()) // as of a step that can be interrupted
		defer cancel()
		for _, x := range []struct {
			name string
			op   model.Op
			args []any
		}{
			{"get", model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "at", "price", "data"}}, []any{7}},
			{"scan", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id", "data"}, Lower: model.Inclusive, Upper: model.Inclusive}, []any{11, 60}},
			{"sum", model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"register"}, Aggregate: model.Sum}, nil},
			{"update", model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "register", Add: true}, {Column: "data"}}}, []any{1, "new text", 7}},
			{"insert", enginetest.SaleInsert(1), enginetest.SaleRow(500)},
			{"begin", model.Op{Kind: model.Begin}, nil},
			{"commit", model.Op{Kind: model.Commit}, nil},
		} {
			op, args := prepare(t, s, x.op), enginetest.Values(x.args)
			op.Each = nil
			run := func() {
				if err := op.Stmt.Exec(ctx, args, &op.Result); err != nil {
					t.Fatalf("%s %s: %v", protocol, x.name, err)
				}
			}
			if n := testing.AllocsPerRun(100, run); n > 0 {
				t.Errorf("%s %s: %v allocations", protocol, x.name, n)
			}
		}
	}
}

// Statements by text are given up like others.
func testTextContexts(t *testing.T, d *db) {
	holder, s := newSession(t, d), newSession(t, d)
	prepare(t, s, linkInsert(1)).OK(1, "a", nil, 1, 1)
	_, _, err := holder.conn().ExecText(t.Context(), "BEGIN; LOCK TABLE link")
	expect.NoError(t, err)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, _, err := s.conn().ExecText(ctx, "UPDATE link SET version = 2")
		expect.True(t, errors.Is(err, context.DeadlineExceeded) && engine.ClassOf(err) == engine.Timeout,
			err, "of class", engine.ClassOf(err))
		err = s.conn().QueryText(ctx, "SELECT 1", nil, nil)
		expect.True(t, errors.Is(err, context.DeadlineExceeded), "in a context that has ended", err)
		cancel()
	}
	_, _, err = holder.conn().ExecText(t.Context(), "ROLLBACK")
	expect.NoError(t, err)
	if n, _, err := s.conn().ExecText(t.Context(), "UPDATE link SET version = 2"); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// After an error in a transaction the session is ready for the next one.
func testTextTransactions(t *testing.T, d *db) {
	s := newSession(t, d)
	do := func(text string) error {
		_, _, err := s.conn().ExecText(t.Context(), text)
		return err
	}
	expect.NoError(t, do("BEGIN"))
	expect.NoError(t, do("INSERT INTO link VALUES (1, 'a', NULL, 1, 1)"))
	if err := do("INSERT INTO link VALUES (1, 'a', NULL, 1, 1)"); engine.ClassOf(err) != engine.Duplicate {
		t.Errorf("%v of class %q", err, engine.ClassOf(err))
	}
	if err := do("SELECT 1"); engine.ClassOf(err) != engine.Duplicate {
		t.Errorf("then %v of class %q", err, engine.ClassOf(err))
	}
	if err := do("COMMIT"); engine.ClassOf(err) != engine.Duplicate {
		t.Errorf("commit: %v of class %q", err, engine.ClassOf(err))
	}
	expect.NoError(t, errors.Join(do("BEGIN"), do("INSERT INTO link VALUES (2, 'a', NULL, 1, 1)")))
	expect.Equal(t, engine.ClassOf(do("SELECT 1/0")), engine.Fatal)
	expect.NoError(t, errors.Join(do("ROLLBACK"), do("BEGIN"), do("INSERT INTO link VALUES (3, 'a', NULL, 1, 1)"), do("COMMIT")))
	expect.Equal(t, answer(t, d.Admin(), "SELECT string_agg(\"from\"::text, ' ') FROM link"), "3", "rows")
}

// A server process that is killed while its rows are read is gone.
func TestKilledWhileReading(t *testing.T) {
	d := open(t, config(need.TempDir(t)))
	s := newSession(t, d)
	rows := 0
	err := s.conn().QueryText(t.Context(), "SELECT generate_series(1, 100000000)", []model.Type{model.Int}, func([]model.Value) error {
		if rows++; rows == 1 {
			return syscall.Kill(int(s.conn().PID()), syscall.SIGKILL)
		}
		return nil
	})
	expect.True(t, engine.ClassOf(err) == engine.Gone && rows != 0 && rows != 100000000,
		err, "of class", engine.ClassOf(err), "after", rows, "rows")
	if _, _, err := s.conn().ExecText(t.Context(), "SELECT 1"); engine.ClassOf(err) != engine.Gone {
		t.Errorf("then %v", err)
	}
	d.Private.Wait(time.Minute) // it does not go on without one of its processes
	expect.Error(t, d.Close(), "", "the server went on")
}

// By text everything is as it is with statements that have been prepared.
func TestText(t *testing.T) {
	c := config(need.TempDir(t))
	c.Protocol = engine.Text
	d := open(t, c)
	fill(t, d)
	for _, c := range []struct {
		name string
		f    func(*testing.T, *db)
	}{
		{"values", testValues},
		{"aggregates", testAggregates},
		{"conflicts", testConflicts},
		{"failed transactions", testFailedTransactions},
		{"contexts", testTextContexts},
		{"transactions", testTextTransactions},
	} {
		t.Run(c.name, func(t *testing.T) {
			clear(t, d)
			c.f(t, d)
		})
	}
}
