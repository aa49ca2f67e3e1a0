package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/plan"
	"rumbench/internal/run/divided"
	"rumbench/workload"
)

// ServePart runs clients of a trial whose server is on another machine, until the line to the campaign hangs
// up. It measures nothing else and writes no file.
func ServePart(ctx context.Context, s Spec, line *divided.Line) error {
	p := &part{Spec: s}
	return (&divided.Part{Line: line, Open: p.open}).Serve(ctx)
}

// part is a process with clients of a trial.
type part struct {
	Spec
	began bool // a step that it had whole: since then it knows what the head does
}

// open joins the server of a task and opens the part's clients of its step.
func (p *part) open(ctx context.Context, t *divided.Task) (_ *divided.Step, err error) {
	step, err := stepNamed(p.Plan.Run.Steps(), t.Step)
	if err == nil {
		step, err = t.Numbers.Of(step)
	}
	if err == nil && !p.began {
		err = p.goOn(t.Knowledge)
	}
	if err != nil {
		return nil, err
	}
	p.began = t.Whole
	config := p.Target.Config
	config.Dir = ""
	config.Server = engine.ServerConfig{DSN: t.DSNs[0], Gateways: t.DSNs[1:], Turn: t.Part.Index, Expected: t.Servers,
		Schema: config.Server.Schema, Join: true}
	db, err := p.Engine.Open(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("join the server: %w", err)
	}
	closeSessions := func() {}
	out := &divided.Step{Of: step, Knowledge: p.knowledge, Report: reportOf(db), Close: func() {
		closeSessions()
		_ = db.Close() // nothing is lost with it
	}}
	out.Stage, err = step.Open(ctx, workload.Env{DB: db, Seed: t.Seed, Results: t.Results, Previous: t.Previous,
		Copied: t.Copied, Part: t.Part})
	seen, previous := newPreparedOps(), dealtBy(db)
	if err == nil {
		out.Clients, closeSessions, err = workload.Seats(ctx, step, out.Stage, t.Part,
			func(ctx context.Context) (engine.Session, error) {
				s, err := db.Session(ctx)
				if err != nil {
					return nil, err
				}
				return seen.session(s), nil
			})
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	out.Prepared = seen.collected(step, t.Part)
	out.Prepared.Dealt = since(dealtBy(db), previous)
	return out, nil
}

// reportOf returns how sessions of a database report their counts.
func reportOf(db engine.DB) func(context.Context) time.Duration {
	if r, ok := db.(engine.Reporter); ok {
		return r.Report
	}
	return func(context.Context) time.Duration { return 0 }
}

func (p *part) goOn(knowledge []byte) error {
	k, ok := p.Plan.Run.(workload.Knowing)
	if !ok || knowledge == nil {
		return nil
	}
	return k.GoOn(func(into any) error { return json.Unmarshal(knowledge, into) })
}

func (p *part) knowledge() ([]byte, error) {
	if k, ok := p.Plan.Run.(workload.Knowing); ok {
		return json.Marshal(k.Knowledge())
	}
	return nil, nil
}

// stepNamed finds the plan's step of a name, or of one at a rate of its own.
func stepNamed(steps []workload.Step, name string) (*workload.Step, error) {
	for _, name := range []string{name, plan.WithoutRate(name)} {
		if i := slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == name }); i >= 0 {
			return &steps[i], nil
		}
	}
	return nil, errors.New("the plan has no step " + name)
}
