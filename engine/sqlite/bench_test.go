package sqlite

import (
	"testing"

	"rumbench/engine/enginetest"
	"rumbench/model"
)

// loaded is a session on a table of n rows with three indexes.
func loaded(b *testing.B, n int) (*session, *enginetest.Operation) {
	db := open(b, config(b.TempDir()))
	must(b, db.CreateTables(b.Context()))
	must(b, db.CreateIndexes(b.Context(), "sale", "market", "register", "pdc"))
	s := newSession(b, db).(*session)
	insert := prepare(b, s, batch)
	for i := 0; i < n; i += batch.Rows {
		insert.OK(batchRows(i)...)
	}
	return s, insert
}

// batch gives all columns but the number, which makes seven with it.
var batch = saleInsert(50)

func batchRows(start int) []any {
	var rows []any
	for i := range batch.Rows {
		rows = append(rows, saleRow(start+i)...)
	}
	return rows
}

func BenchmarkInsert50(b *testing.B) {
	_, insert := loaded(b, 0)
	args := enginetest.Values(batchRows(0))
	b.ReportAllocs()
	for b.Loop() {
		must(b, insert.Stmt.Exec(b.Context(), args, &insert.Result))
	}
}

func BenchmarkGet(b *testing.B) {
	const rows = 10_000
	s, _ := loaded(b, rows)
	get := prepare(b, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product", "data"}})
	benchmarkReads(b, get, rows)
}

func BenchmarkGetTen(b *testing.B) {
	const rows = 10_000
	s, _ := loaded(b, rows)
	get := prepare(b, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product", "data"}, Keys: 10})
	get.Each = nil
	args := make([]model.Value, 10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for k := range args {
			args[k] = model.IntValue(int64((i+k)*7919%rows + 1))
		}
		must(b, get.Stmt.Exec(b.Context(), args, &get.Result))
	}
}

func BenchmarkScanTen(b *testing.B) {
	s, _ := loaded(b, 10_000)
	scan := prepare(b, s, model.Op{Kind: model.Scan, Table: "sale", Index: "market", Lower: model.Inclusive, Limit: 10, Columns: []string{"product", "customer", "price"}})
	benchmarkReads(b, scan, 10_000)
}

func benchmarkReads(b *testing.B, o *enginetest.Operation, keys int) {
	o.Each = nil
	args := make([]model.Value, 1)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		args[0] = model.IntValue(int64(i*7919%keys + 1))
		must(b, o.Stmt.Exec(b.Context(), args, &o.Result))
	}
}
