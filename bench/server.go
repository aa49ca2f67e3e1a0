package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"rumbench/engine"
	"rumbench/engine/mysql"
	"rumbench/internal/observe"
	"rumbench/internal/server"
	"rumbench/model"
)

// serverSampling measures the CPU cost of sampling a real server every second,
// for rumbench and for the server.
func serverSampling(string) ([]budget, error) {
	ctx := context.Background()
	var missing *server.MissingError
	if _, err := server.Find(ctx, server.MariaDB, server.Source{}); errors.As(err, &missing) {
		return []budget{{subject: "sampling a real server", measured: err.Error()}}, nil
	}
	dir, err := os.MkdirTemp("", "rumbench-bench-server-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the server runs as another user
		return nil, err
	}
	table := model.Table{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}
	db, err := mysql.Engine{}.Open(ctx, engine.Config{
		Dir: dir, Storage: "rocksdb", Durability: model.DurabilityProcess, Schema: model.Schema{Tables: []model.Table{table}},
	})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	pids, _ := db.(engine.Hosted).Processes()
	process := observe.NewProcess("/proc", func() []int { return pids })
	s := &observe.Sampler{Collectors: []observe.Collector{observe.NewEngine(db)}}
	const samples = 200
	prev := s.Snapshot(ctx)
	points := len(prev.Sources[0].Points)
	own, theirs := observe.OwnCPU(), cpuOf(ctx, process)
	for range samples {
		cur := s.Snapshot(ctx)
		observe.Diff(prev, cur)
		prev = cur
	}
	own, theirs = observe.OwnCPU()-own, cpuOf(ctx, process)-theirs
	share := func(d time.Duration) float64 { return 100 * d.Seconds() / samples }
	subject := fmt.Sprintf("sampling the %d counters of MariaDB with MyRocks a second: share of one core, ", points)
	return []budget{
		{subject: subject + "rumbench", value: share(own), limit: 1, unit: "%"},
		{subject: subject + "the server", value: share(theirs), limit: 1, unit: "%"},
	}, nil
}

func cpuOf(ctx context.Context, p *observe.Process) time.Duration {
	var s engine.Sample
	if p.Collect(ctx, &s) != nil {
		return 0
	}
	for _, point := range s.Points {
		if point.Name == "process.cpu_ns" {
			return time.Duration(point.Value)
		}
	}
	return 0
}
