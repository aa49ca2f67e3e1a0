package pebble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
	"rumbench/model"
)

// commitTime is how long a sync of the log takes in the benchmark.
const commitTime = 2 * time.Millisecond

// BenchmarkUpdates is the benchmark of decision 5: clients update random rows by
// key, one or more per operation, where a commit takes 2 ms. Each client has a
// table of its own, or all share one.
func BenchmarkUpdates(b *testing.B) {
	for _, tables := range []int{16, 1} {
		for _, rows := range []int{1, 50} {
			for _, clients := range []int{1, 16} {
				b.Run(fmt.Sprintf("tables=%d/rows=%d/clients=%d", tables, rows, clients), func(b *testing.B) {
					benchmarkUpdates(b, tables, rows, clients)
				})
			}
		}
	}
}

// benchRows is the number of rows of all tables together.
const benchRows = 32_000

func benchmarkUpdates(b *testing.B, tables, rows, clients int) {
	ctx := context.Background()
	var schema model.Schema
	for i := range tables {
		schema.Tables = append(schema.Tables, model.Table{
			Name: fmt.Sprint("t", i), Key: []string{"id"},
			Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}},
		})
	}
	c := engine.Config{Dir: b.TempDir(), Durability: model.DurabilityOS, Schema: schema}
	db, err := open(c, syncFS{vfs.Default, func() { time.Sleep(commitTime) }})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.CreateTables(ctx); err != nil {
		b.Fatal(err)
	}
	var work []func() error
	for i := range clients {
		do, err := updater(ctx, db, &schema.Tables[i%tables], benchRows/tables, rows, uint64(i), i < tables)
		if err != nil {
			b.Fatal(err)
		}
		work = append(work, do)
	}
	b.ResetTimer()
	var begun atomic.Int64
	var running sync.WaitGroup
	for _, do := range work {
		running.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
}

// updater returns an operation that updates a number of rows at a time. With
// fill, it fills the table first.
func updater(ctx context.Context, db engine.DB, table *model.Table, size, rows int, seed uint64, fill bool) (func() error, error) {
	s, err := db.Session(ctx)
	if err != nil {
		return nil, err
	}
	var r engine.Result
	if fill {
		insert, err := s.Prepare(ctx, &model.Op{Kind: model.Insert, Table: table.Name, Columns: table.ColumnNames(), Rows: size})
		if err != nil {
			return nil, err
		}
		var args []model.Value
		for i := range int64(size) {
			args = append(args, model.IntValue(i), model.IntValue(0))
		}
		if err := insert.Exec(ctx, args, &r); err != nil {
			return nil, err
		}
	}
	update, err := s.Prepare(ctx, &model.Op{Kind: model.Update, Table: table.Name, Set: []model.Assign{{Column: "n", Add: true}}, Keys: rows})
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 1))
	args := make([]model.Value, 1+rows)
	args[0] = model.IntValue(1)
	return func() error {
		for i := range rows {
			args[1+i] = model.IntValue(random.Int64N(int64(size)))
		}
		return update.Exec(ctx, args, &r)
	}, nil
}
