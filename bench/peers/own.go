package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/engine/mysql"
	"rumbench/engine/postgres"
	"rumbench/internal/drive"
	"rumbench/model"
	"rumbench/workload"
	sysbenchload "rumbench/workload/sysbench"
)

// job is what a process of rumbench's client is to do.
type job struct {
	Target           target
	Test             string
	Clients, Seconds int
}

// ownClient does a job and prints its result. All that rumbench does for an
// operation is in it: drawing it, timing it, recording it.
func ownClient(ctx context.Context, text string) (err error) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	w := sysbenchload.Workload{}
	p, err := w.Info().Resolve("", map[string]any{"tests": []string{j.Test}, "clients": []int64{int64(j.Clients)}, "table_size": int64(rows),
		"read_seconds": float64(j.Seconds), "write_seconds": float64(j.Seconds), "load": false, "check": "none"})
	if err != nil {
		return err
	}
	r, err := w.New(p)
	if err != nil {
		return err
	}
	engines := map[string]engine.Engine{"mysql": mysql.Engine{}, "postgres": postgres.Engine{}}
	db, err := engines[j.Target.Engine].Open(ctx, engine.Config{Durability: model.DurabilityProcess, Schema: r.Schema(),
		Server: engine.ServerConfig{DSN: j.Target.DSN, Schema: j.Target.Schema, Force: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out, err := measure(ctx, db, &r.Steps()[0])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// measure runs a step and counts the CPU time of this process.
func measure(ctx context.Context, db engine.DB, step *workload.Step) (out result, err error) {
	stage, err := step.Open(ctx, workload.Env{DB: db, Seed: uint64(time.Now().UnixNano()), Results: true})
	if err != nil {
		return out, err
	}
	var clients []workload.Client
	for i := range step.Groups[0].Clients {
		session, err := db.Session(ctx)
		if err != nil {
			return out, err
		}
		client, err := stage.Client(ctx, workload.Seat{Client: i, Session: session})
		if err != nil {
			return out, err
		}
		clients = append(clients, client)
	}
	runtime.GC() // what was needed to begin is not the transactions'
	before := cpu()
	res, err := drive.Run(ctx, drive.Config{Step: step, Clients: [][]workload.Client{clients}, Interval: time.Second})
	if err != nil {
		return out, err
	}
	out.CPU, out.Window = cpu()-before, res.Window
	if res.Ended != nil {
		return out, fmt.Errorf("the step ended early: %w", res.Ended)
	}
	for _, kind := range res.Totals()[0] {
		out.Transactions += kind.Ops
	}
	return out, nil
}

// cpu is the CPU time of this process.
func cpu() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
