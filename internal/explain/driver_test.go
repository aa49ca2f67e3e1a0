package explain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// driver is a number that sentences are about.
type driver struct {
	says   string // by which its sentences are known
	device bool   // other programs may be in it
	rare   bool   // missing where it does not occur
	most   float64
	set    func(s *result.Step, v float64)
}

func counter(name string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) {
		s.Counters = append(s.Counters, observe.Change{Name: name, Kind: engine.Counter, Value: v * queries})
	}
}

func row(name, op, per string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) {
		s.Rows = append(s.Rows, metric.Row{Step: "read", Op: op, Metric: name, Per: per, Value: v, N: queries, Unit: metric.ByName(name).Unit})
	}
}

// rated sets a rate of the primary operation by its number per unit.
func rated(name string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) { row(name, "query", "")(s, v*queries/s.Seconds) }
}

var drivers = []driver{
	{"text log", false, false, 8000, counter(account.GrownBytes(engine.MessageFile))},
	{"binary log", false, false, 8000, counter(account.GrownBytes(engine.BinlogFile))},
	{"connections", false, false, 1, counter(engine.Connects)},
	{"it prepares", false, false, 1, counter(engine.Prepares)},
	{"sorts or temporary tables", false, false, 1, counter(engine.Spills)},
	{"waits for rows", false, false, 1, counter(engine.LockWaits)},
	{"attempts are repeated", false, true, 1, func(s *result.Step, v float64) { row("retries", "query", "")(s, v*queries) }},
	{"it executes", false, false, 20, rated("queries_per_s")},
	{"it commits", false, false, 1, rated("ops_per_s")},
	{"each sync", false, false, 1, row("log_syncs", "", "query")},
	{"compactions write", false, true, 40, func(s *result.Step, v float64) {
		row("part_kb", "compaction", "query")(s, v)
		row("part_kb", "flush", "query")(s, 0.01)
	}},
	{"it syncs its log", false, false, 1, counter(engine.LogSyncs)},
	{"it looks up", false, false, 50, counter(engine.CacheLookups)},
	{"its commits write", false, false, 5, counter(engine.PageWrites)},
	{"entries of deleted", false, false, 50, counter(engine.DeadEntries)},
	{"besides what changed", false, false, 40, func(s *result.Step, v float64) {
		s.Structure.Commit = 1024
		counter(engine.WriteCommits)(s, v)
	}},
	{"it logs", false, false, 20_000, counter(engine.LogBytes)},
	{"are in progress", false, true, 1, func(s *result.Step, v float64) {
		s.Groups = append(s.Groups, result.Group{Name: "beside", Clients: 1, Rate: 10, Ops: []string{"other"}, Units: map[string]string{"other": "operation"}})
		s.Rows = append(s.Rows, metric.Row{Step: "read", Group: "beside", Op: "other", Metric: "service_total_s", Value: v * s.Seconds, N: 10, Unit: "s"})
	}},
	{"whole pages take", false, true, 40, row("part_kb", "pages in the log", "query")},
	{"it examines", false, false, 100, row("rows_examined", "", "query")},
	{"held up writes", false, false, 0.3, func(s *result.Step, v float64) { row("engine_stall_s", "", "")(s, v*s.Seconds) }},
	{"filters skip", false, false, 5, counter(engine.FilterUseful)},
	{"device flushes", true, false, 2, counter("device.flushes")},
	{"a request to the device", true, false, 100, func(s *result.Step, v float64) {
		counter("device.read_ns")(s, v*1e3)
		counter("device.reads")(s, 1)
		counter("device.writes")(s, 0)
		counter("device.write_ns")(s, 0)
		counter("device.queue_ns")(s, v*1e3)
	}},
}

// random is a state of which everything is random.
func random(r *rand.Rand) state {
	some := func(most float64) float64 { return most * r.Float64() }
	s := state{server: 30 + some(200), idle: 10 + some(100), commit: 20 + some(200), in: 50 + some(100), pages: 5 + some(100), twice: 1 + some(50), redo: 1 + some(10)}
	s.can = 1e9 // no device limits it
	return s
}

// said returns all that is said of two targets.
func said(e *explain.Explanation) string {
	var text strings.Builder
	for _, r := range e.Records() {
		if r.Proven || r.Metric == "" {
			fmt.Fprintln(&text, r.Sentence)
		}
	}
	groups, _ := e.Paragraphs()
	for _, p := range groups {
		for _, l := range p.Lines {
			fmt.Fprintln(&text, l.Causes)
		}
	}
	return text.String()
}

// A sentence is about a number that is known on both sides, differs, and is the engine's own.
// Whatever else differs, none is said of a driver that did not move.
func TestDrivers(t *testing.T) {
	campaigns := need.Repeats(12, 20)
	heard := map[string]int{}
	for i := range drivers {
		for _, mode := range []string{"unknown", "known on one side", "zero", "equal", "disturbed", "moved"} {
			d := &drivers[i]
			if mode == "disturbed" && !d.device || mode == "known on one side" && d.rare {
				continue
			}
			for seed := range uint64(campaigns) {
				text := said(explainedOf(driven(d, mode, seed)))
				switch has := strings.Contains(text, d.says); {
				case mode == "moved" && has:
					heard[d.says]++
				case mode != "moved" && has:
					t.Fatalf("%s, %s, seed %d:\n%s", d.says, mode, seed, text)
				}
			}
		}
		expect.True(t, heard[drivers[i].says] != 0, "nothing is ever said of", drivers[i].says)
	}
}

// driven returns the trials of a random campaign in which a driver is as the mode says.
func driven(d *driver, mode string, seed uint64) (trials []*result.Trial) {
	r := rand.New(rand.NewPCG(seed, 7))
	states := []state{random(r), random(r)}
	padding := [2]float64{20 * r.Float64(), 20 * r.Float64()}
	values, absent := map[*driver][2]float64{}, map[*driver]bool{}
	for i := range drivers {
		rival := d.says == "each sync" && drivers[i].says == "device flushes" // which are counted if syncs are not
		absent[&drivers[i]] = &drivers[i] != d && (mode == "moved" || rival || r.IntN(2) == 0)
		values[&drivers[i]] = [2]float64{r.Float64() * drivers[i].most, r.Float64() * drivers[i].most}
	}
	for n := range 4 {
		for side, s := range states {
			s.server *= math.Exp(0.01 * r.NormFloat64())
			s.commit *= math.Exp(0.01 * r.NormFloat64())
			tr := s.trial([]string{"a", "b"}[side], n+1)
			step := &tr.Steps[1]
			step.Counters = step.Counters[:len(step.Counters)-1] // its flushes are a driver
			written := step.Find("write_kb", "", "")
			written.Value += padding[side]
			row("process_write_kb", "", "query")(step, written.Value)
			for i := range drivers {
				o := &drivers[i]
				v := values[o][side] * math.Exp(0.01*r.NormFloat64())
				if o == d {
					switch mode {
					case "unknown":
						continue
					case "known on one side":
						if side == 0 {
							continue
						}
					case "zero":
						v = 0
					case "equal":
						v = values[o][0]
					case "moved":
						v = o.most * float64(side)
					}
				}
				if absent[o] {
					continue
				}
				o.set(step, v)
			}
			if mode == "disturbed" {
				step.Find("write_kb", "", "").Disturbed = true
			}
			trials = append(trials, tr)
		}
	}
	return trials
}

// Of KB written that are lower bounds it says that they are not compared, and what is known of them.
func TestLowerBoundsAreSaid(t *testing.T) {
	base := state{server: 100, idle: 20, commit: 50, in: 80, pages: 5, twice: 5, redo: 1}
	for _, bound := range []bool{true, false} {
		more := base
		more.pages = 40
		trials := noisy(base, more, 4, 3, 0.01)
		for _, tr := range trials {
			row("deferred_kb", "", "query")(&tr.Steps[1], 0.5)
			tr.Steps[1].Find("write_kb", "", "").AtLeast = bound
		}
		text := said(explainedOf(trials))
		expect.Equal(t, strings.Contains(text, "the KB written are not compared, as more writes follow the step: "), bound, text)
		expect.True(t, !(bound && !strings.Contains(text, " KB per query and deferred 0.500 KB")), text)
		for _, tr := range trials { // other programs used the device: the KB of the processes replace its own
			step := &tr.Steps[1]
			row("process_write_kb", "", "query")(step, step.Find("write_kb", "", "").Value)
			step.Rows[len(step.Rows)-1].AtLeast = bound
			step.Find("write_kb", "", "").Disturbed = true
		}
		if text := said(explainedOf(trials)); strings.Contains(text, "NaN") || bound && !strings.Contains(text, " KB per query and") {
			t.Error(text)
		}
	}
}
