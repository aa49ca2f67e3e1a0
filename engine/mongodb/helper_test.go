package mongodb

import (
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ferretDB is what scripts/ferretdb.sh builds: a server that speaks the protocol,
// and is started as a mongod is.
const ferretDB = "/opt/rumbench/ferretdb/ferretdb"

// program returns the server to test: a mongod that RUMBENCH_MONGOD names, or
// FerretDB, which must be there in CI.
func program(t testing.TB) string {
	t.Helper()
	need.Setup(t)
	if mongod := os.Getenv("RUMBENCH_MONGOD"); mongod != "" {
		return mongod
	}
	_, err := os.Stat(ferretDB)
	need.Installed(t, err)
	return ferretDB
}

func schema() model.Schema {
	link := enginetest.SaleSchema(0).Tables[1]
	link.Indexes = append(link.Indexes, model.Index{Name: "version", Columns: []string{"version"}})
	return model.Schema{Tables: []model.Table{
		{
			Name: "sale",
			Columns: []model.Column{
				{Name: "id", Type: model.Int, Auto: true},
				{Name: "product", Type: model.Int, Width: 4, NotNull: true},
				{Name: "price", Type: model.Float},
				{Name: "data", Type: model.String, Width: 200},
			},
			Key:     []string{"id"},
			Indexes: []model.Index{{Name: "market", Columns: []string{"product", "price"}}},
		},
		link,
	}}
}

func config(t testing.TB) engine.Config {
	return engine.Config{Dir: need.TempDir(t), Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{Binary: program(t)}}
}

// open opens a database with all tables and indexes.
func open(t testing.TB, c engine.Config) *db {
	t.Helper()
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() {
		expect.NoError(t, d.Close())
	})
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "market"))
	expect.NoError(t, d.CreateIndexes(t.Context(), "link", "code", "version"))
	return d.(*db)
}

func session1(t testing.TB, d engine.DB) *session {
	t.Helper()
	s, err := d.Session(t.Context())
	expect.NoError(t, err)
	return s.(*session)
}

func rawText(doc []byte) string { return bson.Raw(doc).String() }
