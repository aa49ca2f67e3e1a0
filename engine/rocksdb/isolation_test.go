//go:build native && cgo && linux

package rocksdb_test

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/engine/rocksdb"
	"rumbench/internal/expect"
	"rumbench/model"
)

// peer is a client with one row operation of each kind.
type peer struct {
	t                                     *testing.T
	begin, commit, rollback, add, put, by engine.Stmt
}

func openPeers(t *testing.T, transactions string, n int) (out []peer) {
	t.Helper()
	ctx := context.Background()
	db, err := rocksdb.Engine{}.Open(ctx, engine.Config{
		Dir: t.TempDir(), Durability: model.DurabilityProcess, Options: map[string]any{"transactions": transactions},
		Schema: model.Schema{Tables: []model.Table{{
			Name: "t", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}, {Name: "u", Type: model.Int}},
			Indexes: []model.Index{{Name: "t_u", Columns: []string{"u"}, Unique: true}},
		}}},
	})
	fatal(t, err)
	t.Cleanup(func() { db.Close() })
	fatal(t, db.CreateTables(ctx))
	fatal(t, db.CreateIndexes(ctx, "t", "t_u"))
	for range n {
		s, err := db.Session(ctx)
		fatal(t, err)
		prepare := func(op model.Op) engine.Stmt {
			stmt, err := s.Prepare(ctx, &op)
			fatal(t, err)
			return stmt
		}
		out = append(out, peer{
			t: t, begin: prepare(model.Op{Kind: model.Begin}), commit: prepare(model.Op{Kind: model.Commit}), rollback: prepare(model.Op{Kind: model.Rollback}),
			add: prepare(model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "n", Add: true}}}),
			put: prepare(model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "n", "u"}, Rows: 1}),
			by:  prepare(model.Op{Kind: model.Get, Table: "t", Columns: []string{"n"}}),
		})
	}
	for id := range int64(2) {
		out[0].must(out[0].put, id, 0, id)
	}
	return out
}

func fatal(t *testing.T, err error) {
	t.Helper()
	expect.NoError(t, err)
}

// do executes a statement and returns the class of its error.
func (p *peer) do(stmt engine.Stmt, values ...int64) engine.Class {
	var args []model.Value
	for _, v := range values {
		args = append(args, model.IntValue(v))
	}
	return engine.ClassOf(stmt.Exec(context.Background(), args, &engine.Result{}))
}

func (p *peer) must(stmt engine.Stmt, values ...int64) {
	p.t.Helper()
	if c := p.do(stmt, values...); c != engine.OK {
		p.t.Fatalf("%v fails with class %s", values, c)
	}
}

// value returns n of a row.
func (p *peer) value(id int64) (n int64) {
	r := engine.Result{Each: func(row []model.Value) { n = row[0].Int() }}
	fatal(p.t, p.by.Exec(context.Background(), []model.Value{model.IntValue(id)}, &r))
	return n
}

// yields requires that a transaction fails with a class, in its second operation or
// at the commit, and that its session goes on after a rollback.
func (p *peer) yields(want engine.Class, stmt engine.Stmt, values ...int64) {
	p.t.Helper()
	got := p.do(stmt, values...)
	if got == engine.OK {
		got = p.do(p.commit)
	}
	if got != want {
		p.t.Errorf("%v fails with class %q, want %q", values, got, want)
	}
	p.must(p.rollback)
	p.must(p.add, 1, 1)
}

// losers is the class of the second writer of a row.
var losers = map[string]engine.Class{"optimistic": engine.Conflict, "locks": engine.LockTimeout}

// No update is lost: of two transactions that change a row, the second fails.
func TestLostUpdate(t *testing.T) {
	needLibrary(t, "11.8.1")
	for transactions, loser := range losers {
		p := openPeers(t, transactions, 2)
		p[0].must(p[0].begin)
		p[1].must(p[1].begin)
		p[0].must(p[0].add, 10, 0)
		if transactions == "optimistic" {
			p[1].must(p[1].add, 100, 0)
			p[0].must(p[0].commit)
			p[1].yields(loser, p[1].commit)
		} else {
			p[1].yields(loser, p[1].add, 100, 0)
			p[0].must(p[0].commit)
		}
		// One that began before the commit sees an old snapshot.
		p[0].must(p[0].begin)
		p[0].value(0)
		p[1].must(p[1].add, 1, 0)
		p[0].yields(engine.Conflict, p[0].add, 1000, 0)
		expect.Equal(t, p[1].value(0), 11, transactions, "the row holds", "want 11")
	}
}

// Two transactions cannot insert the same value of a unique index.
func TestTwoInserters(t *testing.T) {
	needLibrary(t, "11.8.1")
	for transactions, loser := range losers {
		p := openPeers(t, transactions, 2)
		p[0].must(p[0].begin)
		p[1].must(p[1].begin)
		p[0].must(p[0].put, 10, 0, 7)
		if transactions == "optimistic" {
			p[1].must(p[1].put, 11, 0, 7)
			p[0].must(p[0].commit)
			p[1].yields(loser, p[1].commit)
		} else {
			p[1].yields(loser, p[1].put, 11, 0, 7)
			p[0].must(p[0].commit)
		}
		expect.Equal(t, p[1].do(p[1].put, 11, 0, 7), engine.Duplicate, transactions, "class", "want a duplicate")
	}
}

// Of two transactions that wait for each other one is the victim.
func TestDeadlock(t *testing.T) {
	needLibrary(t, "11.8.1")
	p := openPeers(t, "locks", 2)
	for i := range p {
		p[i].must(p[i].begin)
		p[i].must(p[i].add, 1, int64(i))
	}
	other := make(chan engine.Class)
	go func() { other <- p[0].do(p[0].add, 1, 1) }()
	victims := 0
	for _, c := range []engine.Class{p[1].do(p[1].add, 1, 0), <-other} {
		if c == engine.Deadlock {
			victims++
		}
	}
	expect.True(t, victims != 0, "no transaction was the victim of the deadlock")
}

// Write skew commits: each reads the row that the other changes.
func TestWriteSkew(t *testing.T) {
	needLibrary(t, "11.8.1")
	for transactions := range losers {
		p := openPeers(t, transactions, 2)
		for i := range p {
			p[i].must(p[i].begin)
			p[i].value(int64(1 - i))
		}
		for i := range p {
			p[i].must(p[i].add, 1, int64(i))
		}
		for i := range p {
			p[i].must(p[i].commit)
		}
	}
}
