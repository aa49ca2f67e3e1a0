package enginetest

import (
	"context"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Owner is a connection of the owner of a server with SQL.
type Owner interface {
	Exec(ctx context.Context, text string) error
	Query(ctx context.Context, text string, each func(row []string) error) error
}

// Force checks what force does on a server with SQL to a schema guest that exists: only tables that an
// earlier run has left are replaced, with rows and indexes, and only by CreateTables. The user's are
// neither used nor replaced. c attaches to the server, whose owner is there too. insert inserts two
// rows into table sale, which has the index.
func Force(t *testing.T, e engine.Engine, c engine.Config, owner Owner, insert model.Op, row []any,
	index string) {
	t.Helper()
	ctx := t.Context()
	ask := func(query, want string) {
		t.Helper()
		var got []string
		check(t, owner.Query(ctx, query, func(row []string) error { got = append(got, row[0]); return nil }))
		failIf(t, strings.Join(got, " ") != want, "%s: %q, want %q", query, got, want)
	}
	for _, text := range []string{"CREATE SCHEMA guest", "CREATE TABLE guest.sale (a int)",
		"CREATE TABLE guest.other (a int)", "INSERT INTO guest.other VALUES (8)"} {
		check(t, owner.Exec(ctx, text))
	}
	_, err := e.Open(ctx, c)
	failIf(t, err == nil || strings.Contains(hint.Of(err), "--force"), "a schema of the user's: %v; hint %q", err,
		hint.Of(err))
	c.Server.Force = true
	d := openConfig(t, e, c)
	_, err = newClient(t, d).s.Prepare(ctx, &insert)
	for subject, err := range map[string]error{"used": err, "changed": d.CreateIndexes(ctx, "sale", index),
		"cleared": d.ClearTable(ctx, "sale"), "replaced": d.CreateTables(ctx)} {
		failIf(t, err == nil || !strings.Contains(err.Error(), "sale exists, and rumbench did not make it") ||
			strings.Contains(hint.Of(err), "--force"), "a table of the user's was %s: %v; hint %q", subject, err, hint.Of(err))
	}
	check(t, owner.Exec(ctx, "DROP TABLE guest.sale"))
	const rows, tables = "SELECT COUNT(*) FROM guest.sale",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'guest'"
	fill := func(d engine.DB) {
		c := newClient(t, d)
		c.do(insert, Values(append(append([]any{}, row...), row...))...)
		check(t, c.s.Close())
		ask(rows, "2")
	}
	check(t, d.CreateTables(ctx))
	check(t, d.CreateIndexes(ctx, "sale", index))
	fill(d)
	check(t, d.CreateTables(ctx)) // anew
	ask(rows, "0")
	check(t, d.Close())
	ask(tables, "other")

	// Steps on tables that another run has made leave them.
	first := openConfig(t, e, c)
	check(t, first.CreateTables(ctx))
	check(t, first.CreateIndexes(ctx, "sale", index))
	second := openConfig(t, e, c)
	fill(second)
	check(t, second.Close())
	ask(rows, "2")
	third := openConfig(t, e, c)
	check(t, third.CreateTables(ctx))
	_, err = newClient(t, third).s.Prepare(ctx,
		&model.Op{Kind: model.Scan, Table: "sale", Index: index, Columns: []string{"id"}})
	failIf(t, err == nil, "an index of a table that was replaced is there")
	check(t, third.CreateIndexes(ctx, "sale", index))
	check(t, third.Close())
	ask("SELECT a FROM guest.other", "8")
}
