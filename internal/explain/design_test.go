package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// slower is a state whose commits take much longer, with a setting.
func slower(knobs map[string]string) state {
	s := usual()
	s.idle, s.commit, s.knobs = 220, 460, knobs
	return s
}

// One difference of targets whose trials alternate is the cause; several are named together,
// and what was not randomized only goes with it.
func TestDesign(t *testing.T) {
	one, two := map[string]string{"options.x": "1"}, map[string]string{"options.x": "1", "options.y": "2"}
	each := func(change func(*result.Trial)) func([]*result.Trial) {
		return func(list []*result.Trial) {
			for _, tr := range list {
				if tr.Target == "b" {
					change(tr)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		knobs  map[string]string
		change func([]*result.Trial)
		says   string
	}{
		"one":  {one, nil, "x 1 instead of the default: this alone makes b 0.3"},
		"two":  {two, nil, "x 1 instead of the default and y 2 instead of the default: together they make b 0.3"},
		"none": {nil, nil, "Nothing that is recorded differs between the two"},
		"mounted otherwise": {nil, func(list []*result.Trial) {
			for i, tr := range list {
				tr.Host = observe.Facts{{Name: "load average", Value: fmt.Sprint(i)}, {Name: "mount options", Value: map[string]string{"a": "rw", "b": "rw,sync"}[tr.Target]}}
			}
		}, "The two differ only in what no rule knows the effect of: mount options: rw and rw,sync."},
		"more data": {nil, func(list []*result.Trial) {
			for _, tr := range list {
				s := &tr.Steps[len(tr.Steps)-1]
				s.Rows = append(s.Rows, metric.Row{Metric: metric.LiveBytes, Unit: "B", Value: map[string]float64{"a": 45 << 20, "b": 476 << 20}[tr.Target]})
			}
		}, "Nothing that is recorded differs between the two, but their data do: 45.0 MiB and 476 MiB."},
		"of two campaigns":   {one, each(func(tr *result.Trial) { tr.Dir = "other/trials/b" }), "the trials of the two did not alternate"},
		"of attached ones":   {one, each(func(tr *result.Trial) { tr.Knobs = map[string]string{"options.x": "1", "dsn": "u@h"} }), "the two are servers of yours"},
		"one after another":  {one, each(func(tr *result.Trial) { tr.Order = "sequential" }), "the trials of the two did not alternate"},
		"beside a neighbour": {one, nil, "Other programs used 47 % of the processors or more beside b, and at most 0 % beside a in read: speed and CPU time are not compared."},
	} {
		t.Run(name, func(t *testing.T) {
			other := slower(c.knobs)
			if name == "beside a neighbour" {
				other.others = 300
			}
			trials := noisy(usual(), other, 4, 1, 0.02)
			if c.change != nil {
				c.change(trials)
			}
			lead := strings.Join(explainedOf(trials).Lead(), " ")
			expect.Contains(t, lead, c.says)
		})
	}
	expect.Equal(t, strings.Join(explained(usual(), usual(), 4, 1).Lead(), " "), "", "of equal targets")
}

// Of structures that differ in kind it is said what each does with a change.
func TestKinds(t *testing.T) {
	trials := noisy(usual(), usual(), 4, 1, 0.02)
	for i, tr := range trials {
		s := &tr.Steps[1]
		s.Structure = engine.Structure{Shape: engine.InPlace}
		if i%2 == 1 {
			tr.Engine, s.Structure.Shape = "rocksdb", engine.Leveled
		}
	}
	e := explainedOf(trials)
	expect.All(t, strings.Join(e.Lead(), "\n"),
		"a changes the pages of B-trees where they are; b appends changes to a log and merges sorted files later")
	list, step := []*compare.Target{e.Base, e.New}, e.Steps[0].Of
	expect.True(t, explain.ShapesDiffer(step, list), "shapes differ")
	expect.Equal(t, explain.Duty(step, list, "log"), "B-tree: log a change before its page is written; LSM tree: append each write, whole")
	expect.Equal(t, explain.Duty(step, list, "parse and plan"), "")
}

// Steps whose other groups promise a rate are explained, and those whose own does are not.
func TestRatedBeside(t *testing.T) {
	for _, of := range []string{"query", "insert"} {
		trials := noisy(usual(), slower(nil), 4, 1, 0.02)
		for _, tr := range trials {
			s := &tr.Steps[1]
			s.Groups = append(s.Groups, result.Group{Name: "writers", Clients: 1, Rate: 10, Ops: []string{of}, Units: map[string]string{of: of}})
		}
		e := explainedOf(trials)
		expect.Equal(t, e.Steps[0].Why == "", of == "insert", "a group with a rate of", of, e.Steps[0].Why)
	}
}

// Knobs that act on the same numbers are named together: a share belongs to the item, and to none
// of them.
func TestKnobsTogether(t *testing.T) {
	subject := usual()
	subject.server, subject.sampled["compression"] = 150, 55
	subject.knobs = map[string]string{"compression": "zstd", "page": "32KiB"}
	text := said(explained(usual(), subject, 4, 1))
	expect.All(t, text, "Where: CPU in compression 55", "compression zstd instead of the default", " or ", "page 32KiB instead of the default")
}

// That CPU is needed, or that the client takes longer, is where the time goes, and no reason.
func TestPlaceIsNoReason(t *testing.T) {
	subject := usual()
	subject.server, subject.sampled = 150, nil
	text := said(explained(usual(), subject, 4, 1))
	expect.True(t, strings.Contains(text, "b needs 151 µs") && !strings.Contains(text, "Because"), text)
}

// What other programs read and wrote on one side only may be the cause.
func TestTraffic(t *testing.T) {
	for _, kb := range []float64{0, 1e6} {
		for _, knobs := range []map[string]string{nil, {"options.x": "1"}} {
			trials := noisy(usual(), slower(knobs), 4, 1, 0.02)
			for _, tr := range trials {
				amount := kb
				if tr.Target == "a" {
					amount = 100
				}
				for _, name := range []string{"others_read_kb", "others_write_kb"} {
					row(name, "", "")(&tr.Steps[1], amount)
					tr.Steps[1].Counters = append(tr.Steps[1].Counters, observe.Change{Name: "process.write_bytes", Kind: engine.Counter, Value: 1e6})
				}
			}
			lead := strings.Join(explainedOf(trials).Lead(), " ")
			expect.Equal(t, strings.Contains(lead, "did not disturb both alike (they read and wrote "), kb > 0, kb, lead)
		}
	}
}
