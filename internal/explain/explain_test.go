package explain_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/workload"
)

// state is what a trial measures in its only step, per query. It has many fields because
// each rule looks at others.
type state struct {
	server, idle   float64 // µs of processors
	commit, in     float64 // µs of sessions
	pages, twice   float64 // KB written
	others         float64 // µs of processors
	misses, lookup float64
	knobs          map[string]string
	clientBound    bool
	debt           float64            // bytes, before the step
	flushes, can   float64            // of the device, and per second by a probe
	clients        int                // 0: 4
	busiest        float64            // share of the time of the thread that runs most
	rows           float64            // µs of sessions, for row locks
	redo           float64            // KB written to the log, of pages
	undo           float64            // bytes of the server's own files per byte of data
	logs           float64            // likewise, of logs
	blind          bool               // the engine counts nothing of what it writes
	instructions   float64            // by a PMU; 0: there is none
	each           float64            // cycles of an instruction
	sampled        map[string]float64 // µs of server, by subsystem
}

const queries = 10_000

// trial is a trial of two processors and four clients.
func (s state) trial(target string, n int) *result.Trial {
	const client = 5
	all := s.server + client + s.others + s.idle
	seconds := all * queries / 2 / 1e6
	var rows []metric.Row
	put := func(name, op, per string, value float64) {
		rows = append(rows, metric.Row{Target: target, Trial: n, Step: "read", Op: op, Metric: name, Per: per, Value: value, N: queries, Unit: metric.ByName(name).Unit})
	}
	put("rows", "query", "", queries)
	put("rows_per_s", "query", "", queries/seconds)
	put("cpu_us", "", "query", s.server+client)
	put("server_cpu_us", "", "query", s.server)
	put("client_cpu_us", "", "query", client)
	if s.instructions > 0 {
		put("instructions", "", "query", s.instructions)
		put("cycles", "", "query", s.instructions*s.each)
	}
	for name, us := range s.sampled {
		rows = append(rows, metric.Row{Target: target, Trial: n, Step: "read", Metric: "cpu_us", Per: "query", Value: us,
			N: int64(10 * us), Labels: metric.Labels{Subsystem: name}})
	}
	put("write_kb", "", "query", s.pages+s.twice+s.redo+1)
	if !s.blind {
		put("part_kb", "pages", "query", s.pages)
		put("part_kb", "doublewrite", "query", s.twice)
	}
	if s.redo > 0 {
		put("part_kb", "log", "query", s.redo)
	}
	put("space_part", "data", "", 1.5)
	if s.undo+s.logs > 0 {
		put("space_part", "system", "", s.undo)
		put("space_part", "log", "", s.logs)
	}
	put("space_amplification", "", "", 1.5+s.undo+s.logs)
	if s.lookup > 0 {
		put("read_kb", "", "query", 16*s.misses)
		put("cache_misses", "", "query", s.misses)
		put("device_reads", "", "query", s.misses)
		put("cache_hit_ratio", "", "", 1-s.misses/s.lookup)
	}
	put("db_bytes", "", "", 1e9)
	if s.busiest > 0 {
		put("busiest_thread", "purge", "", s.busiest)
	}
	clients := cmp.Or(s.clients, 4)
	rest := float64(clients)*seconds*1e6/queries - s.commit - s.in
	for role, v := range map[string]float64{"commit": s.commit, "executing": s.in, "row lock": s.rows, "client": rest - s.rows} {
		if v > 0 {
			put("wait_us", role, "query", v)
		}
	}
	ns := func(name string, us float64) observe.Change {
		return observe.Change{Name: name, Kind: engine.Counter, Unit: "ns", Value: us * 1e3 * queries}
	}
	counters := []observe.Change{
		ns("host.cpu.busy_ns", all-s.idle), ns("host.cpu.idle_ns", s.idle), ns("process.cpu_ns", s.server), ns("client.cpu_ns", client),
		{Name: "device.flushes", Kind: engine.Counter, Value: s.flushes * queries},
	}
	step := result.Step{Name: "read", Status: result.Complete, Seconds: seconds, Primary: "query", WritesPer: "query", Rows: rows, Counters: counters,
		Groups: []result.Group{{Name: "clients", Clients: clients, Ops: []string{"query"}, Units: map[string]string{"query": "query"}}}}
	if s.clientBound {
		step.Warnings = []metric.Warning{metric.Warn(remark.ClientBound, metric.Values{"share": 50, "processors": 1, "used": 1, "waited": 0})}
	}
	if share := 100 * s.others / all; share > 5 {
		step.Warnings = append(step.Warnings, metric.Warn(remark.ProcessorsShared,
			metric.Values{"all": 1.0, "worker": "the server", "server": 1.0, "share": share}))
	}
	before := result.Step{Name: "load", Status: result.Complete, Seconds: 1,
		Counters: []observe.Change{{Name: engine.CompactionDebt, Kind: engine.Gauge, Unit: "bytes", Value: s.debt}}}
	var ceilings *observe.Ceilings
	if s.can > 0 {
		ceilings = &observe.Ceilings{Reads: 1e6, Writes: 1e6, ReadKB: 1e9, WriteKB: 1e9, Flushes: s.can}
	}
	return &result.Trial{Ceilings: ceilings, Format: result.Format, Target: target, Trial: n, Order: "interleaved", Engine: "mysql", Hosting: result.Server, Workload: "w",
		Status: result.Complete, Durability: "os", Knobs: s.knobs, Steps: []result.Step{before, step},
		Affects: map[string]engine.Aspect{"options.wal_compression": engine.AspectLogCompression}}
}

// usual is a state that others differ from.
func usual() state {
	return state{server: 100, idle: 20, commit: 60, in: 120, pages: 10, twice: 10,
		sampled: map[string]float64{"network": 50, "index search": 40, "compression": 5, "parse and plan": 5}}
}

// explained explains n pairs of trials with some noise.
func explained(base, subject state, n int, seed uint64) *explain.Explanation {
	return explainedOf(noisy(base, subject, n, seed, 0.02))
}

func explainedOf(trials []*result.Trial) *explain.Explanation {
	c := compare.New(trials)
	c.Across.Work = true
	return explain.Explain(c, c.Judge(c.Targets[0], c.Targets[1]))
}

// noisy returns n pairs of trials whose costs have a standard deviation.
func noisy(base, subject state, n int, seed uint64, deviation float64) (trials []*result.Trial) {
	r := rand.New(rand.NewPCG(seed, 1))
	noise := func(s state) state {
		for _, v := range []*float64{&s.server, &s.idle, &s.commit, &s.in, &s.pages, &s.twice, &s.misses} {
			*v *= math.Exp(deviation * r.NormFloat64())
		}
		return s
	}
	for i := range n {
		trials = append(trials, noise(base).trial("a", i+1), noise(subject).trial("b", i+1))
	}
	return trials
}

// first returns the first rule of the step, as the suite of planted causes reads it.
func first(e *explain.Explanation) (rule explain.Rule, sentence string) {
	for _, r := range e.Records() {
		if r.Rule != "" && (r.Proven || r.Metric == "") {
			return r.Rule, r.Sentence
		}
	}
	return "", ""
}

// A planted difference is named first.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*state)
		rule   explain.Rule
		says   string
	}{
		"CPU":            {func(s *state) { s.server = 150 }, explain.RuleCPU, "CPU in network 75"},
		"commits":        {func(s *state) { s.idle, s.commit = 220, 460 }, explain.RuleCommits, "commits wait"},
		"doublewrite":    {func(s *state) { s.twice = 0 }, explain.RuleDoublewrite, "the doublewrite buffer takes 0 KB instead of"},
		"other programs": {func(s *state) { s.others = 60 }, explain.RuleOthers, "other programs used"},
		"the client":     {func(s *state) { s.clientBound = true }, explain.RuleClient, "the bottleneck"},
		"compression": {func(s *state) {
			s.server, s.sampled["compression"], s.knobs = 150, 55, map[string]string{"compression": "zstd"}
		}, "compression", "CPU in compression 55"},
		"log compression": {func(s *state) {
			s.server, s.sampled["compression"], s.knobs = 150, 55, map[string]string{"options.wal_compression": "zstd"}
		}, "log compression", "CPU in compression 55"},
		"text": {func(s *state) {
			s.server, s.sampled["parse and plan"], s.knobs = 150, 60, map[string]string{"protocol": "text"}
		}, "protocol", "CPU in parse and plan 58"},
		"CPU elsewhere": {func(s *state) {
			s.server, s.sampled["network"], s.knobs = 150, 100, map[string]string{"compression": "zstd"}
		}, explain.RuleCPU, "CPU in network"},
		"a hot row":       {func(s *state) { s.rows, s.idle = 200, 205 }, explain.RuleRowLocks, "sessions wait 200 µs instead of 0 µs for row locks"},
		"one thread":      {func(s *state) { s.busiest, s.idle = 0.97, 120 }, explain.RuleSerial, "one thread is the limit while processors idle: purge of b ran for 97 % of the time"},
		"compaction debt": {func(s *state) { s.debt = 1e9 }, explain.RuleStarts, "954 MiB instead of 0 B of compaction debt"},
	} {
		t.Run(name, func(t *testing.T) {
			subject := usual()
			c.change(&subject)
			rule, sentence := first(explained(usual(), subject, 4, 1))
			expect.Equal(t, rule, c.rule, "rule")
			expect.Contains(t, sentence, c.says, "rule")
		})
	}
}

// Reads are the product of what is looked for and what is missed.
func TestMisses(t *testing.T) {
	base := usual()
	base.lookup, base.misses = 4, 0.4
	state := base
	state.misses = 1.2
	rule, sentence := first(explained(base, state, 4, 1))
	expect.True(t, rule == explain.RuleReads && strings.Contains(sentence, "of its lookups"), rule, sentence)
}

// Throughput whose trials contradict each other has no cause, however much an item moves.
func TestNoCauseOfNoise(t *testing.T) {
	var trials []*result.Trial
	for i, server := range []float64{90, 180, 95, 250} {
		a, b := usual(), usual()
		a.server, b.server, b.commit = 100+float64(i), server, 150+float64(i)
		trials = append(trials, a.trial("a", i+1), b.trial("b", i+1))
	}
	c := compare.New(trials)
	e := explain.Explain(c, c.Judge(c.Targets[0], c.Targets[1]))
	for _, r := range e.Records() {
		expect.True(t, !(r.Metric == "rows_per_s" && r.Proven), r.Item, r.Sentence)
	}
	groups, _ := e.Paragraphs()
	for _, p := range groups {
		expect.Lacks(t, p.Lines[0].Causes, "Because")
	}
}

// What one target does not report is not zero.
func TestUnknownStates(t *testing.T) {
	a, b := usual().trial("a", 1), usual().trial("b", 1)
	b.Steps[0].Counters = []observe.Change{{Name: engine.DirtyBytes, Kind: engine.Gauge, Unit: "bytes", Value: 9e8}}
	c := compare.New([]*result.Trial{a, b})
	for _, r := range explain.Explain(c, c.Judge(c.Targets[0], c.Targets[1])).Records() {
		expect.True(t, r.Rule != explain.RuleStarts, r.Sentence)
	}
}

// Of targets that are equal nothing is said in 95 of 100 campaigns, and where something
// is, it is about chance.
func TestEqualTargets(t *testing.T) {
	for _, deviation := range []float64{0.01, 0.03, 0.1} {
		named := 0
		campaigns := need.Repeats(200, 500)
		for seed := range uint64(campaigns) {
			if rule, _ := first(explainedOf(noisy(usual(), usual(), 4, seed, deviation))); rule != "" {
				named++
			}
		}
		if t.Log(deviation, named); named > campaigns/20 {
			t.Errorf("%d of %d campaigns of equal targets have a cause", named, campaigns)
		}
	}
}

// What one of two engines does not count is no difference.
func TestUncounted(t *testing.T) {
	base, state := usual(), usual()
	base.blind, state.pages = true, 50
	for _, r := range explained(base, state, 4, 1).Records() {
		expect.True(t, r.Metric != "write_kb", r.Item, r.Sentence)
	}
}

// The log is a part of what is written, and log files are one of space: each has its
// sentence.
func TestLogs(t *testing.T) {
	base, state := usual(), usual()
	base.redo, base.undo, base.logs = 1, 0.1, 0.2
	state.redo, state.undo, state.logs = 3, 0.5, 0.9
	state.knobs = map[string]string{"compression": "zstd"}
	var said strings.Builder
	for _, r := range explained(base, state, 4, 1).Records() {
		if r.Proven && r.Item != "total" {
			fmt.Fprintln(&said, r.Metric, r.Sentence)
		}
	}
	expect.All(t, said.String(), "write_kb the log takes 3.00 KB instead of 1.00 KB", "space_amplification log files take 0.900× instead of 0.200× the live data",
		"space_amplification undo, old row versions and the server’s own files take 0.500× instead of 0.100× the live data")
}

// Fewer than three trials prove nothing.
func TestFewTrials(t *testing.T) {
	state := usual()
	state.server = 200
	e := explained(usual(), state, 2, 1)
	rule, sentence := first(e)
	expect.True(t, rule == "", rule, sentence)
	groups, _ := e.Paragraphs()
	expect.Contains(t, strings.Join(e.Lead(), " "), "Nothing here is proven")
	for _, p := range groups {
		if text := fmt.Sprint(p.Lines); strings.Contains(text, "Because") || strings.Contains(text, "proven") || strings.Contains(text, "%") {
			t.Error(text)
		}
	}
}

// The order of rows does not matter, and the same input gives the same bytes.
func TestRecordsAreStable(t *testing.T) {
	state := usual()
	state.server, state.twice = 150, 0
	var texts []string
	trials := noisy(usual(), state, 4, 1, 0.02)
	for range 3 {
		c := compare.New(trials)
		var b bytes.Buffer
		expect.NoError(t, metric.WriteLines(&b, explain.Explain(c, c.Judge(c.Targets[0], c.Targets[1])).Records()))
		texts = append(texts, b.String())
		for _, trial := range trials {
			for i := range trial.Steps {
				rows, counters := trial.Steps[i].Rows, trial.Steps[i].Counters
				rand.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
				rand.Shuffle(len(counters), func(a, b int) { counters[a], counters[b] = counters[b], counters[a] })
			}
		}
	}
	expect.Equal(t, texts[0], texts[1], "another order of rows gives different bytes")
	expect.Equal(t, texts[0], texts[2], "another order of rows gives different bytes")
	expect.Contains(t, texts[0], `"ledger":"processors"`)
	expect.Contains(t, texts[0], `"item":"CPU in network"`)
}

// What other programs wrote is no deviation from a model: in its place is what the
// engine's processes wrote or, where that is not known, nothing. Others disturb one side here.
func TestPredictedBesideOthers(t *testing.T) {
	predicted := func(change func(*result.Step)) []explain.Prediction {
		trials := noisy(usual(), usual(), 4, 1, 0.02)
		for i, tr := range trials {
			s := &tr.Steps[1]
			s.Touches = []workload.Touch{{Table: "t", PerUnit: 1, Changes: true}}
			s.Rows = append(s.Rows, metric.Row{Metric: "object_bytes", Labels: metric.Labels{Object: "t"}, Value: 100 << 20},
				metric.Row{Metric: "live_bytes", Value: 1e8})
			s.Counters = append(s.Counters, observe.Change{Name: engine.WriteCommits, Kind: engine.Counter, Value: queries})
			s.Structure = engine.Structure{Shape: engine.CopyOnWrite, Page: 4096, Commit: 8192}
			if i%2 == 0 {
				change(s)
			}
		}
		return explainedOf(trials).Steps[0].Predicted
	}
	disturb := func(s *result.Step) {
		row := s.Find("write_kb", "", "")
		row.Disturbed, row.Value = true, row.Value+50
	}
	if p := predicted(func(*result.Step) {}); len(p) != 2 || !p[0].Fits() {
		t.Errorf("alone: %+v", p)
	}
	expect.Equal(t, len(predicted(disturb)), 1, "beside others")
	p := predicted(func(s *result.Step) {
		disturb(s)
		s.Rows = append(s.Rows, metric.Row{Metric: "process_write_kb", Per: "query", Value: 21, N: queries})
	})
	expect.True(t, len(p) == 2 && math.Abs(p[0].Measured-21) <= 1e-9 &&
		p[1].Measured != 21, "by the engine's processes", p)
}
