package sqlite

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/model"
)

// defaultPage is SQLite's own size of a page.
const defaultPage = int64(4096)

func newSession(t testing.TB, db engine.DB) engine.Session {
	t.Helper()
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, s.Close()) })
	return s
}

func prepare(t testing.TB, s engine.Session, op model.Op) *enginetest.Operation {
	t.Helper()
	return enginetest.PrepareOperation(t, s, schema(), op)
}
