package report

import (
	"fmt"
	"math"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// speed is how a made-up target does in a step.
type speed struct {
	rate, p50     float64 // units/s, µs
	cpu, write    float64 // µs and KB per unit
	stallSeconds  float64
	sizeGB        float64
	misses        bool // its promised rate
	unitsInserted float64
}

// stepPlan is a step of the made-up insert benchmark.
type stepPlan struct {
	name, doc, primary, writes, per, writesPer string
	groups                                     []result.Group
	speeds                                     [3]speed // pebble, sqlite, bbolt
}

var fixtureTargets = []struct{ name, structure, version string }{
	{"pebble", "LSM tree", "v2.1.7"}, {"sqlite", "B-tree", "3.51.2"}, {"bbolt", "copy-on-write B-tree", "v1.5.0"},
}

func fixtureSteps() []stepPlan {
	insert := result.Group{Name: "insert", Clients: 1, Ops: []string{"insert"}}
	remove := result.Group{Name: "delete", Clients: 1, Ops: []string{"delete"}}
	paced := func(g result.Group, rate float64) result.Group { g.Rate, g.Pace = rate, "constant"; return g }
	ranges := result.Group{Name: "query", Clients: 2, Ops: []string{"range market", "range register", "range pdc"}}
	points := result.Group{Name: "query", Clients: 2, Ops: []string{"point"}}
	load := []result.Group{insert}
	both := []result.Group{insert, remove}
	return []stepPlan{
		{"l.i0", "How fast can rows be appended in key order, without secondary indexes?", "insert", "insert", "insert row", "insert row", load,
			[3]speed{{412000, 180, 2.1, 0.11, 0, 0.31, false, 1}, {298000, 240, 3.1, 0.19, 0, 0.33, false, 1}, {97300, 800, 8.9, 0.72, 0, 0.71, false, 1}}},
		{"l.x", "How fast are three secondary indexes built?", "index", "index", "index row", "index row", []result.Group{{Name: "index", Clients: 1, Ops: []string{"index", "insert"}}},
			[3]speed{{901000, 90, 1.0, 0.12, 0, 0.52, false, 1}, {887000, 92, 1.1, 0.11, 0, 0.61, false, 1}, {212000, 350, 4.2, 0.6, 0, 1.4, false, 1}}},
		{"l.i1", "Random maintenance of secondary indexes, 50 rows a commit: the heart of the benchmark.", "insert", "insert", "insert row", "insert row", both,
			[3]speed{{61200, 710, 14.1, 0.82, 0, 0.61, false, 1}, {21400, 2100, 31.5, 6.4, 2, 0.71, false, 1}, {4970, 9100, 98, 16.3, 12, 2.2, false, 1}}},
		{"settle", "The engines come to rest.", "", "", "", "", nil, [3]speed{{sizeGB: 0.55}, {sizeGB: 0.71}, {sizeGB: 2.2}}},
		{"qr100", "Range queries beside 100 rows/s of inserts and deletes.", "query", "insert", "query", "insert row", []result.Group{paced(insert, 100), paced(remove, 100), ranges},
			[3]speed{{9400, 190, 201, 1.4, 0, 0.56, false, 100}, {14800, 120, 131, 7.1, 0, 0.71, false, 100}, {23100, 80, 84, 41, 0, 2.2, false, 100}}},
		{"qp500", "Point queries beside 500 rows/s of inserts and deletes.", "query", "insert", "query", "insert row", []result.Group{paced(insert, 500), paced(remove, 500), points},
			[3]speed{{31000, 60, 64, 1.3, 0, 0.57, false, 500}, {38000, 50, 51, 7.4, 0, 0.72, false, 500}, {52000, 35, 37, 44, 3, 2.3, true, 411}}},
	}
}

// fixture returns a made-up campaign: three targets, six steps.
func fixture(trials int) Input {
	in := Input{
		Title:    "LSM tree against B-trees",
		Plan:     "name: lsm-against-btree\nworkload: ibench\npreset: quick\ntargets: [pebble, sqlite, bbolt]\n",
		Commands: []string{"rumbench run lsm.yaml --out results/lsm", "rumbench report results/lsm"},
		Warnings: []string{"swap was used during the campaign: 12 MiB"},
	}
	for n := 1; n <= trials; n++ {
		for i := range fixtureTargets {
			t := fixtureTrial(i, n)
			in.Trials = append(in.Trials, Trial{Trial: t, Series: fixtureSeries(t)})
		}
	}
	in.Client = fixtureTrial(0, 1)
	in.Client.Target, in.Client.Engine, in.Client.Steps = "null", "null", in.Client.Steps[:1]
	in.Client.Steps[0].Warnings = nil
	for i := range in.Client.Steps[0].Rows {
		in.Client.Steps[0].Rows[i].Target = "null"
	}
	return in
}

func fixtureTrial(i, n int) *result.Trial {
	ft := fixtureTargets[i]
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).Add(time.Duration(n*3+i) * time.Hour)
	end := start.Add(40 * time.Minute)
	t := &result.Trial{
		Format: result.Format, Campaign: "lsm-against-btree", Target: ft.name, Trial: n, Order: "interleaved", Engine: ft.name, Structure: ft.structure,
		Workload: "ibench", Preset: "quick", Params: map[string]any{"rows": 2e6, "clients": 1.0, "seconds": 60.0},
		Knobs: map[string]string{"cache": "256 MiB", "compression": "none"}, Durability: "process", Promise: "commits survive kill -9 of the engine", Seed: 42, Interval: 1,
		Status: result.Complete, Started: start, Ended: &end,
		Versions: []observe.Fact{{Name: "rumbench", Value: "0.1.0"}, {Name: "Go", Value: "go1.26.8"}, {Name: ft.name, Value: ft.version}},
		Settings: []engine.Setting{{Name: "cache", Value: fmt.Sprint(256 << 20 >> (i % 2)), Source: engine.ReadBack}, {Name: ft.name + ".sync", Value: "off", Source: engine.AsSet}},
		Host:     []observe.Fact{{Name: "CPU", Value: "2 × AMD EPYC 7763"}, {Name: "memory", Value: "23.5 GiB"}, {Name: "kernel", Value: "Linux 6.12"}, {Name: "filesystem", Value: "ext4 on vda, discard off"}},
	}
	for j, p := range fixtureSteps() {
		if i == 1 && n > 1 && j == 5 {
			break // the second trial of sqlite is cut short below
		}
		t.Steps = append(t.Steps, fixtureStep(t, p, p.speeds[i], j))
	}
	if len(t.Steps) == 5 {
		t.Status, t.Reason, t.Hint = result.Failed, "qp500: database is locked", "raise options.busy_timeout"
	}
	return t
}

func fixtureStep(t *result.Trial, p stepPlan, v speed, order int) result.Step {
	wobble := 1 + 0.02*math.Sin(float64(t.Trial*7+order*3+len(t.Target)*5))
	s := result.Step{
		Name: p.name, Doc: p.doc, Status: result.Complete, Seconds: 60, Primary: p.primary, WritesPer: p.writes,
		Started: t.Started.Add(time.Duration(order) * 5 * time.Minute),
	}
	b := account.Builder{All: metric.Row{Target: t.Target, Trial: t.Trial, Step: s.Name}}
	b.ObjectSize(engine.Size{Object: "", Bytes: int64(v.sizeGB * (1 << 30)), Kind: engine.Exact})
	b.ObjectSize(engine.Size{Object: "pi1.pdc", Bytes: int64(v.sizeGB * (1 << 27)), Kind: engine.Estimate})
	s.Rows = b.Rows
	add := rowAdder(t, &s)
	add("", "", "db_bytes", v.sizeGB*(1<<30), "B", "")
	live := 0.41
	if order == 0 {
		live = 0.22 // before the indexes
	}
	add("", "", "live_bytes", live*(1<<30), "B", "")
	add("", "", "live_rows", 2e6, "count", "")
	add("", "", "space_amplification", v.sizeGB/live, "ratio", "")
	add("", "", "server_memory_bytes", 412e6, "B", "")
	if p.primary == "" {
		s.Settle = []engine.SettleAction{{Name: "compact", Duration: 2140 * time.Millisecond, Detail: "debt 212 MiB → 0"}}
		return s
	}
	v.rate *= wobble
	add("", "", "cpu_us", v.cpu*wobble, "µs", p.per)
	add("", "", "server_cpu_us", v.cpu*wobble, "µs", p.per)
	add("", "", "host_cpu_us", v.cpu*1.2*wobble, "µs", p.per)
	add("", "", "read_kb", v.write/90, "KB", p.per)
	add("", "", "write_kb", v.write*wobble, "KB", p.writesPer)
	add("", "", "process_write_kb", v.write*0.9*wobble, "KB", p.writesPer)
	add("", "", "write_amplification", v.write*9, "ratio", "")
	add("", "", "drain_s", 0.4, "s", "")
	add("", "", "stall_s", v.stallSeconds, "s", "")
	add("", p.primary, "rows_per_s", v.rate, "1/s", "")
	for _, g := range p.groups {
		s.Groups = append(s.Groups, fixtureGroup(&s, add, p, g, v))
	}
	if v.stallSeconds > 0 {
		s.Stalls = []metric.Span{{Group: p.primary, From: 30, To: 30 + v.stallSeconds}}
		s.Warnings = []metric.Warning{metric.Untyped("two compactions were still running at the end")}
	}
	s.Counters = []result.CounterChange{
		{Name: t.Engine + ".bytes_written", Kind: engine.Counter, Unit: "bytes", Value: v.write * 1e6},
		{Name: t.Engine + ".level_bytes", Labels: `level="6"`, Kind: engine.Gauge, Unit: "bytes", Value: v.sizeGB * 1e9},
	}
	return s
}

type adder func(group, op, metric string, value float64, unit, per string, warnings ...string)

func rowAdder(t *result.Trial, s *result.Step) adder {
	return func(group, op, name string, value float64, unit, per string, warnings ...string) {
		source := map[string]string{"write_kb": "device vda", "read_kb": "device vda", "cpu_us": "process", "server_cpu_us": "process"}[name]
		n := int64(60)
		if metric.IsLatency(name) || unit == "KB" {
			n = 60_000
		}
		s.Rows = append(s.Rows, metric.Row{Target: t.Target, Trial: t.Trial, Step: s.Name, Group: group, Op: op, Metric: name, Value: value, Unit: unit, Per: per, N: n, Source: source, Warnings: metric.UntypedAll(warnings)})
	}
}

func fixtureGroup(s *result.Step, add adder, p stepPlan, g result.Group, v speed) result.Group {
	if g.Rate > 0 {
		share := 1.0
		if v.misses {
			share = 0.81
		}
		b := account.Builder{All: metric.Row{Target: s.Rows[0].Target, Trial: s.Rows[0].Trial, Step: s.Name}}
		b.Promise(g.Name, &metric.SLA{Target: g.Rate, Achieved: v.unitsInserted, Intervals: 60, Share: share, Worst: v.unitsInserted * 0.98, Backlog: 3, MaxLateness: 0.04, Met: !v.misses})
		s.Rows = append(s.Rows, b.Rows...)
	}
	ops := g.Ops
	if len(ops) > 1 && g.Name == p.primary {
		ops = append([]string{p.primary}, ops...)
	}
	for _, op := range ops {
		p50, rate := v.p50, v.rate
		if g.Rate > 0 {
			p50, rate = v.p50*4, v.unitsInserted
		}
		if op != p.primary {
			add(g.Name, op, "rows_per_s", rate/float64(len(g.Ops)), "1/s", "")
		}
		measures := []string{"service"}
		if g.Rate > 0 {
			measures = append(measures, "response")
		}
		for _, m := range measures {
			fixtureLatency(s, add, g.Name, op, m, p50)
		}
	}
	return g
}

func fixtureLatency(s *result.Step, add adder, group, op, measure string, p50 float64) {
	for i, q := range []string{"p50", "p95", "p99", "p999", "max"} {
		var warnings []string
		if q == "p999" && p50 > 5000 {
			warnings = []string{"p99.9 of fewer than 10,000 operations is uncertain"}
		}
		add(group, op, measure+"_"+q+"_us", p50*math.Pow(2.4, float64(i)), "µs", "", warnings...)
	}
	c := metric.Curve{Group: group, Op: op, Measure: measure, Count: 60000}
	for i := 0; i <= 45; i++ {
		n := float64(i) / 10
		c.Points = append(c.Points, [2]float64{100 * (1 - math.Pow(10, -n)), p50 * math.Pow(2.4, n)})
	}
	c.Points = append(c.Points, [2]float64{100, p50 * math.Pow(2.4, 5)})
	s.Curves = append(s.Curves, c)
}

// fixtureSeries yields a minute per step, with its stalls.
func fixtureSeries(t *result.Trial) func(func(result.Line) error) error {
	return func(yield func(result.Line) error) error {
		for _, s := range t.Steps {
			for sec := 1; sec <= int(s.Seconds); sec++ {
				for _, l := range fixtureLines(&s, sec) {
					if err := yield(l); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
}

func fixtureLines(s *result.Step, sec int) []result.Line {
	var lines []result.Line
	speed := 1 + 0.1*math.Sin(float64(sec)/4) + 0.05*math.Sin(float64(sec)*1.7)
	for _, st := range s.Stalls {
		if float64(sec) > st.From && float64(sec) <= st.To {
			speed = 0.02
		}
	}
	rate := 0.0
	if r := s.Find("rows_per_s", s.Primary, ""); r != nil {
		rate = r.Value
	}
	for _, g := range s.Groups {
		for _, op := range g.Ops {
			done := rate * speed / float64(len(g.Ops))
			if g.Rate > 0 {
				done = g.Rate
			}
			lines = append(lines, result.Line{Step: s.Name, Source: "ops", T: float64(sec), DT: 1, Group: g.Name, Op: op, Ops: int64(done), Rows: int64(done), P50: 1e6 / rate, P99: 4e7 / rate / speed, Max: 2e8 / rate / speed})
		}
	}
	return append(lines,
		result.Line{Step: s.Name, Source: "device", T: float64(sec), DT: 1, V: map[string]float64{`device.write_bytes{dev="vda"}`: 8e7*speed + 2e12/(rate+2e4), `device.reads{dev="vda"}`: 12}},
		result.Line{Step: s.Name, Source: "process", T: float64(sec), DT: 1, V: map[string]float64{"process.cpu_ns": 1.4e9*speed + 1e3*rate}})
}
