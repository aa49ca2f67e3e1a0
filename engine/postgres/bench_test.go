package postgres

import (
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/need"
	"rumbench/model"
)

// loaded is a session on a table of n rows with three indexes.
func loaded(b *testing.B, n int, options map[string]any) (engine.DB, *session) {
	c := config(need.TempDir(b))
	c.Options = options
	db := open(b, c)
	fill(b, db)
	s := newSession(b, db)
	insert := prepare(b, s, saleInsert(50))
	for i := 0; i < n; i += 50 {
		insert.OK(saleRows(i, 50)...)
	}
	if n > 0 {
		_, err := db.Settle(b.Context())
		must(b, err)
	}
	return db, s
}

// measure runs an operation and reports the time that this process computes
// for, which the server's is not part of.
func measure(b *testing.B, o *enginetest.Operation, args []model.Value, change func(i int)) {
	o.Each = nil
	b.ReportAllocs()
	b.ResetTimer()
	before := ownCPU()
	for i := 0; b.Loop(); i++ {
		change(i)
		must(b, o.Stmt.Exec(b.Context(), args, &o.Result))
	}
	b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

func ownCPU() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkInsert50(b *testing.B) {
	for _, copies := range []bool{false, true} {
		b.Run(map[bool]string{false: "insert", true: "copy"}[copies], func(b *testing.B) {
			_, s := loaded(b, 0, map[string]any{optCopy: copies, "max_wal_size": "4GB"})
			op := saleInsert(50)
			op.Load = true
			measure(b, prepare(b, s, op), enginetest.Values(saleRows(0, 50)), func(int) {})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	const rows = 10_000
	_, s := loaded(b, rows, nil)
	get := prepare(b, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product", "data"}})
	args := make([]model.Value, 1)
	measure(b, get, args, func(i int) { args[0] = model.IntValue(int64(i*7919%rows + 1)) })
}

func BenchmarkScanTen(b *testing.B) {
	_, s := loaded(b, 10_000, nil)
	scan := prepare(b, s, model.Op{Kind: model.Scan, Table: "sale", Index: "market", Lower: model.Inclusive, Limit: 10, Columns: []string{"product", "customer", "price"}})
	args := make([]model.Value, 1)
	measure(b, scan, args, func(i int) { args[0] = model.IntValue(int64(i * 7919 % 10_000)) })
}

func BenchmarkCounters(b *testing.B) {
	db, _ := loaded(b, 10_000, nil)
	var sample engine.Sample
	b.ReportAllocs()
	before := ownCPU()
	for b.Loop() {
		sample.Reset()
		must(b, db.Counters(b.Context(), &sample))
	}
	b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
	b.ReportMetric(float64(len(sample.Points)), "points")
}
