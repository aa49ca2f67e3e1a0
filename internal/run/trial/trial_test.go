package trial

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
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
	if len(tr.Steps) != 7 {
		t.Fatalf("%d steps", len(tr.Steps))
	}
	if tr.Host.Value(observe.UsedFact) == "" || tr.Host.Value("filesystem") == "ext4" && tr.Host.Value(observe.ExtentsFact) == "" {
		t.Errorf("facts about the data's place: %+v", tr.Host)
	}
	for i := range tr.Steps {
		s := &tr.Steps[i]
		if s.Status != result.Complete {
			t.Errorf("step %s is %s: %q", s.Name, s.Status, s.Warnings)
		}
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
		if v := value(t, st, "", "", "live_rows"); v != want {
			t.Errorf("%s leaves %v rows, not %v", name, v, want)
		}
		db, live := value(t, st, "", "", "db_bytes"), value(t, st, "", "", "live_bytes")
		if v := value(t, st, "", "", "space_amplification"); math.Abs(v-db/live) > 1e-9 || live < want*40 {
			t.Errorf("%s: %v of %v bytes for %v", name, v, db, live)
		}
	}
	if len(step(t, tr, "settle").Settle) == 0 {
		t.Error("settle did nothing")
	}
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
	if seconds != s.Seconds || seconds <= 0 {
		t.Errorf("%s took %v s or %v s", s.Name, seconds, s.Seconds)
	}
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
			if v := value(t, s, g.Name, whole, "rows"); v != units {
				t.Errorf("%s: %v %s, the varieties are %v", s.Name, v, whole, units)
			}
		}
	}
	if s.Find("rows_per_s", s.Primary, "") == nil {
		t.Errorf("%s has no rate of %s", s.Name, s.Primary)
	}
	for _, name := range []string{"server_cpu_us", "process_write_kb", "host_cpu_us"} {
		if name == metric.ProcessWriteKB && metric.Has(s.Warnings, metric.ImpossibleIO) {
			continue // by large folios
		}
		if r := s.Find(name, "", ""); r == nil || r.Per == "" || r.N == 0 || r.Source == "" {
			t.Errorf("%s: %s is %+v", s.Name, name, r)
		}
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
						if r.Value < last || r.N != row(t, s, g.Name, op, "rows").N {
							t.Errorf("%s: %+v after %v", s.Name, r, last)
						}
						last = r.Value
					}
				}
				if (measure == "service" || g.Rate > 0) != (last > 0) && s.Find("rows", op, "") != nil {
					t.Errorf("%s, group %s, %s: %s times up to %v µs", s.Name, g.Name, op, measure, last)
				}
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
		if !l.Upkeep && math.Abs(end[k]+l.DT-l.T) > 1e-6 {
			t.Errorf("%+v: an interval of %v s ends at %v after %v", k, l.DT, l.T, end[k])
		}
		end[k] = l.T
	}
	if len(done) == 0 {
		t.Error("no intervals")
	}
	for k, n := range done {
		s := step(t, tr, k.step)
		if v := value(t, s, k.group, k.op, "rows"); v != float64(n) {
			t.Errorf("%+v: %v rows, %d in the series", k, v, n)
		}
		if end[k] > s.Seconds+tr.Interval { // the last tick may come after the last operation
			t.Errorf("%+v: an interval ends at %v of %v s", k, end[k], s.Seconds)
		}
	}
	sources := map[string]bool{}
	for _, src := range []string{"host", "process", "client", "engine"} {
		for _, l := range lines(t, dir, src) {
			sources[l.Source] = true
			if l.T < 0 || l.DT <= 0 || len(l.V) == 0 {
				t.Errorf("%+v", l)
			}
			step(t, tr, l.Step)
		}
	}
	if len(sources) != 4 {
		t.Errorf("sources in the series: %v", sources)
	}
}

// checkLatencyLog: the log holds all latencies, under the tags of their steps.
func checkLatencyLog(t *testing.T, dir string, tr *result.Trial) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, result.LatencyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dists, err := hist.ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
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
				if d == nil || d.Count() != r.N || math.Abs(float64(d.Percentile(99))/1e3-r.Value) > 0.01*r.Value {
					t.Errorf("%s, %s, %s: the log and the rows differ", s.Name, g.Name, op)
				}
				n++
			}
		}
	}
	if n < 8 {
		t.Errorf("%d distributions", n)
	}
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
			if g.Rate != 0 || g.SLA != nil {
				t.Errorf("step %s: group %s is paced", s.Name, g.Name)
			}
			found := false
			for _, r := range s.Rows {
				found = found || r.Group == g.Name && r.Metric == "client_cpu_us" && r.Value > 0 && r.Per != "" && r.N > 0
			}
			if !found {
				t.Errorf("step %s: no cost of group %s", s.Name, g.Name)
			}
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
		if mine.Value <= 0 || mine.Per == "" || mine.Source != "null engine" {
			t.Errorf("step %s: %+v", st.Name, mine)
		}
		if st.WritesPer != st.Primary && st.Find("client_cpu_us", "", "insert row") == nil {
			t.Errorf("step %s: no cost per insert row", st.Name)
		}
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
		if first != 7 || (second == first) != c.same || again != second || text != c.text {
			t.Errorf("seed %s: %d, %d, %d; %s", c.set, first, second, again, text)
		}
	}
}

// A workload that chooses among existing rows knows those of the load when the client is
// calibrated, too: it must not count what the null engine returns, which is nothing.
func TestCalibrationKnowsTheRows(t *testing.T) {
	const text = "workload: ycsb\npreset: quick\nparams: {records: 1000, settle: 0, seconds: 0.2}\ntargets: [{engine: \"null\", durability: none}]\n"
	s := planOf(t, text)
	s.Calibrate = true
	run(t, s.with(&faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
		if op.Aggregate == model.Count {
			t.Errorf("%s is counted", op.Table)
		}
		return next()
	}}), result.Complete)
}
