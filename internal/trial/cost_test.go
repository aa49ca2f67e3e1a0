package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/internal/drive"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/workload"
)

// snap makes a snapshot of counters by source.
func snap(sources ...observe.Source) observe.Snapshot { return observe.Snapshot{Sources: sources} }

// source makes a source of points: name, value, name, value…
func from(name string, points ...any) observe.Source {
	s := observe.Source{Name: name}
	for i := 0; i < len(points); i += 2 {
		s.Points = append(s.Points, engine.Point{Name: points[i].(string), Kind: engine.Counter, Value: points[i+1].(float64)})
	}
	return s
}

// queryStep is a step of paced writers, deleters and queries.
func queryStep() *workload.Step {
	return &workload.Step{Name: "q", Primary: "query", WritesPer: "insert", Groups: []workload.Group{
		{Name: "insert", Clients: 1, Ops: []workload.OpKind{{Name: "insert", Unit: "row"}}},
		{Name: "delete", Clients: 1, Ops: []workload.OpKind{{Name: "delete", Unit: "row"}, {Name: "min id", Unit: "query", Upkeep: true}}},
		{Name: "query", Clients: 1, Ops: []workload.OpKind{{Name: "range a", Unit: "query", Of: "query", Returns: true}, {Name: "range b", Unit: "query", Of: "query", Returns: true}}},
	}}
}

func sums(s ...hist.Counts) drive.GroupResult {
	all := hist.NewTotals(hist.Shape{Kinds: len(s)})
	for i := range s {
		all.Kinds[i].Counts = s[i]
	}
	return drive.GroupResult{Totals: all}
}

// queryResult: 200 rows inserted (by 4 operations, 10 KB), 100 deleted, 1000 queries.
func queryResult() *drive.Result {
	return &drive.Result{Window: 10 * time.Second, Groups: []drive.GroupResult{
		sums(hist.Counts{Ops: 4, Rows: 200, Bytes: 10 << 10}),
		sums(hist.Counts{Ops: 2, Rows: 100, Bytes: 0}, hist.Counts{Ops: 7, Rows: 7, Bytes: 0}),
		sums(hist.Counts{Ops: 600, Rows: 600, Bytes: 1 << 30}, hist.Counts{Ops: 400, Rows: 400, Bytes: 1 << 30}),
	}}
}

func newRows(step *workload.Step, res *drive.Result, w *window) *rows {
	t := &trial{Spec: Spec{Plan: &plan.Plan{}, Target: plan.Target{Name: "x"}, Trial: 1}, under: observe.Device{Name: "sda"}}
	return &rows{trial: t, step: step, out: &result.Step{}, res: res, config: &drive.Config{Step: step}, window: w}
}

type figure struct {
	Metric, Per string
	Value       float64
	N           int64
	Source      string
}

func figures(s *result.Step) (out []figure) {
	for _, r := range s.Rows {
		switch r.Metric {
		case "drain_s", "client_gc_pause_ms", "client_sched_p99_us":
		default:
			out = append(out, figure{r.Metric, r.Per, r.Value, r.N, r.Source})
		}
	}
	return out
}

// The arithmetic of costs, on figures made by hand: what is of the window and
// what of the sync after it too, and what each is divided by.
func TestCosts(t *testing.T) {
	const mb = 1 << 20
	w := &window{
		length: 10 * time.Second,
		own:    mb / 2, // of rumbench's files
		others: neighbours{known: true, Traffic: observe.Traffic{Written: 100 << 10, Read: 50 << 10, Processes: 4}},
		before: snap(
			from("process", "process.cpu_ns", 1e9, "process.read_bytes", 5e6, "process.write_bytes", 7e6, "process.cancelled_write_bytes", 3e6),
			from("host", "host.cpu.user_ns", 1e9, "host.cpu.system_ns", 2e9, "host.cpu.idle_ns", 3e9, "host.cpu.iowait_ns", 4e9, "host.cpu.steal_ns", 5e9, "host.cpu.busy_ns", 1e9, "host.cpu.kernel_threads_ns", 3e9, "host.context_switches", 100.0),
			from("device", "device.reads", 10.0, "device.read_bytes", 0.0, "device.write_bytes", 0.0, "device.discard_bytes", 0.0)),
		after: snap(
			from("process", "process.cpu_ns", 3e9, "process.read_bytes", 5e6+1000*2048, "process.write_bytes", 7e6+mb, "process.cancelled_write_bytes", 3e6),
			from("host", "host.cpu.user_ns", 2e9, "host.cpu.system_ns", 4e9, "host.cpu.idle_ns", 9e9, "host.cpu.iowait_ns", 9e9, "host.cpu.steal_ns", 9e9, "host.cpu.busy_ns", 5e9, "host.cpu.kernel_threads_ns", 4e9, "host.context_switches", 2100.0),
			from("device", "device.reads", 510.0, "device.read_bytes", 1000*4096.0, "device.write_bytes", mb*1.0, "device.discard_bytes", 200*1024.0)),
		drained: snap(
			from("process", "process.cpu_ns", 9e9, "process.read_bytes", 9e9, "process.write_bytes", 7e6+3*mb, "process.cancelled_write_bytes", 3e6+mb),
			from("host", "host.cpu.user_ns", 9e9, "host.cpu.system_ns", 9e9, "host.context_switches", 9e9),
			from("device", "device.reads", 9e9, "device.read_bytes", 9e9, "device.write_bytes", 2.5*mb, "device.discard_bytes", 400*1024.0)),
	}
	r := newRows(queryStep(), queryResult(), w)
	addCosts(r)

	const process, host, device, others = "process, engine and client together", "host", "device sda", "/proc/PID/io of 4 other processes"
	per := func(per string, n int64) []figure {
		return []figure{
			{"cpu_us", per, 2e6 / float64(n), n, process},
			{"server_cpu_us", per, 2e6 / float64(n), n, process},
			{"process_read_kb", per, 2000 / float64(n), n, process},
			{"process_write_kb", per, 1536 / float64(n), n, process}, // 3 MB, of which 1 was cancelled and 0.5 are ours
			{"host_cpu_us", per, 3e6 / float64(n), n, host},          // user and system; neither waiting nor stolen
			{"context_switches", per, 2000 / float64(n), n, host},
			{"device_reads", per, 500 / float64(n), n, device},
			{"read_kb", per, 4000 / float64(n), n, device},
			{"write_kb", per, 2048 / float64(n), n, device}, // the sync after the window included
			{"discard_kb", per, 400 / float64(n), n, device},
			{"journal_kb", per, (2048 - 1536 - 100) / float64(n), n, "estimate: " + device + " − " + process + " − " + others},
		}
	}
	want := slices.Concat([]figure{{"others_read_kb", "", 50, 0, others}, {"others_write_kb", "", 100, 0, others}, {"cpu_accounted", "", 3.0 / 4, 0, "processes ÷ host"}}, per("query", 1000), per("insert row", 200), per("written row", 300), per("operation", 1006))
	// Of the writers' bytes only: what queries return is not written.
	want = append(want, figure{"write_amplification", "", 2.0 * mb / (10 << 10), 10 << 10, device},
		figure{"read_amplification", "", 1000 * 4096.0 / (2 << 30), 2 << 30, device})
	if d := cmp.Diff(want, figures(r.out)); d != "" {
		t.Errorf("costs (-want +got):\n%s", d)
	}
	if len(r.out.Warnings) > 0 {
		t.Errorf("warnings %q", r.out.Warnings)
	}
}

// addCosts does what a step does with its costs.
func addCosts(r *rows) {
	all := r.costs()
	r.doubtSources(all)
	r.addCosts(all)
}

// hostedElsewhere is a database whose work a server does.
type hostedElsewhere struct{ engine.Hosted }

// CPU time is compared as the sum of engine and clients. Beside a server it is
// split; where one of the two is unknown there is no sum.
func TestCPUOfServerAndClient(t *testing.T) {
	of := func(out []cost) (s []string) {
		for _, c := range out {
			s = append(s, fmt.Sprintf("%s %v, %s", c.metric, c.value, c.source))
		}
		return s
	}
	engineOnly := snap(from("process", "process.cpu_ns", 5e6))
	both := snap(from("process", "process.cpu_ns", 5e6), from("client", "client.cpu_ns", 2e6))
	for _, c := range []struct {
		name   string
		hosted engine.Hosted
		after  observe.Snapshot
		want   []string
	}{
		{"embedded", nil, both, []string{"cpu_us 5000, " + metric.OfProcess, "server_cpu_us 5000, " + metric.OfProcess}},
		{"server", hostedElsewhere{}, both, []string{"cpu_us 7000, " + metric.OfAll, "server_cpu_us 5000, " + metric.OfServer, "client_cpu_us 2000, " + metric.OfClient}},
		{"server alone", hostedElsewhere{}, engineOnly, []string{"server_cpu_us 5000, " + metric.OfServer}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := snap(from("process", "process.cpu_ns", 0.0), from("client", "client.cpu_ns", 0.0))
			r := newRows(queryStep(), queryResult(), &window{before: before, after: c.after})
			r.hosted = c.hosted
			if d := cmp.Diff(c.want, of(r.cpuCosts())); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// What is not known is left out, and not taken for zero.
func TestUnknownCosts(t *testing.T) {
	known := from("process", "process.cpu_ns", 5.0)
	broken := observe.Source{Name: "device", Err: engine.Errorf(engine.Gone, "no such device")}
	w := &window{before: snap(known), after: snap(known, broken), drained: snap(known, broken)}
	r := newRows(queryStep(), queryResult(), w)
	addCosts(r)
	r.addCounters()
	if d := cmp.Diff([]figure{
		{"cpu_us", "query", 0, 1000, metric.OfProcess},
		{"server_cpu_us", "query", 0, 1000, metric.OfProcess},
		{"cpu_us", "insert row", 0, 200, metric.OfProcess},
		{"server_cpu_us", "insert row", 0, 200, metric.OfProcess},
		{"cpu_us", "written row", 0, 300, metric.OfProcess},
		{"server_cpu_us", "written row", 0, 300, metric.OfProcess},
		{"cpu_us", "operation", 0, 1006, metric.OfProcess},
		{"server_cpu_us", "operation", 0, 1006, metric.OfProcess},
	}, figures(r.out)); d != "" {
		t.Errorf("costs (-want +got):\n%s", d)
	}
	if !has(metric.Texts(r.out.Warnings), "no figures of source device: ") {
		t.Errorf("warnings %q", r.out.Warnings)
	}
}

// As many queries as rows inserted, by chance: both have their costs. In a load
// a row inserted is a row written, and is not told twice.
func TestDenominators(t *testing.T) {
	res := queryResult()
	res.Groups[2] = sums(hist.Counts{Ops: 150, Rows: 150}, hist.Counts{Ops: 50, Rows: 50})
	load := &workload.Step{Name: "l", Primary: "insert", WritesPer: "insert", Groups: queryStep().Groups[:1]}
	for _, c := range []struct {
		name string
		step *workload.Step
		res  *drive.Result
		want []denominator
	}{
		{"by chance", queryStep(), res, []denominator{{"query", 200}, {"insert row", 200}, {"written row", 300}, {"operation", 206}}},
		{"load", load, queryResult(), []denominator{{"insert row", 200}, {"operation", 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRows(c.step, c.res, &window{})
			got := r.denominators(c.res.Totals()[:len(c.step.Groups)])
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(denominator{})); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// Nothing is divided by nothing.
func TestNoUnits(t *testing.T) {
	w := &window{before: snap(from("process", "process.cpu_ns", 0.0, "process.write_bytes", 0.0)), after: snap(from("process", "process.cpu_ns", 9.0, "process.write_bytes", 9.0))}
	w.drained = w.after
	res := queryResult()
	res.Groups[0] = sums(hist.Counts{})
	r := newRows(queryStep(), res, w)
	addCosts(r)
	for _, f := range figures(r.out) {
		if f.Per == "insert row" || f.Metric == "write_amplification" || math.IsNaN(f.Value) || math.IsInf(f.Value, 0) {
			t.Errorf("%+v", f)
		}
	}
}

// Without a device, write amplification is of what the process wrote.
func TestAmplificationWithoutDevice(t *testing.T) {
	w := &window{before: snap(from("process", "process.write_bytes", 0.0)), after: snap(from("process", "process.write_bytes", 0.0)), drained: snap(from("process", "process.write_bytes", 40960.0))}
	r := newRows(queryStep(), queryResult(), w)
	addCosts(r)
	if v := value(t, r.out, "", "", "write_amplification"); v != 4 {
		t.Errorf("write_amplification %v", v)
	}
	if s := row(t, r.out, "", "", "write_amplification").Source; !strings.HasPrefix(s, "process") {
		t.Errorf("source %q", s)
	}
}

// A counter that was reset says so.
func TestReset(t *testing.T) {
	a, b := snap(from("engine", "x.bytes", 100.0)), snap(from("engine", "x.bytes", 30.0))
	r := newRows(queryStep(), queryResult(), &window{before: a, after: b, drained: b})
	r.addCounters()
	if len(r.out.Counters) != 1 || r.out.Counters[0].Value != 30 || !r.out.Counters[0].Reset || !has(metric.Texts(r.out.Warnings), "counter x.bytes was reset") {
		t.Errorf("%+v, %q", r.out.Counters, r.out.Warnings)
	}
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
	step := result.Step{Name: "q"}
	step.Rows = append(step.Rows, calibration("insert", "insert", "insert row", 0.5, 10, 500)...) // 25 µs per operation
	step.Rows = append(step.Rows, calibration("delete", "delete", "delete row", 0.1, 10, 500)...) // 5 µs
	step.Rows = append(step.Rows, calibration("query", "range a", "query", 2, 500, 1000)...)
	step.Rows = append(step.Rows, metric.Row{Step: "q", Group: "query", Op: "range b", Metric: "rows", Value: 500, N: 500})
	r := newRows(queryStep(), queryResult(), &window{})
	r.Client = &result.Trial{Steps: []result.Step{{Name: "other"}, step}}
	// 4 inserts, 2 deletes, 1000 queries of 2 µs.
	const want = 4*25 + 2*5 + 1000*2
	if us, ok := r.clientCost(r.res.Totals()); !ok || math.Abs(us-want) > 1e-6 {
		t.Errorf("%v µs, want %v", us, want)
	}
	addCosts(r)
	if v := row(t, r.out, "", "", "client_cpu_us"); math.Abs(v.Value-want/1000.0) > 1e-9 || v.Per != "query" || v.Source != "null engine" {
		t.Errorf("%+v", v)
	}
}

// CPU time that is nobody's of ours is told; that of the kernel's threads is ours.
func TestStrangers(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel float64
		want   string
	}{
		{"others", 0.5e9, "the machine computed for 10.00 s, of which this process for 2.00 s, the kernel's threads for 0.50 s: other programs took part of the processors"},
		{"the kernel", 7e9, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &window{length: 10 * time.Second,
				before: snap(from("process", "process.cpu_ns", 0.0), from("host", "host.cpu.busy_ns", 0.0, "host.cpu.kernel_threads_ns", 0.0)),
				after:  snap(from("process", "process.cpu_ns", 2e9), from("host", "host.cpu.busy_ns", 10e9, "host.cpu.kernel_threads_ns", c.kernel))}
			w.drained = w.after
			r := newRows(queryStep(), queryResult(), w)
			got := strings.Join(metric.Texts(r.doubtSources(r.costs())), "; ")
			if got != c.want || has(metric.Texts(r.out.Warnings), "other programs") != (c.want != "") {
				t.Errorf("%q, warnings %q", got, r.out.Warnings)
			}
		})
	}
}
