package account_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/model"
	"rumbench/workload"
)

const (
	kb = 1024.0
	mb = 1024 * kb
)

// counted makes counters: name, value, name, value…
func counted(points ...any) (out []observe.Change) {
	for i := 0; i < len(points); i += 2 {
		out = append(out, observe.Change{Name: points[i].(string), Kind: engine.Counter, Value: points[i+1].(float64)})
	}
	return out
}

// queryStep returns a step of writers, deleters and queries.
func queryStep() *workload.Step {
	return &workload.Step{Name: "q", Primary: "query", WritesPer: "insert", Groups: []workload.Group{
		{Name: "insert", Clients: 1, Ops: []workload.OpKind{{Name: "insert", Unit: "row"}}},
		{Name: "delete", Clients: 1, Ops: []workload.OpKind{{Name: "delete", Unit: "row"}, {Name: "min id", Unit: "query", Upkeep: true}}},
		{Name: "query", Clients: 1, Ops: []workload.OpKind{{Name: "range a", Unit: "query", Of: "query", Returns: true}, {Name: "range b", Unit: "query", Of: "query", Returns: true}}},
	}}
}

func did(counts ...hist.Counts) hist.Group {
	all := hist.NewTotals(hist.Shape{Kinds: len(counts)})
	for i := range counts {
		all.Kinds[i].Counts = counts[i]
	}
	return hist.Group{Totals: all}
}

// queryGroups: 200 rows inserted (by 4 operations, 10 KB), 100 deleted, 1000 queries.
func queryGroups() []hist.Group {
	return []hist.Group{
		did(hist.Counts{Ops: 4, Work: model.Work{Rows: 200, Bytes: 10 << 10}}),
		did(hist.Counts{Ops: 2, Work: model.Work{Rows: 100}}, hist.Counts{Ops: 7, Work: model.Work{Rows: 7}}),
		did(hist.Counts{Ops: 600, Work: model.Work{Rows: 600, Bytes: 1 << 30}}, hist.Counts{Ops: 400, Work: model.Work{Rows: 400, Bytes: 1 << 30}}),
	}
}

func newStep(step *workload.Step, groups []hist.Group, o *account.Observed) *account.Step {
	if o.Device == "" {
		o.Device = "device sda"
	}
	return &account.Step{Builder: account.Builder{All: metric.Row{Target: "x", Trial: 1, Step: step.Name}}, Of: step, Seconds: 10, Groups: account.Groups(step, groups, 0), Observed: o}
}

// observed returns the rows of the query step with what was observed.
func observed(o *account.Observed) *account.Step {
	s := newStep(queryStep(), queryGroups(), o)
	s.Operations()
	return s
}

type figure struct {
	Metric, Per string
	Value       float64
	N           int64
	Source      string
}

// figures returns the rows that were read somewhere.
func figures(s *account.Step) (out []figure) {
	for _, r := range s.Rows {
		if r.Source != "" {
			out = append(out, figure{r.Metric, r.Per, r.Value, r.N, r.Source})
		}
	}
	return out
}

func texts(s *account.Step) string { return strings.Join(metric.Texts(s.Warnings), "; ") }

// The arithmetic of costs: what is of the window and what of the sync after it
// too, and what each is divided by.
func TestCosts(t *testing.T) {
	s := observed(&account.Observed{
		Own:    mb / 2, // of rumbench's files
		Others: account.Others{Known: true, HereWritten: 100 * kb, HereRead: 50 * kb, Traffic: observe.Traffic{Written: 100 * kb, Read: 50 * kb, Processes: 4}},
		InWindow: counted("process.cpu_ns", 2e9, "process.read_bytes", 1000*2048.0, "process.write_bytes", mb*1.0, "process.cancelled_write_bytes", 0.0,
			"host.cpu.user_ns", 1e9, "host.cpu.system_ns", 2e9, "host.cpu.idle_ns", 6e9, "host.cpu.iowait_ns", 5e9, "host.cpu.steal_ns", 1e8,
			"host.cpu.busy_ns", 4e9, "host.cpu.kernel_threads_ns", 1e9, "host.context_switches", 2000.0, "engine.row_lookups", 3000.0,
			"device.reads", 500.0, "device.read_bytes", 1000*4096.0, "device.write_bytes", mb*1.0, "device.discard_bytes", 200*1024.0),
		WithSync: counted("process.cpu_ns", 8e9, "process.read_bytes", 9e9, "process.write_bytes", 3*mb, "process.cancelled_write_bytes", mb*1.0,
			"device.reads", 9e9, "device.read_bytes", 9e9, "device.write_bytes", 2.5*mb, "device.discard_bytes", 400*1024.0),
	})
	const process, host, device, others = "process, engine and client together", "host", "device sda", "/proc/PID/io of 4 other processes"
	per := func(per string, n int64) []figure {
		return []figure{
			{"cpu_us", per, 2e6 / float64(n), n, process},
			{"server_cpu_us", per, 2e6 / float64(n), n, process},
			{"process_read_kb", per, 2000 / float64(n), n, process},
			{"process_write_kb", per, 1536 / float64(n), n, process}, // 3 MiB, of which 1 was cancelled and 0.5 are ours
			{"row_lookups", per, 3000 / float64(n), n, "the engine's own counters"},
			{"host_cpu_us", per, 3e6 / float64(n), n, host}, // user and system; neither waiting nor stolen
			{"context_switches", per, 2000 / float64(n), n, host},
			{"device_reads", per, 500 / float64(n), n, device},
			{"read_kb", per, 4000 / float64(n), n, device},
			{"write_kb", per, 2048 / float64(n), n, device}, // the sync after the window included
			{"discard_kb", per, 400 / float64(n), n, device},
			{"journal_kb", per, (2048 - 1536 - 100) / float64(n), n, "estimate: " + device + " − " + process + " − " + others},
		}
	}
	want := slices.Concat([]figure{{"others_read_kb", "", 50, 0, others}, {"others_write_kb", "", 100, 0, others}, {"cpu_accounted", "", 3.0 / 4, 0, "processes ÷ host"}},
		per("query", 1000), per("insert row", 200), per("written row", 300), per("operation", 1006))
	// Of the writers' bytes only: what queries return is not written.
	want = append(want, figure{"write_amplification", "", 2.0 * mb / (10 << 10), 10 << 10, device},
		figure{"read_amplification", "", 1000 * 4096.0 / (2 << 30), 2 << 30, device})
	expect.Same(t, want, figures(s), "costs")
	expect.True(t, len(s.Warnings) == 0, "warnings", s.Warnings)
}

// CPU time is compared as the sum of engine and clients. Beside a server it is
// split; where one of the two is unknown there is no sum.
func TestCPUOfServerAndClient(t *testing.T) {
	both := counted("process.cpu_ns", 5e6, "client.cpu_ns", 2e6)
	for _, c := range []struct {
		name    string
		hosted  bool
		counted []observe.Change
		want    []string
	}{
		{"embedded", false, both, []string{"cpu_us 5, " + metric.OfProcess, "server_cpu_us 5, " + metric.OfProcess}},
		{"server", true, both, []string{"cpu_us 7, " + metric.OfAll, "server_cpu_us 5, " + metric.OfServer, "client_cpu_us 2, " + metric.OfClient}},
		{"server alone", true, both[:1], []string{"server_cpu_us 5, " + metric.OfServer}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range figures(observed(&account.Observed{Hosted: c.hosted, InWindow: c.counted})) {
				if f.Per == "query" {
					got = append(got, fmt.Sprintf("%s %v, %s", f.Metric, f.Value, f.Source))
				}
			}
			expect.Same(t, c.want, got)
		})
	}
}

// CPU time is split by the shares of samples: the parts add up to what the kernel accounted, clients of a server are
// counted, and from few samples nothing is split.
func TestSubsystems(t *testing.T) {
	sampled := func(search, log int) []profile.SubsystemCPU {
		return []profile.SubsystemCPU{{Subsystem: "index search", CPU: time.Duration(search) * 1e7, Samples: search},
			{Subsystem: "log", CPU: time.Duration(log) * 1e7, Samples: log}}
	}
	both := counted("process.cpu_ns", 5e6, "client.cpu_ns", 2e6)
	for name, c := range map[string]struct {
		hosted  bool
		sampled []profile.SubsystemCPU
		want    []string
	}{
		"embedded":    {false, sampled(60, 40), []string{"index search 3 60 CPU samples", "log 2 40 CPU samples"}},
		"server":      {true, sampled(60, 40), []string{"clients 2 0 " + metric.OfClient, "index search 3 60 CPU samples", "log 2 40 CPU samples"}},
		"few samples": {false, sampled(30, 10), nil},
		"unknown":     {false, nil, nil},
	} {
		var got []string
		for _, r := range observed(&account.Observed{Hosted: c.hosted, InWindow: both, Subsystems: c.sampled}).Rows {
			if r.Labels.Subsystem != "" {
				got = append(got, fmt.Sprintf("%s %v %d %s", r.Labels.Subsystem, r.Value, r.N, r.Source))
				expect.True(t, r.Metric == metric.CPUUS && r.Per == "query", name, r)
			}
		}
		expect.Same(t, c.want, got, name)
	}
}

// What is not known is left out, and not taken for zero.
func TestUnknownCosts(t *testing.T) {
	s := observed(&account.Observed{InWindow: counted("process.cpu_ns", 0.0), Uncounted: []metric.Warning{metric.Warn(remark.SourceUnknown, metric.Values{"source": "device", "why": "gone"})}})
	for _, f := range figures(s) {
		expect.True(t, (f.Metric == "cpu_us" || f.Metric == "server_cpu_us") && f.Value == 0, f)
	}
	expect.Equal(t, texts(s), "no figures of source device: gone", "warnings", s.Warnings)
}

// As many queries as rows inserted, by chance: both have their costs. In a load
// a row inserted is a row written, and is not reported twice.
func TestDenominators(t *testing.T) {
	chance := queryGroups()
	chance[2] = did(hist.Counts{Ops: 150, Work: model.Work{Rows: 150}}, hist.Counts{Ops: 50, Work: model.Work{Rows: 50}})
	load := &workload.Step{Name: "l", Primary: "insert", WritesPer: "insert", Groups: queryStep().Groups[:1]}
	for _, c := range []struct {
		name   string
		step   *workload.Step
		groups []hist.Group
		want   []string
	}{
		{"by chance", queryStep(), chance, []string{"query 200", "insert row 200", "written row 300", "operation 206"}},
		{"load", load, queryGroups()[:1], []string{"insert row 200", "operation 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStep(c.step, c.groups, &account.Observed{InWindow: counted("host.context_switches", 9.0)})
			s.Operations()
			var got []string
			for _, f := range figures(s) {
				got = append(got, fmt.Sprintf("%s %d", f.Per, f.N))
			}
			expect.Same(t, c.want, got)
		})
	}
}

// Nothing is divided by nothing.
func TestNoUnits(t *testing.T) {
	groups := queryGroups()
	groups[0] = did(hist.Counts{})
	c := counted("process.cpu_ns", 9.0, "process.write_bytes", 9.0)
	s := newStep(queryStep(), groups, &account.Observed{InWindow: c, WithSync: c})
	s.Operations()
	for _, f := range figures(s) {
		expect.True(t, f.Per != "insert row" && f.Metric != "write_amplification" && !math.IsNaN(f.Value) && !math.IsInf(f.Value, 0), f)
	}
}

// Without a device, write amplification is of what the process wrote.
func TestAmplificationWithoutDevice(t *testing.T) {
	s := observed(&account.Observed{WithSync: counted("process.write_bytes", 40960.0)})
	r := metric.Find(s.Rows, "write_amplification", "", "")
	expect.True(t, r.Value == 4 && strings.HasPrefix(r.Source, "process"), r)
}

// A counter that was reset says so.
func TestReset(t *testing.T) {
	s := observed(&account.Observed{WithSync: []observe.Change{{Name: "x.bytes", Kind: engine.Counter, Value: 30, Reset: true}}})
	expect.True(t, len(s.Counters) == 1 && s.Counters[0].Value == 30 && strings.Contains(texts(s), "counter x.bytes was reset"), s.Counters, s.Warnings)
}

// The client's cost is what its groups took on the null engine, scaled by the
// operations that each did here.
func TestClientCost(t *testing.T) {
	calibration := func(group, op, per string, us float64, ops, units int64) []metric.Row {
		return []metric.Row{
			{Step: "q", Group: group, Op: op, Metric: "rows", Value: float64(units), N: ops},
			{Step: "q", Group: group, Op: op, Metric: "client_cpu_us", Value: us, N: units, Per: per},
		}
	}
	s := newStep(queryStep(), queryGroups(), &account.Observed{})
	s.Calibrated = slices.Concat(calibration("insert", "insert", "insert row", 0.5, 10, 500), // 25 µs per operation
		calibration("delete", "delete", "delete row", 0.1, 10, 500), // 5 µs
		calibration("query", "range a", "query", 2, 500, 1000),
		[]metric.Row{{Step: "q", Group: "query", Op: "range b", Metric: "rows", Value: 500, N: 500}})
	s.Operations()
	// 4 inserts, 2 deletes, 1000 queries of 2 µs.
	const want = 4*25 + 2*5 + 1000*2
	if r := metric.Find(s.Rows, "client_cpu_us", "", ""); r == nil || math.Abs(r.Value-want/1000.0) > 1e-9 || r.Per != "query" || r.Source != "null engine" {
		t.Errorf("%+v", r)
	}
}

// CPU time that is neither the engine's nor the client's is named; that of the
// kernel's threads is the engine's.
func TestOtherProcessors(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel float64
		want   string
	}{
		{"others", 0.5e9, "other programs took part of the processors, 75 %: of 10.00 s of CPU time this process used 2.00 s, the kernel's threads 0.50 s"},
		{"the kernel", 7e9, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := observed(&account.Observed{InWindow: counted("process.cpu_ns", 2e9, "host.cpu.busy_ns", 10e9, "host.cpu.kernel_threads_ns", c.kernel)})
			rate := metric.Find(s.Rows, "rows_per_s", "query", "")
			expect.True(t, texts(s) == c.want && metric.Has(rate.Warnings, remark.ProcessorsShared) == (c.want != ""),
				"warnings, of a rate", s.Warnings, rate.Warnings)
		})
	}
}

// What the device did beyond the engine's processes is the journal's, unless
// other programs did it: only then it is disturbed.
func TestDisturbance(t *testing.T) {
	known := func(written float64, closed ...string) account.Others {
		return account.Others{Known: true, Root: true, HereWritten: written * mb, Traffic: observe.Traffic{Written: written * mb, Processes: 9, Closed: closed}}
	}
	unknown := account.Others{Why: errors.New("not seen")}
	for _, c := range []struct {
		name            string
		process, device float64 // MB
		others          account.Others
		disturbed       bool
		journal         float64 // MB; -1: unknown
		warning         string
	}{
		{"the journal of a sync per commit", 6.4, 24.9, known(0), false, 18.5, ""},
		{"and a program that logs a little", 6.4, 24.9, known(0.1), false, 18.4, ""},
		{"a neighbour", 6.4, 24.9, known(9), true, 9.5, "disturbed: other programs wrote up to 9.0 MiB of the 24.9 MiB that the device wrote"},
		{"a neighbour on another device", 20, 20.5, known(900), false, 0, ""},
		{"neighbours that the engine hides", 500, 100, known(50), true, -1, "up to 50.0 MiB of the 100.0 MiB"},
		{"one that is closed", 6.4, 24.9, known(0, "initd"), false, 18.5, "the rest is the file system's own (journal, metadata), or of initd, whose I/O may not be read"},
		{"a neighbour and one that is closed", 6.4, 24.9, known(9, "initd"), true, 9.5, "disturbed: other programs wrote up to 9.0 MiB"},
		{"unknown", 6.4, 24.9, unknown, false, -1, "or of other programs: not seen"},
		{"unknown, nothing to explain", 20, 24.9, unknown, false, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := observed(&account.Observed{Others: c.others, WithSync: counted("process.write_bytes", c.process*mb, "device.write_bytes", c.device*mb)})
			for _, name := range []string{"write_kb", "write_amplification"} {
				if n := metric.Find(s.Rows, name, "", ""); n.Disturbed != c.disturbed || metric.Has(n.Warnings, remark.Disturbed) != c.disturbed {
					t.Errorf("%s: disturbed %v, %q", name, n.Disturbed, n.Warnings)
				}
			}
			got := texts(s)
			expect.True(t, (got == "") == (c.warning == "") && strings.Contains(got, c.warning), "warnings", got)
			j := metric.Find(s.Rows, "journal_kb", "", "insert row")
			expect.Must(t, (j == nil) == (c.journal < 0), "journal", j)
			expect.True(t, j == nil || math.Abs(j.Value-c.journal*kb/200) <= 0.01*kb/200 && j.N == 200 && strings.Contains(j.Source, "estimate"), j, c.journal*kb/200)
		})
	}
}

// The same for what was read.
func TestReadDisturbance(t *testing.T) {
	for others, want := range map[float64]bool{0: false, 40 << 10: true} {
		c := counted("process.read_bytes", 10*mb, "device.reads", 9.0, "device.read_bytes", 100*mb)
		s := observed(&account.Observed{InWindow: c, WithSync: c, Others: account.Others{Known: true, HereRead: others * kb, Traffic: observe.Traffic{Read: others * kb}}})
		for _, name := range []string{"read_kb", "device_reads"} {
			expect.Equal(t, metric.Find(s.Rows, name, "", "").Disturbed, want, "others read", others, name)
		}
	}
}

// Processes cannot have written or read more than all disks did, and the two of a duet
// not more together: what exceeds that is no number, also where it would stand in for
// that of a device.
func TestImpossibleIO(t *testing.T) {
	for _, c := range []struct {
		name       string
		own, disks float64 // MB
		others     float64 // MB of other processes, such as the other trial's
		duet       bool
		known      bool
		warning    string
	}{
		{"less", 20, 24.9, 0, false, true, ""},
		{"as much, but for what is in flight", 25, 24.9, 0, false, true, ""},
		{"large folios", 1026, 80, 0, false, false, "the KB that this process wrote are unknown: the kernel counted 1026.0 MiB, but the disks wrote only 80.0 MiB in all"},
		{"one of all is wrong", 20, 24.9, 30, false, false, "that this process wrote are unknown: the kernel counted 20.0 MiB and 30.0 MiB for other processes, but the disks wrote only 24.9 MiB in all"},
		{"a duet", 20, 50, 25, true, true, ""},
		{"the two of a duet together", 20, 24.9, 25, true, false, "the kernel counted 20.0 MiB and 25.0 MiB for other processes, but the disks wrote only 24.9 MiB in all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts := counted("process.write_bytes", c.own*mb, "process.read_bytes", c.own*mb)
			s := observed(&account.Observed{Duet: c.duet, Disks: &[2]float64{c.disks * mb, c.disks * mb}, InWindow: counts, WithSync: counts,
				Others: account.Others{Known: true, Traffic: observe.Traffic{Read: c.others * mb, Written: c.others * mb}}})
			for _, name := range []string{"process_write_kb", "write_amplification", "process_read_kb"} {
				known := c.known || name == "process_read_kb" && c.own < c.disks && !c.duet // reads are counted as they are
				expect.Equal(t, metric.Find(s.Rows, name, "", "") != nil, known, name)
			}
			if got := texts(s); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings %q", got)
			}
			r := metric.Find(s.Rows, "others_write_kb", "", "")
			expect.True(t, (r == nil) == c.duet, "others", r)
		})
	}
}

// The same between two steps, if there is no device.
func TestImpossibleWritesAfter(t *testing.T) {
	for disks, known := range map[float64]bool{10: true, 1: false} {
		var b account.Builder
		(&account.Observed{}).After(&b, counted("process.write_bytes", 10*mb), counted("device.write_bytes", disks*mb), 0)
		expect.Equal(t, len(b.Rows) > 0, known, "the disks wrote", disks, b.Rows)
	}
}

// Counters that lag by much of a step are lower bounds.
func TestLateCounters(t *testing.T) {
	for lag, late := range map[time.Duration]bool{0: false, 400 * time.Millisecond: false, time.Second: true} { // of 10 s
		s := observed(&account.Observed{Lag: lag, InWindow: counted("engine.rows_examined", 500.0, "process.cpu_ns", 1e9, "engine.cache_lookups", 100.0, "engine.cache_misses", 10.0)})
		for name, marked := range map[string]bool{"rows_examined": late, "cache_hit_ratio": late, "server_cpu_us": false} {
			if r := metric.Find(s.Rows, name, "", ""); r == nil || r.AtLeast != marked || metric.Has(r.Warnings, remark.CountedLate) != marked {
				t.Errorf("lag %v: %+v", lag, r)
			}
		}
	}
}

// A step at whose end much more is left to be written than at its beginning has
// not written all that it caused.
func TestDeferredWritesAreMarked(t *testing.T) {
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
			s := observed(&account.Observed{Deferred: &[2]float64{c.before, c.after}, Others: account.Others{Known: true},
				WithSync: counted("process.write_bytes", 20*mb, "device.write_bytes", 20*mb)})
			if got := metric.Find(s.Rows, "deferred_kb", "", "operation"); got == nil || got.Value != c.deferred/1006 {
				t.Errorf("put off: %+v, want %v KB", got, c.deferred)
			}
			for _, name := range []string{"write_kb", "process_write_kb"} {
				if r := metric.Find(s.Rows, name, "", ""); r.AtLeast != c.marked || metric.Has(r.Warnings, remark.LowerBound) != c.marked {
					t.Errorf("%s is marked as a lower bound: %+v", name, r)
				}
			}
			if got := len(s.Warnings) > 0; got != c.marked || len(s.Warnings) > 1 {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

// What rows cost in the end is what all steps since the last rest wrote, with
// what was written between them and by the settle step.
func TestSettledWrites(t *testing.T) {
	step := func(name, primary, per string, kb, n, after float64, complete bool) account.Earlier {
		s := account.Earlier{Name: name, Primary: primary, WritesPer: primary, Complete: complete}
		if per != "" {
			s.Rows = append(s.Rows, metric.Row{Metric: "write_kb", Per: per, Value: kb / n, N: int64(n)})
		}
		s.Rows = append(s.Rows, metric.Row{Metric: "after_write_kb", Per: "step", Value: after})
		return s
	}
	load := step("load", "insert", "insert row", 1000, 500, 100, true)
	index := step("index", "index", "index row", 400, 500, 0, true)
	more := step("more", "insert", "insert row", 3000, 500, 0, true)
	rest := step("rest", "", "step", 7000, 1, 0, true)
	for _, c := range []struct {
		name               string
		steps              []account.Earlier
		unsettled, settled float64 // NaN: not known
		owing              bool
	}{
		{"since the beginning", []account.Earlier{load, index, more}, 4400.0 / 1000, (4400 + 100 + 500) / 1000.0, false},
		{"since a copy of data that had not settled", []account.Earlier{more}, math.NaN(), math.NaN(), true},
		{"settled since the copy", []account.Earlier{load, rest, more}, 3000.0 / 500, 3500.0 / 500, true},
		{"since the last rest", []account.Earlier{load, index, rest, more}, 3000.0 / 500, 3500.0 / 500, false},
		{"nothing since the last rest", []account.Earlier{load, rest}, math.NaN(), math.NaN(), false},
		{"a step without a figure", []account.Earlier{load, step("x", "insert", "", 0, 1, 0, true)}, math.NaN(), math.NaN(), false},
		{"a step that did not end", []account.Earlier{load, step("x", "insert", "insert row", 5, 5, 0, false)}, math.NaN(), math.NaN(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStep(&workload.Step{Name: "settle", Settle: &workload.Settle{}}, nil, &account.Observed{WithSync: counted("device.write_bytes", 500*kb)})
			s.Earlier, s.Owing = c.steps, c.owing
			s.Settled()
			for name, want := range map[string]float64{"unsettled_write_kb": c.unsettled, "settled_write_kb": c.settled} {
				got := math.NaN()
				if row := metric.Find(s.Rows, name, "", "insert row"); row != nil {
					got = row.Value
				}
				expect.True(t, got == want || math.IsNaN(got) && math.IsNaN(want), name, got, want)
			}
		})
	}
}

// What was measured while the other trial of a duet was over carries a warning,
// if it is much.
func TestAlone(t *testing.T) {
	for alone, much := range map[time.Duration]bool{500 * time.Millisecond: false, 5 * time.Second: true, time.Hour: true} {
		s := observed(&account.Observed{Duet: true, Alone: alone})
		expect.True(t, s.Sheet.Alone == min(alone.Seconds(), 10) && metric.Has(s.Warnings, remark.RanAlone) == much && (len(s.Notes) == 1) != much, alone, s.Sheet)
	}
}

// Pages read are known apart from those that tables grew by in windows without changes.
func TestCacheWithoutMisses(t *testing.T) {
	for name, c := range map[string]struct {
		counted []any
		ratio   string
	}{
		"apart":           {[]any{engine.CacheLookups, 1000.0, engine.CacheMisses, 100.0}, "0.9"},
		"nothing changed": {[]any{engine.CacheHits, 600.0, engine.PagesTaken, 200.0, engine.RowsChanged, 0.0}, "0.75"},
		"rows changed":    {[]any{engine.CacheHits, 600.0, engine.PagesTaken, 200.0, engine.RowsChanged, 1.0}, "unknown"},
	} {
		got := "unknown"
		s := observed(&account.Observed{InWindow: counted(c.counted...)})
		if row := metric.Find(s.Rows, "cache_hit_ratio", "", ""); row != nil {
			got = fmt.Sprint(row.Value)
		}
		expect.True(t, got == c.ratio && (metric.Find(s.Rows, "cache_misses", "", "query") != nil) == (got != "unknown"),
			name, got, "want", c.ratio)
	}
}

// Where the processes' figure is impossible, whatever others wrote may be in the device's.
func TestDisturbedBesideImpossible(t *testing.T) {
	for others, want := range map[float64]bool{0: false, 90: true} {
		counts := counted("process.write_bytes", 500*mb, "device.write_bytes", 100*mb)
		s := observed(&account.Observed{Disks: &[2]float64{0, 100 * mb}, InWindow: counts, WithSync: counts,
			Others: account.Others{Known: true, HereWritten: others * mb, Traffic: observe.Traffic{Written: others * mb}}})
		if n := metric.Find(s.Rows, "write_kb", "", ""); n.Disturbed != want || !metric.Has(s.Warnings, remark.ImpossibleIO) {
			t.Errorf("others wrote %v MB: disturbed %v, %q", others, n.Disturbed, texts(s))
		}
	}
}
