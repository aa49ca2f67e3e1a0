package all_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
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
			if err != nil {
				t.Fatal(err)
			}
			db := &closing{DB: inner}
			defer db.Close()
			if err := db.CreateTables(t.Context()); err != nil {
				t.Fatal(err)
			}
			step := r.Steps()[0]
			stage, err := step.Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true})
			if err != nil {
				t.Fatal(err)
			}
			done := allDone(t, db, &step, stage)
			db.lost = true
			if _, err := stage.Finish(t.Context(), done); db.opened > 0 && !errors.Is(err, errLost) {
				t.Errorf("a session of the check was not closed, and the check returned %v", err)
			}
			checked += min(db.opened, 1)
		})
	}
	if checked < 4 {
		t.Errorf("only %d workloads check their first step", checked)
	}
}

// allDone does the work of a step, one client after the other.
func allDone(t *testing.T, db engine.DB, step *workload.Step, stage workload.Stage) workload.Totals {
	t.Helper()
	clients, closeAll, err := workload.Seats(t.Context(), step, stage, db.Session)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	done := make(workload.Totals, len(clients))
	for g, group := range clients {
		done[g] = make([]workload.Total, len(step.Groups[g].Ops))
		for _, c := range group {
			for ops := int64(0); err == nil && ops < step.Groups[g].Work; ops++ {
				var out workload.Outcome
				if r, ok := c.(workload.Readier); ok {
					err = r.Ready(t.Context())
				}
				if err == nil {
					err = c.Do(t.Context(), &out)
				}
				if err == nil {
					done[g][out.Kind].Ops++
					done[g][out.Kind].Work.Add(&out.Work)
				}
			}
			if f, ok := c.(workload.Finisher); ok && (err == nil || err == workload.ErrDone) {
				err = f.Finish(t.Context())
			}
			if err != nil && err != workload.ErrDone {
				t.Fatal(err)
			}
			err = nil
		}
	}
	return done
}
