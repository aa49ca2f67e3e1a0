package trial

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/stat/hist"
	"rumbench/model"
)

const allSteps = "params.steps=[l.i0, l.x, l.i1, l.i2, settle, qr100, qp100]"

// Every number of a real trial has a known metric, its unit and its place, and
// numbers that say the same in different ways agree.
func TestNumbersAgree(t *testing.T) {
	s := spec(t, "bbolt", allSteps, "params.write_rows=1000")
	tr := run(t, s, result.Complete)
	expect.Must(t, len(tr.Steps) == 7, len(tr.Steps), "steps")
	expect.True(t, tr.Host.Value(observe.UsedFact) != "" && (tr.Host.Value("filesystem") != "ext4" || tr.Host.Value(observe.ExtentsFact) != ""), tr.Host)
	for i := range tr.Steps {
		s := &tr.Steps[i]
		expect.Equal(t, s.Status, result.Complete, "step", s.Name, s.Warnings)
		for _, r := range s.Rows {
			m := metric.ByName(r.Metric)
			switch {
			case m == nil:
				t.Errorf("unknown metric %s", r.Metric)
			case m.Unit != r.Unit:
				t.Errorf("%s has unit %q, not %q", r.Metric, r.Unit, m.Unit)
			case r.Target != "bbolt" || r.Trial != 1 || r.Step != s.Name:
				t.Errorf("a number of another step: %+v", r)
			case math.IsNaN(r.Value) || math.IsInf(r.Value, 0) || r.Value < 0:
				t.Errorf("%+v", r)
			}
		}
		checkRates(t, s)
		checkLatencies(t, s)
	}
	for name, want := range map[string]float64{"l.i0": 2000, "l.x": 2100, "l.i1": 2100, "l.i2": 2100, "qr100": 2100} {
		st := step(t, tr, name)
		expect.Equal(t, value(t, st, "", "", "live_rows"), want, "leaves", name)
		db, live := value(t, st, "", "", "db_bytes"), value(t, st, "", "", "live_bytes")
		if v := value(t, st, "", "", "space_amplification"); math.Abs(v-db/live) > 1e-9 || live < want*40 {
			t.Errorf("%s: %v of %v bytes for %v", name, v, db, live)
		}
	}
	expect.True(t, len(step(t, tr, "settle").Settle) != 0, "settle did nothing")
	checkSeries(t, s.Dir, tr)
	checkLatencyLog(t, s.Dir, tr)
}

// checkRates: a rate times the length is what was done, and varieties add up.
func checkRates(t *testing.T, s *result.Step) {
	t.Helper()
	if s.Primary == "" {
		return
	}
	seconds := value(t, s, "", "", "duration_s")
	expect.True(t, seconds == s.Seconds && seconds > 0, "took s or s", s.Name, seconds, s.Seconds)
	for _, g := range s.Groups {
		wholes := map[string]float64{}
		for _, op := range g.Ops {
			if s.Find("rows", op, "") == nil {
				continue // upkeep without an occasion
			}
			units := value(t, s, g.Name, op, "rows")
			if v := value(t, s, g.Name, op, "rows_per_s"); math.Abs(v*seconds-units) > 1e-6*units {
				t.Errorf("%s: %v/s in %v s are not %v", s.Name, v, seconds, units)
			}
			n := float64(row(t, s, g.Name, op, "rows").N)
			if v := value(t, s, g.Name, op, "ops_per_s"); math.Abs(v*seconds-n) > 1e-6*n {
				t.Errorf("%s: %v/s in %v s are not %v operations", s.Name, v, seconds, n)
			}
			if whole, ok := g.Of[op]; ok {
				wholes[whole] += units
			}
		}
		for whole, units := range wholes {
			expect.Equal(t, value(t, s, g.Name, whole, "rows"), units, s.Name, whole)
		}
	}
	expect.True(t, s.Find("rows_per_s", s.Primary, "") != nil, "has no rate of", s.Name, s.Primary)
	for _, name := range []string{"server_cpu_us", "process_write_kb", "host_cpu_us"} {
		if name == metric.ProcessWriteKB && metric.Has(s.Warnings, remark.ImpossibleIO) {
			continue // by large folios
		}
		r := s.Find(name, "", "")
		expect.True(t, r != nil && r.Per != "" && r.N != 0 && r.Source != "", s.Name, name, r)
	}
}

// checkLatencies: percentiles rise, and are of all operations.
func checkLatencies(t *testing.T, s *result.Step) {
	t.Helper()
	for _, g := range s.Groups {
		for _, op := range g.Ops {
			for _, measure := range []string{"service", "response"} {
				last := 0.0
				for _, p := range []string{"p50", "p95", "p99", "p999", "max"} {
					for _, r := range s.Rows {
						if r.Group != g.Name || r.Op != op || r.Metric != measure+"_"+p+"_us" {
							continue
						}
						expect.True(t, r.Value >= last && r.N == row(t, s, g.Name, op, "rows").N,
							"after", s.Name, r, last)
						last = r.Value
					}
				}
				expect.True(t, (measure == "service" || g.Rate > 0) == (last > 0) || s.Find("rows", op, "") == nil,
					"group,: times up to µs", s.Name, g.Name, op, measure, last)
			}
		}
	}
}

// checkSeries: the intervals of a step make its totals, one after the other.
func checkSeries(t *testing.T, dir string, tr *result.Trial) {
	t.Helper()
	type kind struct{ step, group, op string }
	done, end := map[kind]int64{}, map[kind]float64{}
	for _, l := range lines(t, dir, "ops") {
		k := kind{l.Step, l.Group, l.Op}
		done[k] += l.Rows
		expect.True(t, l.Upkeep || math.Abs(end[k]+l.DT-l.T) <= 1e-6,
			"an interval of s ends at after", k, l.DT, l.T, end[k])
		end[k] = l.T
	}
	expect.True(t, len(done) != 0, "no intervals")
	for k, n := range done {
		s := step(t, tr, k.step)
		expect.Equal(t, value(t, s, k.group, k.op, "rows"), float64(n), k, n)
		if end[k] > s.Seconds+tr.Interval { // the last tick may come after the last operation
			t.Errorf("%+v: an interval ends at %v of %v s", k, end[k], s.Seconds)
		}
	}
	sources := map[string]bool{}
	for _, src := range []string{"host", "process", "client", "engine"} {
		for _, l := range lines(t, dir, src) {
			sources[l.Source] = true
			expect.True(t, l.T >= 0 && l.DT > 0 && len(l.V) != 0, l)
			step(t, tr, l.Step)
		}
	}
	expect.Equal(t, len(sources), 4, "sources in the series", sources)
}

// checkLatencyLog: the log holds all latencies, under the tags of their steps.
func checkLatencyLog(t *testing.T, dir string, tr *result.Trial) {
	t.Helper()
	f := expect.Value(os.Open(filepath.Join(dir, result.LatencyFile)))(t)
	defer f.Close()
	dists := expect.Value(hist.ReadLog(f))(t)
	n := 0
	for i := range tr.Steps {
		s := &tr.Steps[i]
		for _, g := range s.Groups {
			for _, op := range g.Ops {
				r := s.Find("service_p99_us", op, "")
				if r == nil {
					continue
				}
				d := dists[result.LatencyTag(s.Name, g.Name, op, "service")]
				expect.True(t, d != nil && d.Count() == r.N && math.Abs(float64(d.Percentile(99))/1e3-r.Value) <= 0.01*r.Value, s.Name, g.Name, op)
				n++
			}
		}
	}
	expect.True(t, n >= 8, "distributions", n)
}

// The client is calibrated on the null engine, for all steps that have clients,
// and its cost stands beside those of the engine.
func TestCalibration(t *testing.T) {
	sets := []string{allSteps, "params.write_rows=1000"}
	null, _ := catalog.Plugins{}.Engine("null")
	c := spec(t, "memory", sets...)
	c.Calibrate, c.Engine = true, null
	c.Target = plan.Target{Name: "client", Engine: "null", Config: engine.Config{Durability: model.DurabilityNone, Schema: c.Plan.Run.Schema()}}
	client := run(t, c, result.Complete)
	for i := range client.Steps {
		s := &client.Steps[i]
		for _, g := range s.Groups {
			expect.True(t, g.Rate == 0 && s.Promise(g.Name) == nil, "step: group is paced", s.Name, g.Name)
			found := false
			for _, r := range s.Rows {
				found = found || r.Group == g.Name && r.Metric == "client_cpu_us" && r.Value > 0 && r.Per != "" && r.N > 0
			}
			expect.True(t, found, "step: no cost of group", s.Name, g.Name)
		}
	}

	s := spec(t, "memory", sets...)
	s.Client = client
	tr := run(t, s, result.Complete)
	for i := range tr.Steps {
		st := &tr.Steps[i]
		if st.Primary == "" {
			continue
		}
		mine := row(t, st, "", "", "client_cpu_us")
		expect.True(t, mine.Value > 0 && mine.Per != "" && mine.Source == "null engine", "step", st.Name, mine)
		expect.True(t, st.WritesPer == st.Primary || st.Find("client_cpu_us", "", "insert row") != nil,
			"step: no cost per insert row", st.Name)
	}
}

// The trials of a block store the same rows, other blocks other rows, unless the seed is fixed.
func TestSeedOfBlock(t *testing.T) {
	rows := func(set string, number int) (uint64, string) {
		s := spec(t, "memory", "params.rows=1k", "params.steps=[l.i0]", "seed="+set)
		s.Trial = number
		tr := run(t, s, result.Complete)
		return tr.Seed, tr.SeedText()
	}
	for _, c := range []struct {
		set, text string
		same      bool
	}{{"7", "per block, from 7", false}, {"fixed 7", "7 for all trials", true}} {
		first, text := rows(c.set, 1)
		second, _ := rows(c.set, 2)
		again, _ := rows(c.set, 2)
		expect.True(t, first == 7 && (second == first) == c.same && again == second && text == c.text,
			"seed", c.set, first, second, again, text)
	}
}

// A workload that chooses among existing rows knows those of the load when the client is
// calibrated, too: it must not count what the null engine returns, which is nothing.
func TestCalibrationKnowsTheRows(t *testing.T) {
	const text = "workload: ycsb\npreset: quick\nparams: {records: 1000, settle: 0, seconds: 0.2}\ntargets: [{engine: \"null\", durability: none}]\n"
	s := planOf(t, text)
	s.Calibrate = true
	run(t, s.with(&faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
		expect.True(t, op.Aggregate != model.Count, "is counted", op.Table)
		return next()
	}}), result.Complete)
}
