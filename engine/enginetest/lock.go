package enginetest

import (
	"context"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/model"
)

// testLock: if a row is read with Lock, the transaction then changes the same
// version. So sessions that add one to the value that they have read lose no update.
func testLock(t *testing.T, s Suite) {
	db := s.open(t, true)
	c := newClient(t, db)
	c.do(model.Op{Kind: model.Insert, Table: "things", Columns: []string{"id", "a", "n"}, Rows: 1}, ints(1, 1, 0)...)
	get := model.Op{Kind: model.Get, Table: "things", Columns: []string{"n"}, Lock: true}
	_, rows := c.do(get, ints(1)...)
	failIf(t, len(rows) != 1, "outside of a transaction: %d rows, want 1", len(rows))
	const sessions, each = 2, 60
	parallel(t, db, sessions, func(_ int, c *client) error {
		read, write := c.prepare(get),
			c.prepare(model.Op{Kind: model.Update, Table: "things", Set: []model.Assign{{Column: "n"}}})
		begin, commit, rollback := c.prepare(model.Op{Kind: model.Begin}), c.prepare(model.Op{Kind: model.Commit}),
			c.prepare(model.Op{Kind: model.Rollback})
		increment := func() error {
			if _, _, err := collect(begin); err != nil {
				return err
			}
			_, rows, err := collect(read, ints(1)...)
			if err != nil {
				return err
			}
			time.Sleep(time.Millisecond) // the others read in the meantime, if nothing keeps them from it
			if _, _, err := collect(write, ints(rows[0][0].Int()+1, 1)...); err != nil {
				return err
			}
			_, _, err = collect(commit)
			return err
		}
		for done := 0; done < each; {
			err := increment()
			if err == nil {
				done++
				continue
			}
			if !engine.ClassOf(err).Yields() {
				return err
			}
			if _, _, err := collect(rollback); err != nil {
				return err
			}
		}
		return nil
	})
	_, rows = c.do(get, ints(1)...)
	failIf(t, rows[0][0].Int() != sessions*each, "%v after %d increments", rows[0][0], sessions*each)
}

// Skew runs two transactions, each of which reads the row that the other writes, and
// returns how many of them commit. One that does not commit fails with class Conflict.
func Skew(t *testing.T, s Suite) (committed int) {
	t.Helper()
	db := s.open(t, true)
	newClient(t, db).do(pushOp, ints(1, 2, 3, 4, 5)...)
	var clients [2]*client
	for i := range clients {
		clients[i] = newClient(t, db)
		clients[i].do(model.Op{Kind: model.Begin})
	}
	for i, c := range clients {
		c.do(model.Op{Kind: model.Get, Table: "queue", Columns: []string{"v"}}, ints(int64(1+i))...)
	}
	update := model.Op{Kind: model.Update, Table: "queue", Set: []model.Assign{{Column: "v"}}}
	for i, c := range clients {
		c.do(update, ints(9, int64(2-i))...)
	}
	for _, c := range clients {
		err := c.prepare(model.Op{Kind: model.Commit}).Exec(context.Background(), nil, &engine.Result{})
		if err == nil {
			committed++
			continue
		}
		failIf(t, engine.ClassOf(err) != engine.Conflict, "commit: %v", err)
	}
	return committed
}
