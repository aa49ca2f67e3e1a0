package report

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// The greatest campaign that a page must hold in 5 MB.
const (
	bigTargets = 10
	bigSteps   = 10
	bigTrials  = 3
	bigLimit   = 5_000_000
)

// big makes up such a campaign, with as many numbers, counters, settings and
// warnings as trials of servers have, and the digits that measured numbers have.
func big(targets int) Input {
	rnd := rand.New(rand.NewPCG(1, 2))
	in := Input{Title: "servers", Plan: "name: ten\n", Commands: []string{"rumbench run ten.yaml"}}
	for target := range targets {
		for n := range bigTrials {
			t := bigTrial(rnd, target, n+1)
			in.Trials = append(in.Trials, Trial{Trial: t, Series: bigSeries(t)})
		}
	}
	return in
}

func bigTrial(rnd *rand.Rand, target, n int) *result.Trial {
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	t := &result.Trial{
		Format: result.Format, Campaign: "ten", Target: fmt.Sprintf("my80%d.c10b40", target), Trial: n, Order: "interleaved", Engine: "mysql", Structure: "B-tree", Workload: "ibench",
		Params: map[string]any{"rows": 2e6}, Knobs: map[string]string{"cache": "256 MiB"}, Durability: "process", Interval: 1, Status: result.Complete,
		Started: start, Ended: &start, Versions: []observe.Fact{{Name: "server", Value: fmt.Sprintf("8.0.%d", target)}}, Host: []observe.Fact{{Name: "kernel", Value: "6.12"}},
	}
	for i := range 200 {
		t.Settings = append(t.Settings, engine.Setting{Name: fmt.Sprintf("innodb_setting_number_%d", i), Value: fmt.Sprint(i << (target % 3)), Source: engine.ReadBack})
	}
	for i := range bigSteps {
		t.Steps = append(t.Steps, bigStep(rnd, t, i))
	}
	return t
}

// loads is how many steps insert only, as those of the insert benchmark.
const loads = 4

// bigStep returns a step of inserts, or of queries beside paced writes: about 150 rows.
func bigStep(rnd *rand.Rand, t *result.Trial, i int) result.Step {
	s := result.Step{Name: fmt.Sprintf("qr%d00.L%d", i, i), Doc: "Range queries beside inserts and deletes.", Status: result.Complete, Seconds: 1800, Primary: "query", WritesPer: "insert", Started: t.Started}
	groups := []result.Group{
		{Name: "insert", Clients: 4, Rate: 100, Ops: []string{"insert"}}, {Name: "delete", Clients: 4, Rate: 100, Ops: []string{"delete"}},
		{Name: "query", Clients: 8, Ops: []string{"range market", "range register", "range pdc"}},
	}
	if i < loads {
		s.Name, s.Doc, s.Primary = fmt.Sprintf("l.i%d", i), "Inserts and deletes.", "insert"
		groups = []result.Group{{Name: "insert", Clients: 4, Ops: []string{"insert"}}, {Name: "delete", Clients: 4, Ops: []string{"delete"}}}
	}
	add := func(group, op, per string, metrics ...string) {
		for _, m := range metrics {
			s.Rows = append(s.Rows, metric.Row{Target: t.Target, Trial: t.Trial, Step: s.Name, Group: group, Op: op, Metric: m, Per: per,
				Value: asMeasured(m, per, centre(t.Target, s.Name, group, op, m, per)*(1+0.03*rnd.NormFloat64())), Unit: metric.ByName(m).Unit, N: 10_000 + rnd.Int64N(5e4), Source: "device vda"})
		}
	}
	for _, g := range groups {
		add(g.Name, "", "", "errors", "stalls", "stall_s", "stall_longest_s")
		ops, measures := g.Ops, []string{"service"}
		if g.Name == "query" {
			ops = append(ops, "query")
		}
		if g.Rate > 0 {
			add(g.Name, "", "", "sla_target", "sla_share", "sla_met", "saturated")
			var b account.Builder
			b.Promise(g.Name, &metric.SLA{Target: 100, Achieved: 99.98 + rnd.Float64(), Intervals: 1800, Share: 1, Worst: 99, Met: true})
			s.Rows = append(s.Rows, b.Rows...)
			ops, measures = g.Ops, []string{"service", "response"}
		}
		for _, op := range ops {
			add(g.Name, op, "", "rows", "ops_per_s", "rows_per_s")
			for _, m := range measures {
				c := metric.Curve{Group: g.Name, Op: op, Measure: m, Count: 60000}
				for p := range 40 {
					c.Points = append(c.Points, [2]float64{100 * (1 - math.Pow(10, -float64(p)/8)), 100 * math.Exp(float64(p)/6) * (1 + rnd.Float64()/9)})
				}
				s.Curves = append(s.Curves, c)
				for _, q := range []string{"p50", "p95", "p99", "p999", "max"} {
					add(g.Name, op, "", m+"_"+q+"_us")
				}
			}
		}
		s.Groups = append(s.Groups, g)
	}
	add("", "", "", "cpu_accounted", "duration_s", "write_amplification", "read_amplification", "drain_s", "client_gc_pause_ms", "live_rows", "live_bytes", "server_memory_bytes", "db_bytes", "data_bytes", "log_bytes", "space_amplification")
	for _, per := range []string{"query", "insert row", "written row", "operation"}[min(1, loads/(i+1)):] {
		add("", "", per, "cpu_us", "server_cpu_us", "process_read_kb", "process_write_kb", "host_cpu_us", "context_switches", "device_reads", "read_kb", "write_kb", "discard_kb", "client_cpu_us", "engine_write_kb")
	}
	warnings := []metric.Warning{metric.Warn(remark.LowerBound, metric.Values{"written": 100 * rnd.Float64(), "deferred": rnd.Float64()}),
		metric.Warn(remark.Disturbed, metric.Values{"did": "wrote", "all": 100 * rnd.Float64(), "others": rnd.Float64()})}
	for k := range s.Rows {
		if k%5 == 0 {
			s.Rows[k].Warnings = warnings[k%2 : k%2+1]
		}
	}
	for k := range 400 {
		kind := []engine.CounterKind{engine.Counter, engine.Counter, engine.Gauge}[k%3]
		s.Counters = append(s.Counters, result.CounterChange{Name: fmt.Sprintf("mysql.status.innodb_counter_%d", k), Kind: kind, Unit: []string{"count", "bytes"}[k%2], Value: math.Floor(math.Exp(25 * rnd.Float64()))})
	}
	for _, role := range engine.Roles()[4:] {
		add("", string(role), "", "wait_share")
		add("", string(role), "query", "wait_us")
		add("", string(role), "", "wait_share")
		s.Rows[len(s.Rows)-1].Labels = metric.Labels{State: string(engine.Waiting), Event: "synch/mutex/innodb/" + string(role)}
	}
	add("", string(engine.RoleLog), "query", "timed_wait_us")
	s.Stalls = []metric.Span{{Group: "query", From: 100, To: 103}}
	return s
}

// asMeasured rounds a number to what clocks and counters give.
func asMeasured(name, per string, v float64) float64 {
	switch m := metric.ByName(name); {
	case per != "":
		return v // a quotient
	case m.Unit == "µs":
		return math.Round(v*1e3) / 1e3
	case m.Unit == "B" || m.Unit == "count":
		return math.Round(v)
	}
	return v
}

// centre returns where the trials of a number lie.
func centre(name ...string) float64 {
	h := fnv.New32a()
	for _, n := range name {
		h.Write([]byte(n))
	}
	return math.Exp(float64(h.Sum32()%10000) / 1000)
}

// bigSeries yields half an hour per step.
func bigSeries(t *result.Trial) func(func(result.Line) error) error {
	return func(yield func(result.Line) error) error {
		for i := range t.Steps {
			s := &t.Steps[i]
			rnd := rand.New(rand.NewPCG(uint64(i), uint64(len(t.Target))))
			for sec := 1; sec <= int(s.Seconds); sec += 2 {
				for _, l := range bigLines(rnd, s, float64(sec+1)) {
					if err := yield(l); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

func bigLines(rnd *rand.Rand, s *result.Step, at float64) []result.Line {
	var lines []result.Line
	for _, g := range s.Groups {
		for _, op := range g.Ops {
			rows := 1000 + rnd.Int64N(9000)
			lines = append(lines, result.Line{Step: s.Name, Source: "ops", T: at, DT: 2, Group: g.Name, Op: op, Ops: rows, Rows: rows, P50: 90, P99: 400 * (1 + rnd.Float64()), Max: 9000 * (1 + rnd.Float64()), Clients: []int64{rows/2 - 50, rows/2 + 50}})
		}
	}
	values := func(source string, v map[string]float64) {
		lines = append(lines, result.Line{Step: s.Name, Source: source, T: at, DT: 2, V: v})
	}
	values("device", map[string]float64{`device.write_bytes{dev="vda"}`: 1e8 * rnd.Float64(), `device.read_bytes{dev="vda"}`: 1e8 * rnd.Float64()})
	values("process", map[string]float64{"process.cpu_ns": 1.5e9 * rnd.Float64()})
	values("client", map[string]float64{"client.cpu_ns": 1.5e9 * rnd.Float64()})
	return lines
}

// The usual campaign, and what its report may take with everything folded.
const (
	usualTargets = 3
	usualBytes   = 1_500_000
	usualLines   = 300
	usualHeight  = 11_000 // pixels at a width of 1440, below the first screen
)

// A usual campaign has a page that can be read, and a Markdown that can be posted.
func TestUsualSize(t *testing.T) {
	in := big(usualTargets)
	page := render(t, in)
	var md bytes.Buffer
	expect.NoError(t, Markdown(&md, in, false))
	lines := bytes.Count(md.Bytes(), []byte("\n"))
	t.Logf("%d bytes, %d lines of Markdown", len(page), lines)
	expect.True(t, len(page) <= usualBytes, "the page has bytes, allowed are", len(page), usualBytes)
	expect.True(t, lines <= usualLines, "the Markdown has lines, allowed are", lines, usualLines)
	whole := markdown(t, in)
	expect.True(t, strings.Count(whole, "\n") >= 10*lines, "what is folded is missing where all is wanted")
}

func TestUsualHeight(t *testing.T) {
	b := openBrowser(t)
	b.Show(t, write(t, big(usualTargets)), desktop)
	evaluate[int](t, b, drawAll)
	n := evaluate[int](t, b, `document.documentElement.scrollHeight - document.querySelector("header").offsetHeight`)
	expect.True(t, n <= usualHeight, "the sections are high, allowed are", n, usualHeight)
	b.shoot(t, "usual", math.Inf(1))
}

// The greatest campaign fits into its page.
func TestSize(t *testing.T) {
	need.Long(t) // TestUsualSize, with another size
	page := render(t, big(bigTargets))
	t.Logf("%d bytes", len(page))
	expect.True(t, len(page) <= bigLimit, "the page has bytes, allowed are", len(page), bigLimit)
}
