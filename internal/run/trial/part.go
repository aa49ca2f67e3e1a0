package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/run/divided"
	"rumbench/workload"
)

// ServePart runs clients of a trial whose server is on another machine, until the line to the campaign hangs
// up. It measures nothing else and writes no file.
func ServePart(ctx context.Context, s Spec, line *divided.Line) error {
	open := func(ctx context.Context, t *divided.Task) (*divided.Step, error) { return openPart(ctx, &s, t) }
	return (&divided.Part{Line: line, Open: open}).Serve(ctx)
}

// openPart joins the server of a task and opens the part's clients of its step.
func openPart(ctx context.Context, s *Spec, t *divided.Task) (_ *divided.Step, err error) {
	step, err := stepNamed(s.Plan.Run.Steps(), t.Step)
	if err != nil {
		return nil, err
	}
	if step, err = t.Numbers.Of(step); err != nil {
		return nil, err
	}
	if k, ok := s.Plan.Run.(workload.Knowing); ok && t.Knowledge != nil {
		if err := k.GoOn(func(into any) error { return json.Unmarshal(t.Knowledge, into) }); err != nil {
			return nil, err
		}
	}
	config := s.Target.Config
	config.Dir = ""
	config.Server = engine.ServerConfig{DSN: t.DSN, Schema: config.Server.Schema, Join: true}
	db, err := s.Engine.Open(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("join the server: %w", err)
	}
	closeSessions := func() {}
	out := &divided.Step{Of: step, Close: func() {
		closeSessions()
		_ = db.Close() // nothing is lost with it
	}}
	out.Stage, err = step.Open(ctx, workload.Env{DB: db, Seed: t.Seed, Results: t.Results, Previous: t.Previous,
		Copied: t.Copied})
	if err == nil {
		out.Clients, closeSessions, err = workload.Seats(ctx, step, out.Stage, t.Part, db.Session)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// stepNamed finds the plan's step of a name. A step at a rate of its own has the name of the plan's before
// an @.
func stepNamed(steps []workload.Step, name string) (*workload.Step, error) {
	for {
		if i := slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == name }); i >= 0 {
			return &steps[i], nil
		}
		at := strings.LastIndex(name, "@")
		if at < 0 {
			return nil, errors.New("the plan has no step " + name)
		}
		name = name[:at]
	}
}
