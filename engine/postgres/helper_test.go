package postgres

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }

// program is the server to test, where another release than the installed one
// is to be tested.
func program() string { return os.Getenv("RUMBENCH_TEST_POSTGRES") }

// needServer skips a test where the server is not installed; in CI it must be.
func needServer(t testing.TB) {
	t.Helper()
	_, err := server.Find(t.Context(), server.Postgres, server.Source{Binary: program()})
	need.Installed(t, err)
}

func schema() model.Schema { return enginetest.SaleSchema(50) }

func config(dir string) engine.Config {
	return engine.Config{
		Dir: dir, Durability: model.DurabilityProcess, Schema: schema(), Cache: 32 << 20,
		Server: engine.ServerConfig{Binary: program()},
	}
}

func open(t testing.TB, c engine.Config) *db {
	t.Helper()
	needServer(t)
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() {
		expect.NoError(t, d.Close())
	})
	return d.(*db)
}

// fill makes all tables and indexes.
func fill(t testing.TB, d engine.DB) {
	t.Helper()
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "market", "pdc", "wide"))
	expect.NoError(t, d.CreateIndexes(t.Context(), "link", "code"))
}

func newSession(t testing.TB, d engine.DB) *session {
	t.Helper()
	s, err := d.Session(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, s.Close()) })
	return s.(*session)
}

func prepare(t testing.TB, s engine.Session, op model.Op) *enginetest.Operation {
	t.Helper()
	return enginetest.PrepareOperation(t, s, schema(), op)
}

func saleRows(start, n int) (rows []any) {
	for i := range n {
		rows = append(rows, enginetest.SaleRow(start+i)...)
	}
	return rows
}

var linkColumns = []string{"from", "to", "data", "version", "code"}

func linkInsert(rows int) model.Op {
	return model.Op{Kind: model.Insert, Table: "link", Rows: rows, Columns: linkColumns}
}
