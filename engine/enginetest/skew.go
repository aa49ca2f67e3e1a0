package enginetest

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

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
