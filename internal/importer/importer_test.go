package importer

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// read imports paths, which must be good, and reads back what was written.
func read(t *testing.T, o Options, paths ...string) []*result.Trial {
	t.Helper()
	o.Now = at
	c := expect.Value(Read(paths, o))(t)
	dir := filepath.Join(t.TempDir(), "campaign")
	expect.NoError(t, c.Write(dir))
	back := expect.Value(result.ReadCampaign(dir))(t)
	trials := expect.Value(result.ReadTrials(dir, back))(t)
	for _, trial := range trials {
		honest(t, trial)
	}
	return trials
}

// honest checks what must hold for every trial that was imported.
func honest(t *testing.T, trial *result.Trial) {
	t.Helper()
	if trial.Durability != result.Unknown || len(trial.Settings) > 0 || len(trial.Knobs) > 0 || trial.Imported == nil || trial.Imported.Tool == "" || len(trial.Imported.Files) == 0 || trial.Order != "sequential" {
		t.Errorf("%s: %+v", trial.Target, trial)
	}
	for _, s := range trial.Steps {
		seen := map[[4]string]bool{}
		for _, r := range s.Rows {
			m := metric.ByName(r.Metric)
			expect.True(t, m != nil && m.Unit == r.Unit && r.Target == trial.Target && r.Trial == trial.Trial &&
				r.Step == s.Name && !math.IsNaN(r.Value) && !math.IsInf(r.Value, 0), r)
			id := [4]string{r.Group, r.Op, r.Metric, r.Per}
			expect.True(t, !seen[id], "of step is there twice", id, s.Name)
			seen[id] = true
			expect.True(t, !(strings.HasPrefix(r.Metric, "service_") && r.Value == 0), "an unknown latency became 0", r)
		}
	}
}

// step finds a step of a target's trial.
func step(t *testing.T, trials []*result.Trial, target string, trial int, name string) *result.Step {
	t.Helper()
	for _, tr := range trials {
		for i := range tr.Steps {
			if tr.Target == target && tr.Trial == trial && tr.Steps[i].Name == name {
				return &tr.Steps[i]
			}
		}
	}
	t.Fatalf("no step %s of %s.%d among %s", name, target, trial, names(trials))
	return nil
}

func names(trials []*result.Trial) string {
	var out []string
	for _, tr := range trials {
		for _, s := range tr.Steps {
			out = append(out, tr.Target+"."+string(rune('0'+tr.Trial))+" "+s.Name)
		}
	}
	return strings.Join(out, ", ")
}

// want is a number of a step, as it is computed by hand.
type want struct {
	metric, op, per string
	value           float64
}

// near is how exact numbers must be: as exact as a float.
const near = 1e-12

func numbers(t *testing.T, s *result.Step, wants []want) {
	t.Helper()
	for _, w := range wants {
		r := s.Find(w.metric, w.op, w.per)
		switch {
		case r == nil:
			t.Errorf("step %s has no %s of %q per %q", s.Name, w.metric, w.op, w.per)
		case math.Abs(r.Value-w.value) > near*math.Abs(w.value):
			t.Errorf("step %s: %s of %q per %q is %v, want %v", s.Name, w.metric, w.op, w.per, r.Value, w.value)
		}
	}
}

// absent checks that a step has no numbers of some metrics.
func absent(t *testing.T, s *result.Step, metrics ...string) {
	t.Helper()
	for _, m := range metrics {
		r := s.Find(m, "", "")
		expect.True(t, r == nil, "step has, which its log does not contain", s.Name, r)
	}
}

// A directory of real logs of two server versions. The expected numbers are
// computed here from what the logs print, which was copied by hand.
func TestSysbenchOfTwoVersions(t *testing.T) {
	trials := read(t, Options{Base: "mysql-5.5.9"}, "testdata/sysbench")
	expect.Must(t, len(trials) == 2 && trials[0].Target == "mysql-5.5.9" && trials[1].Target == "mariadb-10.11.19" && trials[0].Status == result.Complete && trials[0].Engine == "mysql", names(trials))
	const cpus = 2
	const kb = 1.0 // iostat -k
	for _, c := range []struct {
		target                      string
		queries, events, seconds    float64
		sum, p99, high              float64 // ms
		switches, busy              float64 // means of vmstat without its first sample
		reads, readKB, writeKB, dKB float64 // means of iostat without its first report
		client                      float64 // CPU seconds ÷ elapsed seconds
	}{
		{"mysql-5.5.9", 135760, 6788, 5.0040, 9994.35, 3.02, 15.43,
			(74372. + 72973 + 75429 + 75992 + 92394) / 5, (30. + 36 + 34 + 36 + 39 + 38 + 34 + 34 + 42 + 34) / 5,
			(376. + 424 + 375 + 502) / 4, kb * (1504. + 1696 + 1572 + 2008) / 4, kb * (2876. + 1008 + 5512 + 12292) / 4, 0,
			(0.48 + 1.49) / 5.02},
		{"mariadb-10.11.19", 236460, 11823, 5.0029, 9993.42, 4.33, 17.32,
			(125131. + 105125 + 103069 + 87849 + 80312) / 5, (67. + 32 + 63 + 35 + 72 + 28 + 76 + 23 + 75 + 25) / 5,
			0, 0, kb * (1216. + 1636 + 2736 + 2656) / 4, 0,
			(0.58 + 1.25) / 5.02},
	} {
		s := step(t, trials, c.target, 1, "read-write_range=100")
		qps, tps := c.queries/c.seconds, c.events/c.seconds
		numbers(t, s, []want{
			{"duration_s", "", "", c.seconds},
			{"rows", "query", "", c.queries}, {"rows_per_s", "query", "", qps}, {"rows_per_s", "transaction", "", tps}, {"ops_per_s", "transaction", "", tps},
			{"queries_per_s", "transaction", "", qps},
			{"service_mean_us", "transaction", "", c.sum * 1000 / c.events}, {"service_p99_us", "transaction", "", c.p99 * 1000}, {"service_max_us", "transaction", "", c.high * 1000},
			{"context_switches", "", "query", c.switches / qps}, {"context_switches", "", "transaction", c.switches / tps},
			{"host_cpu_us", "", "query", c.busy / 100 * cpus * 1e6 / qps},
			{"device_reads", "", "query", c.reads / qps}, {"read_kb", "", "query", c.readKB / qps}, {"write_kb", "", "query", c.writeKB / qps}, {"discard_kb", "", "query", c.dKB / qps},
			{"client_cpu_us", "", "query", c.client * 1e6 / qps},
			{"errors", "", "", 0},
		})
		absent(t, s, "server_cpu_us", "service_p50_us", "service_p95_us", "response_p99_us", "db_bytes", "interval_ops_p99", "sla_met")
		expect.True(t, s.Primary == "transaction" && s.Groups[0].Clients == 2 &&
			s.Find("write_kb", "", "query").Warnings != nil, s)
		update := step(t, trials, c.target, 1, "update-index_range=100")
		absent(t, update, "service_p99_us")
		expect.True(t, update.Find("rows_per_s", "transaction", "") == nil, "one query is one transaction: it is there twice")
	}
	// The relative number that the report shows: 143397 ÷ 5.0017 s and 196496 ÷ 5.0018 s.
	ratio := step(t, trials, "mariadb-10.11.19", 1, "update-index_range=100").Find("rows_per_s", "query", "").Value /
		step(t, trials, "mysql-5.5.9", 1, "update-index_range=100").Find("rows_per_s", "query", "").Value
	expect.Near(t, ratio, (196496/5.0018)/(143397/5.0017), near, "ratio")
}

// The same logs with the arithmetic of the published scripts: vmstat's second
// header counts as a sample of zeros and its average since boot as a sample;
// iostat's first report is in; rates are as printed.
func TestCompatible(t *testing.T) {
	trials := read(t, Options{Compatible: true, Devices: []string{"vda"}}, "testdata/sysbench")
	s := step(t, trials, "mysql-5.5.9", 1, "point-query_range=100")
	const qps = 108457.98
	boot, header := 4003., 0.
	switches := boot + 183566 + 196751 + 195335 + 197686 + 201175 + 184697 + 118967 + 140167 + 244681 + 242881 + 243083 + 241658 + 237794 + 244091 + 245041 + 244578 + 249599 + 251011 + 252280 + 250921 + header + 237269 + 243909 + 248208 + 239110
	user := 21. + 41 + 43 + 37 + 46 + 43 + 41 + 17 + 18 + 33 + 34 + 36 + 32 + 35 + 34 + 37 + 32 + 33 + 38 + 32 + 36 + header + 37 + 36 + 35 + 36
	system := 11. + 55 + 54 + 59 + 51 + 53 + 52 + 56 + 55 + 67 + 66 + 65 + 68 + 65 + 67 + 64 + 68 + 67 + 62 + 67 + 64 + header + 63 + 64 + 64 + 64
	const lines = 26 // 25 samples and half a header
	reads := 16*1. + 1.98 + 179 + 115
	readKB := 16*4 + 7.92 + 5732 + 4160
	writeKB := 15*12 + 20 + 8 + 1687.13 + 20 + 3*16 + 60 + 28.
	const reports = 24
	numbers(t, s, []want{
		{"rows_per_s", "query", "", qps},
		{"context_switches", "", "query", switches / lines / qps},
		{"host_cpu_us", "", "query", (user + system) / lines / 100 * 2 * 1e6 / qps},
		{"device_reads", "", "query", reads / reports / qps}, {"read_kb", "", "query", readKB / reports / qps}, {"write_kb", "", "query", writeKB / reports / qps},
	})
	// The correct means lack the first sample and the header line.
	right := step(t, read(t, Options{}, "testdata/sysbench"), "mysql-5.5.9", 1, "point-query_range=100")
	rate := 2603226 / 24.0015
	numbers(t, right, []want{
		{"rows_per_s", "query", "", rate},
		{"context_switches", "", "query", (switches - boot) / 24 / rate}, {"host_cpu_us", "", "query", (user + system - 32) / 24 / 100 * 2 * 1e6 / rate},
		{"read_kb", "", "query", (readKB - 4) / 23 / rate}, {"write_kb", "", "query", (writeKB - 12) / 23 / rate},
	})
	if w := s.Find("context_switches", "", "").Warnings; len(w) != 1 || !strings.Contains(w[0].Text, "of 26 samples one is the average since boot and 1 are header lines that count as zeros; it is -7.6 % off") {
		t.Errorf("warnings %q", w)
	}
	if trials[0].Imported.Mode != "compatible" || !strings.Contains(strings.Join(metric.Texts(trials[0].Warnings), " "), "arithmetic of published scripts") || s.Find("read_kb", "", "").Source != "iostat, compatible, lines with vda" {
		t.Errorf("%+v, %q", trials[0].Imported, trials[0].Warnings)
	}
}

// The series hold the intervals as printed; a stalled one has neither
// operations nor a latency of 0.
func TestSysbenchStall(t *testing.T) {
	c := expect.Value(Read([]string{"testdata/more/stall.log"}, Options{Now: at}))(t)
	tr := c.trials[0]
	var ops []int64
	for _, l := range seriesOf(t, tr.runs[0]) {
		ops = append(ops, l.Ops)
		expect.True(t, l.P99 == 0 && l.DT == 1 && l.Source == "ops" && l.Op == "query", l)
	}
	expect.True(t, len(ops) == 5 && ops[2] == 0 && !(ops[1] != 11040 && ops[1] != 0), ops)
	s := &tr.Steps[0]
	// The median of the five rates is 13486; a tenth of it is missed once.
	numbers(t, s, []want{{"stalls", "", "", 1}, {"stall_s", "", "", 1}, {"stall_longest_s", "", "", 1}})
	expect.True(t, len(s.Stalls) == 1 && s.Stalls[0].From == 2 && s.Stalls[0].To == 3 && s.Name == "sysbench" &&
		tr.Target == "stall", s.Stalls, tr.Target)
	absent(t, s, "interval_ops_p50") // five intervals are too few
}

func TestSysbenchVariants(t *testing.T) {
	trials := read(t, Options{}, "testdata/more")
	expect.Must(t, len(trials) == 1 && trials[0].Status == result.Partial && trials[0].Target == "more", trials[0])
	// It ended with an error after one interval of a second.
	s := step(t, trials, "more", 1, "fatal")
	numbers(t, s, []want{{"rows_per_s", "query", "", 132824}, {"rows", "query", "", 132824}, {"duration_s", "", "", 1}})
	absent(t, s, "service_max_us", "service_mean_us", "errors")
	if s.Status != result.Partial || s.Find("rows_per_s", "", "").Warnings[0].Code != remark.PartialLog || !strings.Contains(trials[0].Reason, "fatal.log:14): FATAL: mysql_stmt_execute() returned error 1146") {
		t.Errorf("%+v, reason %q", s, trials[0].Reason)
	}
	// With a rate latencies are response times; percentiles were switched off.
	s = step(t, trials, "more", 1, "rate")
	numbers(t, s, []want{{"rows_per_s", "query", "", 615 / 2.0075}, {"response_max_us", "query", "", 5470}})
	absent(t, s, "service_mean_us", "service_max_us", "response_p95_us", "stalls")
	// The histogram has all percentiles; sysbench's own report only one.
	s = step(t, trials, "more", 1, "histo")
	for _, m := range []string{"service_p50_us", "service_p95_us", "service_p99_us", "service_p999_us"} {
		expect.True(t, s.Find(m, "query", "") != nil, m)
	}
	s = step(t, trials, "more", 1, "cpu")
	expect.Equal(t, s.Primary, "event", "primary")
	// What memory's latencies were is below what sysbench can print.
	s = step(t, trials, "more", 1, "memory")
	absent(t, s, "service_p95_us")
	expect.True(t, strings.Contains(strings.Join(metric.Texts(s.Notes), " "), "Latency p95 is printed as 0: below 5 µs, or not recorded. It is unknown."), s.Notes)
}

// write makes files in a new directory.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeMore(t, dir, name, text)
	}
	return dir
}

// writeMore adds a file to a directory.
func writeMore(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return dir
}

func text(t testing.TB, path string) string {
	t.Helper()
	b := expect.Value(os.ReadFile(path))(t)
	return string(b)
}

// Release 0.5 counts BEGIN and COMMIT apart from its read/write requests: both are
// queries. It has other words for the rest.
func TestSysbenchOld(t *testing.T) {
	dir := write(t, map[string]string{"old/rw.log": `sysbench 0.5:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 8
Report intermediate results every 10 second(s)
Random number generator seed is 0 and will be ignored

Threads started!

[  10s] threads: 8, tps: 100.00, reads: 1400.00, writes: 400.00, response time: 12.30ms (99%), errors: 0.00, reconnects:  0.00
[  20s] threads: 8, tps: 102.00, reads: 1428.00, writes: 408.00, response time: 11.30ms (99%), errors: 0.50, reconnects:  0.00
OLTP test statistics:
    queries performed:
        read:                            28280
        write:                           8080
        other:                           4040
        total:                           40400
    transactions:                        2020   (100.95 per sec.)
    read/write requests:                 36360  (1817.09 per sec.)
    other operations:                    4040   (201.90 per sec.)
    ignored errors:                      5      (0.25 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          20.0100s
    total number of events:              2020
    total time taken by event execution: 160.0000s
    response time:
         min:                                  5.00ms
         avg:                                 79.21ms
         max:                                200.50ms
         approx.  99 percentile:              12.10ms

Threads fairness:
    events (avg/stddev):           252.5000/1.00
    execution time (avg/stddev):   20.0000/0.00
`})
	trials := read(t, Options{}, dir)
	s := step(t, trials, "old", 1, "rw")
	numbers(t, s, []want{
		{"rows_per_s", "query", "", 40400 / 20.01}, {"rows_per_s", "transaction", "", 2020 / 20.01}, {"service_mean_us", "transaction", "", 79210},
		{"service_max_us", "transaction", "", 200500}, {"service_p99_us", "transaction", "", 12100}, {"errors", "", "", 5}, {"duration_s", "", "", 20.01},
	})
	if trials[0].Imported.Tool != "sysbench 0.5" || trials[0].Interval != 10 || !strings.Contains(strings.Join(metric.Texts(s.Notes), " "), "A transaction has 20 queries in the mean; BEGIN and COMMIT are among them.") {
		t.Errorf("%+v, every %v s, %q", trials[0].Imported, trials[0].Interval, s.Notes)
	}
}
