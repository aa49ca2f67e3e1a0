package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/model"
)

// testJoined: a second process uses the tables of a first by the address of its server, and makes and
// removes nothing.
func testJoined(t *testing.T, s Suite) {
	if len(s.Engine.Info().Servers) == 0 {
		return
	}
	const address = "127.0.0.2" // of this machine, but not the one that private servers have
	config := s.config(need.TempDir(t))
	config.Server.Listen = address
	var knob *engine.KnobError
	if err := s.Engine.Check(config); errors.As(err, &knob) && knob.Knob == "listen" {
		t.Skip(err)
	}
	db, err := s.Engine.Open(t.Context(), config)
	check(t, err)
	t.Cleanup(func() { Discard(db) })
	route, err := db.(engine.Reachable).Reach(t.Context())
	check(t, err)
	dsn := route.DSNs[0]
	failIf(t, !strings.Contains(dsn, address), "it is reached at %q", dsn)

	join := config
	join.Dir, join.Server.Listen, join.Server.DSN, join.Server.Join = "", "", dsn, true
	join.Server.Schema = "absent"
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil || !strings.Contains(err.Error(), "absent"), "joined a schema that does not exist: %v", err)
	join.Server.Schema = config.Server.Schema
	join.Server.DSN = strings.Replace(dsn, "@", "wrong@", 1)
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil, "joined with a wrong password")
	join.Server.DSN, join.Server.Expected = dsn, []string{"another process"}
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil || !strings.Contains(err.Error(), "another server"), "joined another server: %v", err)
	join.Server.Expected = route.Servers
	testUnrelated(t, s, &config, dsn)

	check(t, db.CreateTables(context.Background()))
	createIndexes(t, db, s.schema())
	newClient(t, db).do(pushOp, ints(1, 2, 3, 4, 5)...)
	joined, err := s.Engine.Open(t.Context(), join)
	check(t, err)
	failIf(t, joined.CreateTables(context.Background()) == nil, "a process that has joined can make tables")
	newClient(t, joined).do(pushOp, ints(6, 7, 8, 9, 10)...)
	check(t, joined.Close())
	_, rows := newClient(t, db).do(model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}})
	failIf(t, len(rows) != 10, "the first process finds %d rows, want 10", len(rows))
}

// testUnrelated: two servers that do not have the same database are no cluster, and nothing is left on them; two names
// of one server are none either.
func testUnrelated(t *testing.T, s Suite, first *engine.Config, dsn string) {
	t.Helper()
	config := *first
	config.Dir, config.Server.Listen = need.TempDir(t), "127.0.0.3"
	other, err := s.Engine.Open(t.Context(), config)
	check(t, err)
	t.Cleanup(func() { Discard(other) })
	route, err := other.(engine.Reachable).Reach(t.Context())
	check(t, err)
	attached := engine.Config{Storage: first.Storage, Durability: first.Durability, Protocol: first.Protocol,
		Schema: first.Schema, Server: engine.ServerConfig{DSN: dsn, Schema: "of_cluster"}}
	wants := map[string]string{route.DSNs[0]: "does not have the database", dsn: "lead to the same server"}
	for gateway, want := range wants {
		attached.Server.Gateways = []string{gateway}
		_, err = s.Engine.Open(t.Context(), attached)
		failIf(t, err == nil || !strings.Contains(err.Error(), want), "opened: %v, want %q", err, want)
	}
	attached.Server.Gateways = nil
	alone, err := s.Engine.Open(t.Context(), attached) // the schema may not exist
	check(t, err)
	check(t, alone.Close())
}
