package tpcc

import (
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/workload"
)

// What is unknown of the warm-up's commits is unknown after the next step, too, and
// known again after that.
func TestUncertainWarmup(t *testing.T) {
	r := small(t, map[string]any{"warmup_seconds": 1.0})
	steps := r.steps
	r.steps = steps[:2] // load and index
	db := loaded(t, r, 3)
	for i, c := range []struct {
		step             workload.Step
		uncertain, extra int64
	}{{steps[3], 1, -1}, {steps[4], 0, 0}, {steps[4], 0, 0}} {
		stage, err := c.step.Open(t.Context(), workload.Env{DB: db, Seed: 3, Results: true})
		expect.NoError(t, err)
		s := stage.(*mixStage)
		s.terminals = []*terminal{{tally: tally{uncertain: c.uncertain, changed: totals{payments: c.extra}}}}
		if f, err := stage.Finish(t.Context(), nil); err != nil || len(f.Broken) > 0 {
			t.Errorf("step %d: %q, %v", i, f.Broken, err)
		}
	}
	expect.Equal(t, r.now.uncertain, 0, "the rows were counted, and are uncertain")
}

// The engine rests for a second per million rows, of all tables; notes say what is not as
// in the standard.
func TestSettleAndNotes(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  time.Duration
		notes []string
		not   string
	}{
		{map[string]any{"warehouses": int64(10)}, 65 * time.Second, []string{unaudited, "no keying or think times"}, "not the sizes"},
		{map[string]any{"waits": 0.5, "items": int64(50)}, 60 * time.Second, []string{unaudited, "times × 0.5", "not the sizes of TPC-C: 50 items"}, "no keying"},
	} {
		made, err := workload.NewRun(Workload{}, "", c.given)
		expect.NoError(t, err)
		r := made.(*run)
		expect.Equal(t, r.steps[2].Settle.Floor, c.want, "it rests for")
		s := &mixStage{run: r, waits: r.p.Float("waits"), terminals: make([]*terminal, 5)}
		notes := strings.Join(s.notes(&tally{done: [kinds + 1]int64{newOrder: 1}}), "\n")
		for _, want := range c.notes {
			expect.True(t, strings.Contains(notes, want), want, "is not in", notes)
		}
		expect.True(t, !strings.Contains(notes, c.not), c.not, "is in", notes)
	}
}
