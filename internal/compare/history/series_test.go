package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

func find(families []*Family, step, metric string) *Series {
	for _, f := range families {
		for _, s := range f.Series {
			if s.Step == step && s.Metric == metric {
				return s
			}
		}
	}
	return nil
}

// The headline numbers of each step become series; a point is the median of the
// trials.
func TestHeadlineSeries(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 3)
	f, _ := families(s, Pick{})
	expect.Must(t, len(f) == 1 && len(f[0].Runs) == 3, len(f), "families")
	var got []string
	for _, s := range f[0].Series {
		got = append(got, fmt.Sprintf("%s, %s, %d points", s, s.Source, len(s.Points)))
	}
	want := []string{
		"db (pebble) · l.i1 · rows_per_s of insert, , 3 points",
		"db (pebble) · l.i1 · service_p99_us of insert, , 3 points",
		"db (pebble) · l.i1 · cpu_us per insert row, process, 3 points",
		"db (pebble) · l.i1 · read_kb per insert row, device, 3 points",
		"db (pebble) · l.i1 · write_kb per insert row, device, 3 points",
		"db (pebble) · l.i1 · space_amplification, data directory, 3 points",
		"db (pebble) · l.i1 · stall_s of group insert, , 3 points",
		"db (pebble) · settle · space_amplification, data directory, 3 points",
	}
	expect.Same(t, want, got)
	p := f[0].Series[0].Points[1]
	values := []float64{61200 * (1 + 0.01*historytest.Wobble(4)), 61200 * (1 + 0.01*historytest.Wobble(5)), 61200 * (1 + 0.01*historytest.Wobble(6))}
	slices.Sort(values)
	expect.True(t, p.Value == values[1] && p.Trials == 3 && p.Dir == s.Path("night-01") &&
		p.Started.Equal(historytest.Start.AddDate(0, 0, 1)), p, values[1])
}

func TestPick(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 2)
	for name, c := range map[string]struct {
		pick Pick
		want string
	}{
		"a metric that is no headline": {Pick{Metrics: []string{"service_p50_us"}}, "l.i1/service_p50_us"},
		"a metric in all steps":        {Pick{Metrics: []string{"space_amplification"}}, "l.i1/space_amplification settle/space_amplification"},
		"a step":                       {Pick{Steps: []string{"settle"}}, "settle/space_amplification"},
		"another target":               {Pick{Targets: []string{"x"}}, ""},
		"another plan":                 {Pick{Plans: []string{"x"}}, ""},
	} {
		var got []string
		f, _ := families(s, c.pick)
		for _, f := range f {
			for _, s := range f.Series {
				got = append(got, s.Step+"/"+s.Metric)
			}
		}
		expect.Equal(t, strings.Join(got, " "), c.want, name, got)
	}
}

// What cannot be compared is never in one series.
func TestApart(t *testing.T) {
	fact := func(name, value string) func(*result.Trial) {
		return func(t *result.Trial) {
			for i := range t.Host {
				if t.Host[i].Name == name {
					t.Host[i].Value = value
				}
			}
		}
	}
	source := func(begin, target string) func(*result.Trial) {
		return func(t *result.Trial) {
			for i := range t.Steps {
				for k := range t.Steps[i].Rows {
					if r := &t.Steps[i].Rows[k]; r.Source == begin {
						r.Source = target
					}
				}
			}
		}
	}
	named := func(c *result.Campaign, _ []*result.Trial) { c.Name = "weekly" }
	for name, c := range map[string]struct {
		change           func(*result.Campaign, []*result.Trial)
		families, writes int // of write_kb: how many series
	}{
		"nothing":               {historytest.Each(func(*result.Trial) {}), 1, 1},
		"the plan":              {named, 2, 2},
		"the workload":          {historytest.Each(func(t *result.Trial) { t.Workload = "kv" }), 2, 2},
		"a parameter":           {historytest.Each(func(t *result.Trial) { t.Params["rates"] = []any{200.0} }), 2, 2},
		"a parameter more":      {historytest.Each(func(t *result.Trial) { t.Params["new"] = false }), 2, 2},
		"the preset's name":     {historytest.Each(func(t *result.Trial) { t.Preset = "other" }), 1, 1},
		"the processor":         {historytest.Each(fact("cpu", "Xeon")), 2, 2},
		"the memory":            {historytest.Each(fact("memory", "31.2 GiB")), 2, 2},
		"a kernel's memory":     {historytest.Each(fact("memory", "23.47 GiB")), 1, 1},
		"the filesystem":        {historytest.Each(fact("filesystem", "tmpfs")), 2, 2},
		"the host's name":       {historytest.Each(fact("hostname", "other")), 1, 1},
		"the kernel":            {historytest.Each(fact("kernel", "6.12")), 1, 1},
		"the engine":            {historytest.Each(func(t *result.Trial) { t.Engine = "sqlite" }), 1, 2},
		"the engine's version":  {historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v3" }), 1, 1},
		"the device's name":     {historytest.Each(source("device vda", "device nvme0n1")), 1, 1},
		"where it is read":      {historytest.Each(source("device vda", "process")), 1, 2},
		"a setting":             {historytest.Each(func(t *result.Trial) { t.Settings[0].Value = "1" }), 1, 1},
		"how it is divided":     {historytest.Each(func(t *result.Trial) { t.Steps[0].Rows[7].Per = "insert" }), 1, 2},
		"the durability":        {historytest.Each(func(t *result.Trial) { t.Durability = "none" }), 1, 2},
		"the clients":           {historytest.Each(func(t *result.Trial) { t.Steps[0].Groups[0].Clients = 2 }), 1, 2},
		"the rate":              {historytest.Each(func(t *result.Trial) { t.Steps[0].Groups[0].Rate = 500 }), 1, 2},
		"the arrivals":          {historytest.Each(func(t *result.Trial) { t.Steps[0].Groups[0].Pace = "poisson" }), 1, 2},
		"an open loop":          {historytest.Each(func(t *result.Trial) { t.Steps[0].Groups[0].Open = true }), 1, 2},
		"the promise held":      {historytest.Each(historytest.BreakPromise), 1, 1},
		"what was found":        {historytest.Each(func(t *result.Trial) { t.Steps[0].Search = &result.Search{Promise: "p99_ms < 10", Kept: 7} }), 1, 1},
		"the order of the rows": {historytest.Each(func(t *result.Trial) { slices.Reverse(t.Steps[0].Rows) }), 1, 1},
	} {
		s := historytest.New(t)
		s.Nights(0, 2)
		s.Nights(2, 4, c.change)
		f, _ := families(s, Pick{})
		writes, points := 0, 0
		for _, f := range f {
			for _, s := range f.Series {
				if s.Metric == "write_kb" {
					writes++
					points += len(s.Points)
				}
			}
		}
		expect.True(t, len(f) == c.families && writes == c.writes && points == 4, name, len(f), writes, points, c.families, c.writes)
	}
}

// Other rates are other series; so are other
// questions of a search, but only of what it found.
func TestOffers(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 12, historytest.Offer(500, 10))
	s.Nights(12, 24, historytest.Offer(4000, 10), historytest.Scale("rows_per_s", 8))
	found, _ := families(s, Pick{Metrics: []string{"rows_per_s"}})
	n := len(found[0].Series)
	expect.True(t, n == 2 && len(found[0].Series[0].Changes)+len(found[0].Series[1].Changes) == 0, n, found[0].Series)
	s = historytest.New(t)
	s.Nights(0, 2, historytest.Offer(500, 10))
	s.Nights(2, 4, historytest.Offer(500, 50))
	found, _ = families(s, Pick{Metrics: []string{"rows_per_s", "highest_rate"}})
	expect.Equal(t, len(found[0].Series), 3, "series, one of the throughput and two of the highest rate")
}

// Numbers that do not count are left out, and counted.
func TestLeftOut(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 1)
	s.Nights(1, 2, func(c *result.Campaign, trials []*result.Trial) {
		c.Trials[0].Status, trials[0].Status = result.Partial, result.Partial
		c.Trials[1].Status, trials[1].Status = result.Invalid, result.Invalid
	})
	s.Nights(2, 3, func(c *result.Campaign, trials []*result.Trial) {
		for i := range trials {
			c.Trials[i].Status, trials[i].Status = result.Failed, result.Failed
		}
	})
	disturb := func(n int) func(*result.Campaign, []*result.Trial) {
		return func(_ *result.Campaign, trials []*result.Trial) {
			for _, t := range trials[:n] {
				t.Steps[0].Rows[7].Disturbed = true
			}
		}
	}
	s.Nights(3, 4, disturb(2))
	s.Nights(4, 5, disturb(3))
	s.Nights(5, 6, historytest.Each(func(t *result.Trial) { t.Steps[0].Status = result.Partial }))
	f, _ := families(s, Pick{})
	if d := cmp.Diff(map[result.Status]int{result.Partial: 1, result.Invalid: 1, result.Failed: 3}, f[0].LeftOut); d != "" || len(f) != 1 || len(f[0].Runs) != 6 {
		t.Errorf("%d families of %d runs; left out: (-want +got)\n%s", len(f), len(f[0].Runs), d)
	}
	rate, writes, settled := find(f, "l.i1", "rows_per_s"), find(f, "l.i1", "write_kb"), find(f, "settle", "space_amplification")
	counts := func(s *Series) (n []int) {
		for _, p := range s.Points {
			n = append(n, p.Trials)
		}
		return n
	}
	expect.List(t, counts(rate), []int{3, 1, 3, 3}, "throughput: medians of, disturbed")
	expect.Equal(t, rate.Disturbed, 0, "throughput: medians of, disturbed")
	expect.List(t, counts(writes), []int{3, 1, 1}, "writes: medians of, disturbed")
	expect.Equal(t, writes.Disturbed, 5, "writes: medians of, disturbed")
	expect.List(t, counts(settled), []int{3, 1, 3, 3, 3}, "settled: medians of")
}

// A warning travels with its point.
func TestWarnings(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 1)
	s.Nights(1, 2, historytest.Each(func(t *result.Trial) {
		historytest.BreakPromise(t)
		t.Steps[0].Rows[3].Warnings = []metric.Warning{metric.Untyped("few")}
	}))
	f, _ := families(s, Pick{})
	p99, writes := find(f, "l.i1", "service_p99_us"), find(f, "l.i1", "write_kb")
	d := cmp.Diff([]string{"SLA missed", "few"}, p99.Points[1].Warnings)
	expect.True(t, d == "" && p99.Points[0].Warnings == nil, d)
	expect.Same(t, []string{"SLA missed"}, writes.Points[1].Warnings, "writes")
}

// Whatever campaigns there are, in whatever order of directories: each number of
// a complete trial is in exactly one point, runs of a series are alike, and in
// the order of time.
func TestFamiliesHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := historytest.New(t)
		complete := 0
		plans := map[string]string{} // by directory
		for i := range rapid.IntRange(1, 8).Draw(rt, "runs") {
			c, trials := historytest.Night(rapid.IntRange(0, 100).Draw(rt, "day"))
			c.Started = c.Started.Add(1 << i) // no copies
			c.Name = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "plan")
			for k, tr := range trials {
				tr.Params = map[string]any{"rows": float64(rapid.IntRange(1, 2).Draw(rt, "rows"))}
				tr.Host = []observe.Fact{{Name: "cpu", Value: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "cpu")}}
				tr.Status = rapid.SampledFrom([]result.Status{result.Complete, result.Partial}).Draw(rt, "status")
				if c.Trials[k].Status = tr.Status; tr.Status == result.Complete {
					complete++
				}
			}
			dir := fmt.Sprint(rapid.IntRange(0, 99).Draw(rt, "dir"), "-", i)
			plans[s.Path(dir)] = c.Name
			s.Add(dir, c, trials)
		}
		families, _ := families(s, Pick{})
		seen := map[string]bool{}
		counted := 0
		for _, f := range families {
			key := fmt.Sprint(f.Plan, f.Workload, f.Params, f.Machine)
			expect.Must(rt, !seen[key], "two families of", key)
			seen[key] = true
			for _, s := range f.Series {
				if !slices.IsSortedFunc(s.Points, func(a, b Point) int { return a.Started.Compare(b.Started) }) {
					rt.Fatal("points are not in the order of time")
				}
				for _, p := range s.Points {
					if s.Metric == "rows_per_s" {
						counted += p.Trials
					}
					if plans[p.Dir] != f.Plan || fmt.Sprint(p.trial.Params) != fmt.Sprint(f.Params) || machineOf(p.trial.Host) != f.Machine {
						rt.Fatal("a point of another family")
					}
				}
			}
		}
		expect.Must(rt, counted == complete, counted, "numbers of", complete, "complete trials")
	})
}

func TestMachine(t *testing.T) {
	for _, c := range []struct{ memory, want string }{
		{"23.54 GiB", "24 GiB"}, {"24 GiB", "24 GiB"}, {"981.5 MiB", "1 GiB"}, {"1.5 TiB", "1536 GiB"}, {"lots", "lots"}, {"5 KiB", "5 KiB"},
	} {
		expect.Equal(t, machineOf([]observe.Fact{{Name: "memory", Value: c.memory}}), c.want, c.memory)
	}
	all := machineOf([]observe.Fact{{Name: "load average", Value: "1"}, {Name: "device rotational", Value: "no"}, {Name: "cpu", Value: "x"}, {Name: "cpus online", Value: "2"}})
	expect.Equal(t, all, "x, cpus online 2, device rotational no")
	expect.Equal(t, machineOf(nil), "", "nothing is known of it, but")
}

// JSON has a line per series, from which all of it can be drawn again.
func TestJSON(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 12)
	f, _ := families(s, Pick{})
	var b strings.Builder
	expect.NoError(t, JSON(&b, f))
	n := 0
	for line := range strings.Lines(b.String()) {
		var got struct {
			Plan, Workload, Machine string
			Params                  map[string]any
			Metric                  string
			Points                  []struct{ Value float64 }
			Changes                 *[]Change
			TooFew                  bool `json:"too_few"`
		}
		expect.NoError(t, json.Unmarshal([]byte(line), &got))
		if got.Plan != "nightly" || got.Workload != "ibench" || got.Params["rows"] != 2e6 || !strings.HasPrefix(got.Machine, "AMD EPYC") ||
			got.Metric != f[0].Series[n].Metric || got.Changes == nil || got.TooFew || len(got.Points) != 12 || got.Points[3].Value != f[0].Series[n].Points[3].Value {
			t.Errorf("line %d: %s", n, line)
		}
		n++
	}
	expect.Equal(t, n, len(f[0].Series), "lines of series")
}
