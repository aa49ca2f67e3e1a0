package declared

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
	"rumbench/internal/expect"
	"rumbench/workload"
	"rumbench/workload/pace"
	"rumbench/workload/workloadtest"
)

func readTest(t *testing.T, file string, content []byte) *Workload {
	t.Helper()
	d := document()
	w, err := compile(d.ReadFile(file, content)) // what is not used does not matter
	expect.Must(t, err == nil && len(d.Problems) == 0, err)
	return w
}

func newRun(t *testing.T, w workload.Workload, preset string, given map[string]any) workload.Run {
	t.Helper()
	r, err := workload.NewRun(w, preset, given)
	expect.NoError(t, err)
	return r
}

func openMemory(t *testing.T, r workload.Run) engine.DB {
	t.Helper()
	return workloadtest.Open(t, memory.Engine{}, r.Schema())
}

// Every file that comes with rumbench runs twice alike, and with concurrent clients.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("files/*.yaml")
	expect.Must(t, err == nil && len(files) != 0, err, files)
	for _, file := range files {
		content, err := os.ReadFile(file)
		expect.NoError(t, err)
		w := readTest(t, file, content)
		for _, preset := range w.Info().Presets {
			t.Run(w.Info().Name+"/"+preset.Name, func(t *testing.T) {
				small := map[string]any{}
				for _, name := range []string{"rows", "records", "objects"} {
					if w.Info().Param(name) != nil {
						small[name] = int64(250)
					}
				}
				once := func() []workloadtest.State {
					r := newRun(t, w, preset.Name, small)
					return workloadtest.Lockstep(t, r, openMemory(t, r), 1)
				}
				states := once()
				workloadtest.CheckFound(t, file, states)
				workloadtest.Compare(t, file, states, once())
				r := newRun(t, w, preset.Name, small)
				workloadtest.Concurrent(t, r, openMemory(t, r), 1)
			})
		}
	}
}

// Operations of the shipped files allocate nothing.
func TestNoAllocations(t *testing.T) {
	for _, entry := range []struct {
		file, step string
		given      map[string]any
	}{
		{"ycsb", "A", nil}, {"ycsb", "C", nil}, {"ycsb", "D", nil}, {"ycsb", "E", nil}, {"ycsb", "F", nil},
		{"ycsb", "E", map[string]any{"distribution": "zipf"}}, {"ycsb", "E", map[string]any{"distribution": "hotspot"}},
		{"ycsb", "E", map[string]any{"distribution": "exponential"}}, {"ycsb", "E", map[string]any{"distribution": "uniform"}},
		{"zippydb", "requests", nil}, {"up2x", "requests", nil}, {"udb", "requests", nil}, {"queue", "work", nil},
	} {
		t.Run(fmt.Sprint(entry), func(t *testing.T) {
			c := clientOf(t, entry.file, entry.step, entry.given)
			var out workload.Outcome
			one := func() {
				expect.NoError(t, c.Ready(t.Context()))
				out = workload.Outcome{}
				expect.NoError(t, c.Do(t.Context(), &out))
			}
			for range 1000 { // memory grows to its size
				one()
			}
			if n := testing.AllocsPerRun(2000, one); n > 0 {
				t.Errorf("%v allocations per operation", n)
			}
		})
	}
}

// clientOf returns a client of a step, on an engine that does nothing.
func clientOf(t *testing.T, file, step string, given map[string]any) *client {
	t.Helper()
	content, _ := File(file)
	r := newRun(t, readTest(t, file, content), "", given).(*run)
	db := workloadtest.Open(t, null.Engine{}, r.Schema())
	for _, table := range r.tables {
		table.reset(10_000)
	}
	i := slices.IndexFunc(r.steps, func(s workload.Step) bool { return s.Name == step })
	stage, err := r.steps[i].Open(t.Context(), workload.Env{DB: db, Seed: 1, Previous: &workload.Live{}})
	expect.NoError(t, err)
	return workloadtest.Alone(t, db, stage, 0).(*client)
}

// A rate that rises and falls brings mean × period operations in a period, and its
// extremes are the curve's.
func TestWave(t *testing.T) {
	const mean, amplitude, period = 4500.0, 1000.0, 600.0
	a := pace.Arrivals{Segments: wave(mean, amplitude, period, 2*period)}
	for periods := 1.0; periods <= 2; periods++ {
		if n := a.Until(periods * period); math.Abs(n/(mean*period*periods)-1) > 0.001 {
			t.Errorf("%v periods bring %.0f operations, not %.0f", periods, n, mean*period*periods)
		}
	}
	// Of the first half: mean·T/2 + amplitude·T/π.
	if n, want := a.Until(period/2), mean*period/2+amplitude*period/math.Pi; math.Abs(n/want-1) > 0.001 {
		t.Errorf("the first half brings %.0f operations, not %.0f", n, want)
	}
	low, high := math.Inf(1), 0.0
	for _, s := range a.Segments {
		low, high = min(low, s.From), max(high, s.From)
	}
	expect.True(t, math.Abs(low-3500) <= 5 && math.Abs(high-5500) <= 5, "the rate is from", low, "to", high)
}
