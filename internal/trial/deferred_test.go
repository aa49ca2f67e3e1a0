package trial

import (
	"math"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// dirty is what an engine says that it has still to write.
func dirty(bytes float64) observe.Source {
	return observe.Source{Name: "engine", Points: []engine.Point{{Name: engine.DirtyBytes, Kind: engine.Gauge, Value: bytes}}}
}

// A step at whose end much more is left to be written than at its beginning has
// not written all that it caused.
func TestDeferredWritesAreMarked(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name          string
		before, after float64
		deferred      float64 // KB
		marked        bool
	}{
		{"a memtable that fills", mb, 9 * mb, 8 * 1024, true},
		{"a steady state", 8 * mb, 8.5 * mb, 512, false},
		{"less than before", 8 * mb, mb, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &window{length: 10 * time.Second,
				before:  snap(from("process", "process.write_bytes", 0.0), from("device", "device.write_bytes", 0.0), dirty(c.before)),
				after:   snap(),
				drained: snap(from("process", "process.write_bytes", 20.0*mb), from("device", "device.write_bytes", 20.0*mb), dirty(c.after)),
			}
			r := newRows(queryStep(), queryResult(), w)
			all := r.costs()
			r.markDeferred(all)
			if got := costOf(all, "deferred_kb"); got == nil || got.value != c.deferred {
				t.Errorf("put off: %+v, want %v KB", got, c.deferred)
			}
			for _, name := range []string{"write_kb", "process_write_kb"} {
				if got := strings.Contains(strings.Join(metric.Texts(costOf(all, name).doubts), ""), "lower bound"); got != c.marked {
					t.Errorf("%s is marked as a lower bound: %v", name, got)
				}
				var row metric.Row
				if costOf(all, name).mark(&row); row.AtLeast != c.marked {
					t.Errorf("the row of %s is a lower bound: %v", name, row.AtLeast)
				}
			}
			if got := len(r.out.Warnings) > 0; got != c.marked || len(r.out.Warnings) > 1 {
				t.Errorf("warnings %q", r.out.Warnings)
			}
		})
	}
}

// What rows cost in the end is what all steps since the last rest wrote, with
// what was written between them and by the settle step.
func TestSettledWrites(t *testing.T) {
	step := func(name, primary, per string, kb, n, after float64, status result.Status) result.Step {
		s := result.Step{Name: name, Primary: primary, WritesPer: primary, Status: status}
		if per != "" {
			s.Rows = append(s.Rows, metric.Row{Metric: "write_kb", Per: per, Value: kb / n, N: int64(n)})
		}
		s.Rows = append(s.Rows, metric.Row{Metric: "after_write_kb", Per: "step", Value: after})
		return s
	}
	load := step("load", "insert", "insert row", 1000, 500, 100, result.Complete)
	index := step("index", "index", "index row", 400, 500, 0, result.Complete)
	more := step("more", "insert", "insert row", 3000, 500, 0, result.Complete)
	rest := step("rest", "", "step", 7000, 1, 0, result.Complete)
	for _, c := range []struct {
		name               string
		steps              []result.Step
		unsettled, settled float64 // NaN: not known
	}{
		{"since the beginning", []result.Step{load, index, more}, 4400.0 / 1000, (4400 + 100 + 500) / 1000.0},
		{"since the last rest", []result.Step{load, index, rest, more}, 3000.0 / 500, 3500.0 / 500},
		{"nothing since the last rest", []result.Step{load, rest}, math.NaN(), math.NaN()},
		{"a step without a figure", []result.Step{load, step("x", "insert", "", 0, 1, 0, result.Complete)}, math.NaN(), math.NaN()},
		{"a step that did not end", []result.Step{load, step("x", "insert", "insert row", 5, 5, 0, result.Partial)}, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRows(&workload.Step{Name: "settle", Settle: &workload.Settle{}}, nil, nil)
			r.trial.res = &result.Trial{Steps: c.steps}
			r.addSettled([]cost{{metric: "write_kb", value: 500, source: "device sda"}})
			for metric, want := range map[string]float64{"unsettled_write_kb": c.unsettled, "settled_write_kb": c.settled} {
				got := math.NaN()
				if row := r.out.Find(metric, "", "insert row"); row != nil {
					got = row.Value
				}
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s is %v, want %v", metric, got, want)
				}
			}
		})
	}
}
