package workloadtest

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
)

// Open opens an empty database that promises nothing, until the test's end.
func Open(t testing.TB, e engine.Engine, schema model.Schema) engine.DB {
	t.Helper()
	db, err := e.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: schema})
	expect.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Alone returns the first client of a group, in a session of its own.
func Alone(t testing.TB, db engine.DB, stage workload.Stage, group int) workload.Client {
	t.Helper()
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	c, err := stage.Client(t.Context(), workload.Seat{Group: group, Session: session})
	expect.NoError(t, err)
	return c
}

// Once has a client do an operation.
func Once(t testing.TB, c workload.Client) (out workload.Outcome) {
	t.Helper()
	if r, ok := c.(workload.Readier); ok {
		expect.NoError(t, r.Ready(t.Context()))
	}
	expect.NoError(t, c.Do(t.Context(), &out))
	return out
}
