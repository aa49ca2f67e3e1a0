package all_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	workloads "rumbench/workload/all"
)

var errLost = errors.New("the connection is lost")

// closing is a database whose sessions fail to close once it has lost its connection.
type closing struct {
	engine.DB
	lost   bool
	opened int // sessions since then
}

func (db *closing) Session(ctx context.Context) (engine.Session, error) {
	s, err := db.DB.Session(ctx)
	if err == nil && db.lost {
		db.opened++
		s = closingSession{s}
	}
	return s, err
}

type closingSession struct{ engine.Session }

func (s closingSession) Close() error { return errors.Join(s.Session.Close(), errLost) }

// TestCheckReportsClose: the check after the first step of a workload reports that its session failed to close.
func TestCheckReportsClose(t *testing.T) {
	checked := 0
	for _, w := range workloads.Workloads() {
		given := maps.Clone(variants[w.Info().Name][0])
		if p := w.Info().Param("check"); p != nil && slices.Contains(p.Enum, "each") {
			given["check"] = "each"
		}
		t.Run(w.Info().Name, func(t *testing.T) {
			r := runOf(t, w, given)
			inner, err := memory.Engine{}.Open(t.Context(), engine.Config{Durability: model.DurabilityNone, Schema: r.Schema()})
			expect.NoError(t, err)
			db := &closing{DB: inner}
			defer db.Close()
			expect.NoError(t, db.CreateTables(t.Context()))
			step := r.Steps()[0]
			stage, err := step.Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true})
			expect.NoError(t, err)
			done := allDone(t, db, &step, stage)
			db.lost = true
			if _, err := stage.Finish(t.Context(), done); db.opened > 0 && !errors.Is(err, errLost) {
				t.Errorf("a session of the check was not closed, and the check returned %v", err)
			}
			checked += min(db.opened, 1)
		})
	}
	expect.True(t, checked >= 4, "only", checked, "workloads check their first step")
}

// allDone does the work of a step, in turns of one operation of each client that does not wait for others.
func allDone(t *testing.T, db engine.DB, step *workload.Step, stage workload.Stage) workload.Totals {
	t.Helper()
	clients, closeAll, err := workload.Seats(t.Context(), step, stage, workload.Part{}, db.Session)
	defer closeAll()
	expect.NoError(t, err)
	done, left := make(workload.Totals, len(clients)), map[workload.Client]int64{}
	for g, group := range clients {
		done[g] = make([]workload.Total, len(step.Groups[g].Ops))
		for _, c := range group {
			left[c] = step.Groups[g].Work
		}
	}
	for len(left) > 0 {
		for g, group := range clients {
			for _, c := range group {
				if waiter, ok := c.(workload.Waiter); left[c] == 0 || ok && waiter.Waits() {
					continue
				}
				err := doOne(t.Context(), c, done[g])
				if left[c]--; left[c] > 0 && err == nil {
					continue
				}
				delete(left, c)
				if f, ok := c.(workload.Finisher); ok && (err == nil || errors.Is(err, workload.ErrDone)) {
					err = f.Finish(t.Context())
				}
				expect.Must(t, err == nil || errors.Is(err, workload.ErrDone), err)
			}
		}
	}
	return done
}

func doOne(ctx context.Context, c workload.Client, totals []workload.Total) error {
	var out workload.Outcome
	if r, ok := c.(workload.Readier); ok {
		if err := r.Ready(ctx); err != nil {
			return err
		}
	}
	if err := c.Do(ctx, &out); err != nil {
		return err
	}
	totals[out.Kind].Ops++
	totals[out.Kind].Work.Add(&out.Work)
	return nil
}
