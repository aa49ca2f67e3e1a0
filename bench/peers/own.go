package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
	"rumbench/workload"
)

// job is the first step of a workload, for rumbench's client to run.
type job struct {
	Target   target
	Workload string
	Params   map[string]any // as in a plan
}

// ownClient runs a job and prints its result. It includes all of rumbench's work
// per operation: drawing, timing and recording it.
func ownClient(ctx context.Context, text string) (err error) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	db, r, err := j.open(ctx)
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

// open attaches to the server and keeps the contents of the schema.
func (j *job) open(ctx context.Context) (engine.DB, workload.Run, error) {
	r, err := j.run()
	if err != nil {
		return nil, nil, err
	}
	e, ok := catalog.Plugins{}.Engine(j.Target.Engine)
	if !ok {
		return nil, nil, fmt.Errorf("there is no engine %q", j.Target.Engine)
	}
	db, err := e.Open(ctx, engine.Config{Durability: j.Target.Durability, Schema: r.Schema(),
		Server: engine.ServerConfig{DSN: j.Target.DSN, Schema: j.Target.Schema, Force: true}})
	return db, r, err
}

func (j *job) run() (workload.Run, error) {
	w, ok := catalog.Plugins{}.Workload(j.Workload)
	if !ok {
		return nil, fmt.Errorf("there is no workload %q", j.Workload)
	}
	given := map[string]any{}
	for name, value := range j.Params { // JSON has only one type of number
		var err error
		if given[name], err = w.Info().Param(name).Parse(value); err != nil {
			return nil, err
		}
	}
	return workload.NewRun(w, "", given)
}

// fill fills the tables of a job by running all steps of its workload. The
// database must stay open as long as the tables are needed.
func (j *job) fill(ctx context.Context) (engine.DB, error) {
	db, r, err := j.open(ctx)
	if err != nil {
		return nil, err
	}
	for i := range r.Steps() {
		step := &r.Steps()[i]
		if step.Creates {
			if err := db.CreateTables(ctx); err != nil {
				return db, err
			}
		}
		if step.Settle != nil {
			_, err = db.Settle(ctx)
		} else {
			_, err = measure(ctx, db, step)
		}
		if err != nil {
			return db, fmt.Errorf("%s: %w", step.Name, err)
		}
	}
	return db, nil
}

func measure(ctx context.Context, db engine.DB, step *workload.Step) (out result, err error) {
	stage, err := step.Open(ctx, workload.Env{DB: db, Seed: uint64(time.Now().UnixNano()), Results: true})
	if err != nil {
		return out, err
	}
	clients, _, err := workload.Seats(ctx, step, stage, workload.Part{}, db.Session) // which closes them
	if err != nil {
		return out, err
	}
	runtime.GC() // collects the garbage from before the transactions
	previous := observe.OwnCPU()
	res, err := drive.Run(ctx, drive.Config{Step: step, Clients: clients, Interval: time.Second})
	if err != nil {
		return out, err
	}
	out.CPU, out.Window = observe.OwnCPU()-previous, res.Window
	if res.Ended != nil {
		return out, fmt.Errorf("the step ended early: %w", res.Ended)
	}
	for _, kind := range res.Totals()[0] {
		out.Transactions += kind.Ops
	}
	return out, nil
}
