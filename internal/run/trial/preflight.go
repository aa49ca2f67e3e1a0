package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/run/drive"
	"rumbench/internal/stat/hist"
	"rumbench/internal/text/hint"
	"rumbench/workload"
)

// The limits of a preflight, for each step.
const (
	preflightClients = 2 // of a group
	preflightOps     = 10
	// preflightDraws is the number of operations of a client that draws the
	// kind of each: enough for a kind with a share of one in a hundred.
	preflightDraws = 200
	preflightTime  = 5 * time.Second
)

// triedClients returns how many clients of a group are tried: on each machine one.
func triedClients(t *trial) int {
	if t.Head == nil {
		return preflightClients
	}
	return max(preflightClients, len(t.Head.Machines))
}

// brief returns steps for a preflight: closed loops of a few operations. Of the
// steps that differ only in numbers it has the last one and the one that creates the
// tables, of restarts the last, and none that only warms up for the next. clients are those of a group.
func brief(steps []workload.Step, clients int) (out []workload.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Restart != nil && slices.ContainsFunc(steps[i+1:], restarts) {
			continue
		}
		again := func(o workload.Step) bool { return s.Base != "" && o.Base == s.Base }
		if s.Warmup || !s.Creates && slices.ContainsFunc(steps[i+1:], again) {
			continue
		}
		if s = unpaced(s); !s.Whole {
			s.Seconds = 0
			for g := range s.Groups {
				shorten(&s.Groups[g], clients)
			}
		}
		out = append(out, *s)
	}
	return out
}

func restarts(s workload.Step) bool { return s.Restart != nil }

// shorten leaves a few clients of a group with a few operations each.
func shorten(g *workload.Group, clients int) {
	n := int64(preflightOps)
	scheduled := slices.DeleteFunc(slices.Clone(g.Ops), func(k workload.OpKind) bool { return k.Upkeep })
	if len(scheduled) > 1 {
		n = preflightDraws
	}
	if g.Work > 0 {
		n = min(n, g.Work)
	}
	g.Clients, g.Work = min(g.Clients, clients), n
}

// connectAll opens as many sessions at the same time as the step with the most
// clients needs, and closes them.
func connectAll(ctx context.Context, db engine.DB, steps []workload.Step) error {
	highest := 0
	for i := range steps {
		n := 0
		for _, g := range steps[i].Groups {
			n += g.Clients
		}
		highest = max(highest, n)
	}
	var open []engine.Session
	defer func() {
		for _, s := range open {
			_ = s.Close()
		}
	}()
	for n := range highest {
		s, err := db.Session(ctx)
		if err != nil {
			return fmt.Errorf("open a session for each of %d clients: at number %d: %w", highest, n+1, err)
		}
		open = append(open, s)
	}
	return nil
}

// countStatements returns how many statements the clients of all steps like this one have
// prepared at the same time, if each has as many as one of its group here: the most of a step.
func (t *stepRun) countStatements(each []int64) (highest int64) {
	for _, s := range t.Plan.Run.Steps() {
		if s.Name != t.step.Name && (s.Base == "" || s.Base != t.step.Base) || len(s.Groups) != len(each) {
			continue
		}
		var total int64
		for i, g := range s.Groups {
			total += each[i] * int64(g.Clients)
		}
		highest = max(highest, total)
	}
	return highest
}

// statementLimit returns a check, for when the clients of a preflight's step have prepared
// their statements: whether the server would allow as many as the whole step's clients need.
func (t *stepRun) statementLimit(ctx context.Context) (check func(each []int64) error, err error) {
	l, ok := t.db.(engine.StatementLimiter)
	if !ok || !t.Preflight {
		return func([]int64) error { return nil }, nil
	}
	free, variable, err := l.FreeStatements(ctx)
	return func(each []int64) error {
		n := t.countStatements(each)
		if variable == "" || n <= free {
			return nil
		}
		return hint.Errorf("raise "+variable+" on the server, lower the clients or the tables, or set protocol: text",
			"its clients prepare %d statements, and the server allows %d more (%s)", n, free, variable)
	}, err
}

// tried ends a step of a preflight; none of its numbers matters.
func (t *stepRun) tried(ctx context.Context, stage workload.Stage, res *drive.Result) error {
	if err := cmp.Or(res.Ended, neverDone(t.step, res.Groups)); err != nil {
		return err
	}
	found, err := stage.Finish(ctx, res.Totals())
	switch {
	case err != nil:
		return fmt.Errorf("check the step: %w", err)
	case len(found.Broken) > 0:
		return errors.New(found.Broken[0])
	}
	t.previous = &found.Live
	return t.addSpace(ctx, found.ReadAll)
}

// neverDone returns an error for a kind of operation that always failed.
// Operations of clients that yield to each other may fail occasionally.
func neverDone(step *workload.Step, groups []hist.Group) error {
	for g := range groups {
		for _, e := range groups[g].Errors {
			if e.Kind >= 0 && groups[g].Kinds[e.Kind].Ops == 0 {
				return fmt.Errorf("group %s: %s never succeeded, in %d attempts: %s: %s",
					step.Groups[g].Name, step.Groups[g].Ops[e.Kind].Name, e.Count, e.Class, e.First)
			}
		}
	}
	return nil
}
