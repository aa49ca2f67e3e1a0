package tarantool

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/serverkit"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

func schema() model.Schema {
	return model.Schema{Tables: []model.Table{{
		Name: "sale",
		Columns: []model.Column{
			{Name: "id", Type: model.Int},
			{Name: "customer", Type: model.Int, NotNull: true},
			{Name: "price", Type: model.Float},
			{Name: "data", Type: model.String, Width: 4000},
		},
		Key:     []string{"id"},
		Indexes: []model.Index{{Name: "customer", Columns: []string{"customer", "price"}}},
	}}}
}

func config(dir, storage string) engine.Config {
	return engine.Config{Dir: dir, Storage: storage, Durability: model.DurabilityProcess, Schema: schema()}
}

func open(t testing.TB, c engine.Config) *db {
	t.Helper()
	needServer(t)
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, d.Close()) })
	return d.(*db)
}

// fill makes the table, with its first index.
func fill(t testing.TB, d engine.DB) {
	t.Helper()
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "customer"))
}

func newSession(t testing.TB, d engine.DB) engine.Session {
	t.Helper()
	s, err := d.Session(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, s.Close()) })
	return s
}

func prepare(t testing.TB, s engine.Session, op model.Op) *enginetest.Operation {
	t.Helper()
	return enginetest.PrepareOperation(t, s, schema(), op)
}

// insert inserts rows of all columns.
func insert(rows int, conflict model.Conflict) model.Op {
	return model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"id", "customer", "price", "data"}, Rows: rows, OnConflict: conflict}
}

func rows(start, n int) (args []any) {
	for i := start; i < start+n; i++ {
		args = append(args, i, i%100, float64(i)/2, fmt.Sprintf("row %08d", i))
	}
	return args
}

var getOp = model.Op{Kind: model.Get, Table: "sale", Columns: []string{"data", "id"}}

// hosted starts a server that is not an engine's, and returns it with a
// connection of its owner's.
func hosted(t *testing.T, walMode string) (*server.Server, *conn) {
	t.Helper()
	needServer(t)
	s, err := server.Start(t.Context(), server.Config{
		Kind: server.Tarantool, Dir: need.TempDir(t), Ready: ready,
		Settings: []server.Setting{{Name: "wal_mode", Value: walMode}},
	})
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, s.Stop()) })
	owner, err := connect(t.Context(), socket(s.Endpoint()), serverkit.NewHost("").Dial)
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, owner.Close()) })
	expect.NoError(t, owner.eval(t.Context(), nil, `
		box.schema.space.create('precious'):create_index('primary')
		box.schema.user.create('bench', {password = 'a secret'})
		box.session.su('admin', box.schema.user.grant, 'bench', 'super')`))
	return s, owner
}

// answer evaluates an expression and returns the text of its JSON.
func answer(t *testing.T, c *conn, expr string) string {
	t.Helper()
	var raw json.RawMessage
	expect.NoError(t, c.eval(context.Background(), &raw, "return require('json').encode("+expr+")"))
	return string(raw)
}
