package importer

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// sbTen is a run of 1.0 for ten seconds, all of whose figures agree.
const sbTen = `sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time

Threads started!

[ 5s ] thds: 4 tps: 990.00 qps: 19800.00 (r/w/o: 13860.00/3960.00/1980.00) lat (ms,99%): 7.17 err/s 0.40 reconn/s: 0.00
[ 10s ] thds: 4 tps: 1010.00 qps: 20200.00 (r/w/o: 14140.00/4040.00/2020.00) lat (ms,99%): 7.30 err/s 0.00 reconn/s: 0.20
SQL statistics:
    queries performed:
        read:                            140000
        write:                           40000
        other:                           20000
        total:                           200000
    transactions:                        10000  (999.70 per sec.)
    queries:                             200000 (19994.00 per sec.)
    ignored errors:                      2      (0.20 per sec.)
    reconnects:                          1      (0.10 per sec.)

General statistics:
    total time:                          10.0030s
    total number of events:              10000

Latency (ms):
         min:                                    1.26
         avg:                                    4.00
         max:                                   30.19
         99th percentile:                        7.17
         sum:                                40000.00

Threads fairness:
    events (avg/stddev):           2500.0000/12.00
    execution time (avg/stddev):   10.0000/0.00
`

// sbFive is the same work as 0.5 prints it.
const sbFive = `sysbench 0.5:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 4

Threads started!

[   5s] threads: 4, tps: 990.00, reads: 13860.00, writes: 3960.00, response time: 7.17ms (99%), errors: 0.00, reconnects:  0.00
[  10s] threads: 4, tps: 1010.00, reads/s: 14140.00, writes/s: 4040.00, response time: 7.30ms (99%)
OLTP test statistics:
    queries performed:
        read:                            140000
        write:                           40000
        other:                           20000
        total:                           200000
    transactions:                        10000  (999.70 per sec.)
    read/write requests:                 180000 (17994.60 per sec.)
    other operations:                    20000  (1999.40 per sec.)
    ignored errors:                      2      (0.20 per sec.)

General statistics:
    total time:                          10.0030s
    total number of events:              10000
    total time taken by event execution: 40.0000s
    response time:
         min:                                  1.26ms
         avg:                                  4.00ms
         max:                                 30.19ms
         approx.  99 percentile:               7.17ms

Threads fairness:
    events (avg/stddev):           2500.0000/12.00
    execution time (avg/stddev):   10.0000/0.00
`

// onlyRun returns the only run of a log.
func onlyRun(t *testing.T, log string, o Options) *run {
	t.Helper()
	c := expect.Value(Read([]string{filepath.Join(write(t, map[string]string{"db/t.log": log}), "db")}, o))(t)
	return c.trials[0].runs[0]
}

// TestSysbenchReleases: the same work has the same numbers, whichever release prints
// it, and whether its latencies are in ms or µs.
func TestSysbenchReleases(t *testing.T) {
	four := strings.NewReplacer("sysbench 0.5", "sysbench 0.4.12", "General statistics", "Test execution summary",
		"    response time:", "    per-request statistics:", "40.0000s", "40.0000", "ignored errors", "deadlocks").Replace(sbFive)
	micros := strings.NewReplacer("(ms", "(us", " 7.17", " 7170.00", "7.30", "7300.00", " 1.26", " 1260.00", " 4.00", " 4000.00", "30.19",
		"30190.00", "40000.00", "40000000.00").Replace(sbTen)
	for name, log := range map[string]string{"0.4": four, "0.5": sbFive, "1.0": sbTen, "1.0 in µs": micros,
		"0.4.8":     strings.Replace(four, "sysbench 0.4.12", "sysbench v0.4.8", 1),
		"of 2016":   strings.NewReplacer("    response time:", "Latency statistics:", "99 percentile", "99th percentile").Replace(sbFive),
		"0.5 in µs": strings.NewReplacer("7.17ms", "7170us", "7.30ms", "7300us").Replace(sbFive)} {
		r := onlyRun(t, log, Options{})
		numbers(t, &r.step, []want{
			{"rows_per_s", "transaction", "", 10000 / 10.003}, {"rows_per_s", "query", "", 200000 / 10.003},
			{"queries_per_s", "transaction", "", 200000 / 10.003}, {"reads_per_s", "transaction", "", 140000 / 10.003},
			{"writes_per_s", "transaction", "", 40000 / 10.003}, {"others_per_s", "transaction", "", 20000 / 10.003},
			{"service_mean_us", "transaction", "", 4000}, {"service_p99_us", "transaction", "", 7170},
			{"service_min_us", "transaction", "", 1260}, {"service_max_us", "transaction", "", 30190}, {"errors", "", "", 2},
		})
		expect.True(t, !metric.Has(r.step.Warnings, remark.Contradictory), name, metric.Texts(r.step.Warnings))
		var series []string
		for _, l := range seriesOf(t, r) {
			series = append(series, fmt.Sprintf("%g: %d, %.0f µs", l.T, l.Ops, l.P99))
		}
		expect.Equal(t, strings.Join(series, "; "), "5: 4950, 7170 µs; 10: 5050, 7300 µs", name)
	}
	// Without its end, the log of 0.5 has no number of BEGIN and COMMIT.
	cut := onlyRun(t, sbFive[:strings.Index(sbFive, "OLTP test")], Options{})
	numbers(t, &cut.step, []want{{"rows_per_s", "transaction", "", 1000}})
	absent(t, &cut.step, "queries_per_s")
	expect.True(t, cut.step.Find("rows_per_s", "query", "") == nil, "the rate of queries lacks BEGIN and COMMIT")
}

// TestSysbenchErrorsOfIntervals: scripts that call sysbench.report_default print err/s
// without a colon.
func TestSysbenchErrorsOfIntervals(t *testing.T) {
	expect.Equal(t, seriesOf(t, onlyRun(t, sbTen, Options{}))[0].Errors, 2, "errors")
}

// TestSysbenchReset: an interval in which counters were reset has no numbers.
func TestSysbenchReset(t *testing.T) {
	for _, rates := range []string{"tps: 18446744073709500000.00, reads: 18446744073709400000.00", "tps: -1385.33, reads: -19000.00",
		"tps: 1.00, reads: 18446744073709400000.00"} {
		r := onlyRun(t, strings.Replace(sbFive, "Threads fairness:",
			"[  11s] threads: 4, "+rates+", writes: 5.00, response time: 50.00ms (99%), errors: 0.00\nThreads fairness:", 1), Options{})
		for _, l := range seriesOf(t, r) {
			expect.True(t, l.T <= 10 && l.Ops >= 0, rates, l)
		}
		expect.Contains(t, strings.Join(metric.Texts(r.step.Notes), " "), "1 of the log's intervals have impossible rates", rates)
	}
}

// TestSysbenchCSV: intervals that sysbench.report_csv prints are intervals, in a whole
// log and in one that is cut off.
func TestSysbenchCSV(t *testing.T) {
	begin := strings.Index(sbTen, "[ 5s ]")
	end := strings.Index(sbTen, "SQL statistics")
	csv := "5,4,990.00,19800.00,13860.00,3960.00,1980.00,7.17,0.40,0.00\n10,4,1010.00,20200.00,14140.00,4040.00,2020.00,7.30,0.00,0.20\n"
	for name, log := range map[string]string{"whole": sbTen[:begin] + csv + sbTen[end:], "cut": sbTen[:begin] + csv,
		"cut in a line": sbTen[:begin] + csv + "15,4,1010.00,20200.00,141",
		"with the mean": sbTen[:begin] + csv + "10,0,1000.00,20000.00,14000.00,4000.00,2000.00,7.17,0.00,0.10\n"} {
		r := onlyRun(t, log, Options{})
		lines := seriesOf(t, r)
		expect.True(t, len(lines) == 2 && lines[0].Ops == 4950 && lines[1].Ops == 5050 && lines[0].Errors == 2, name, lines)
		status, seconds, p99 := result.Partial, 10.0, 0.0
		if name == "whole" {
			status, seconds, p99 = result.Complete, 10.003, 7170
		}
		expect.Equal(t, r.step.Status, status, name, lines)
		expect.Equal(t, lines[0].P99, p99, name, lines)
		numbers(t, &r.step, []want{{"rows_per_s", "transaction", "", 10000 / seconds}, {"queries_per_s", "transaction", "", 200000 / seconds}})
	}
}

// TestSysbenchCheckpoints: each checkpoint begins new counts. The total time counts from
// the last one in release 0.5, from the beginning in later ones.
func TestSysbenchCheckpoints(t *testing.T) {
	figures := strings.Index(sbTen, "SQL statistics")
	first := strings.NewReplacer("30.19", "45.00", "1.26", "1.10").Replace(sbTen[figures:])
	for name, seconds := range map[string]string{"since the last": "10.0030s", "since the beginning": "20.0060s"} {
		log := sbTen[:figures] + "[ 10s ] Checkpoint report:\n" + first + "\n" + strings.Replace(sbTen[figures:], "10.0030s", seconds, 1)
		r := onlyRun(t, log, Options{})
		numbers(t, &r.step, []want{{"rows", "transaction", "", 20000}, {"rows_per_s", "transaction", "", 20000 / 20.006},
			{"queries_per_s", "transaction", "", 400000 / 20.006}, {"service_mean_us", "transaction", "", 4000},
			{"service_min_us", "transaction", "", 1100}, {"service_max_us", "transaction", "", 45000}, {"errors", "", "", 4}})
		absent(t, &r.step, "service_p99_us")
		if metric.Has(r.step.Warnings, remark.Contradictory) || !strings.Contains(strings.Join(metric.Texts(r.step.Notes), " "), "Checkpoints began new counts") {
			t.Errorf("%s: %q, %q", name, metric.Texts(r.step.Warnings), metric.Texts(r.step.Notes))
		}
	}
}

// TestSysbenchCheckpointCut: a log without an end has the figures of its checkpoints.
func TestSysbenchCheckpointCut(t *testing.T) {
	begin, figures := strings.Index(sbTen, "[ 5s ]"), strings.Index(sbTen, "SQL statistics")
	part := "Checkpoint report:\n" + sbTen[figures:] + "\n"
	log := sbTen[:begin] + "[ 10s ] " + part + "[ 20s ] " + strings.Replace(part, "10.0030s", "20.0060s", 1)
	r := onlyRun(t, log, Options{})
	numbers(t, &r.step, []want{{"rows", "transaction", "", 20000}, {"rows_per_s", "transaction", "", 20000 / 20.006},
		{"queries_per_s", "transaction", "", 400000 / 20.006}})
	lines := seriesOf(t, r)
	expect.True(t, r.step.Status == result.Partial && len(lines) == 2 && lines[1].Ops == 10000, r.step.Status, lines)
}

// TestSysbenchRate: a rate that was missed is a warning, a random schedule that asked
// for a little less is not.
func TestSysbenchRate(t *testing.T) {
	for rate, missed := range map[string]bool{"4000": true, "1100": true, "1050": false, "1000": false, "900": false} {
		r := onlyRun(t, strings.Replace(sbTen, "threads: 4", "threads: 4\nTarget transaction rate: "+rate+"/sec", 1), Options{})
		met := r.step.Find(metric.SLAMet, "", "")
		expect.True(t, met != nil && (met.Value == 0) == missed &&
			metric.Has(r.step.Warnings, remark.SLAMissed) == missed, rate, met, metric.Texts(r.step.Warnings))
	}
}

// TestSysbenchContradictions: figures that contradict each other are in no comparison.
func TestSysbenchContradictions(t *testing.T) {
	for _, c := range []struct{ log, old, replaced, want string }{
		{sbTen, "avg:                                    4.00", "avg:                                    8.00", "the mean latency × the number of events is 80000, and the sum of latencies is 40000"},
		{sbTen, "max:                                   30.19", "max:                                    3.19", "latency avg in ms is 4, and the greatest is 3.19"},
		{sbTen, "Number of threads: 4", "Number of threads: 2", "events per thread × threads is 5000, and the number of events is 10000"},
		{sbTen, "Number of threads: 4", "Number of threads: 2", "the sum of latencies in ms is 40000, and the time of all threads is 20014"},
		{sbTen, "tps: 990.00", "tps: 9900.00", "the sum of the intervals is 54550, and the number of events is 10000"},
		{sbTen, "tps: 990.00", "tps: 9.00", "the sum of the intervals is 5095, and the number of events is 10000"},
		{sbTen, "qps: 19800.00", "qps: 198000.00", "the sum of the intervals is 1091000, and the number of queries is 200000"},
		{sbTen, "(19994.00 per sec.)", "(29994.00 per sec.)", "the rate of queries × the total time is 300030, and their number is 200000"},
		{sbTen, "write:                           40000", "write:                           50000", "the sum of reads, writes and others is 210000, and the number of queries is 200000"},
		{sbFive, "write:                           40000", "write:                           50000", "the sum of reads and writes is 190000, and the number of read/write requests is 180000"},
		{sbFive, "other:                           20000", "other:                           10000", "the sum of reads, writes and others is 190000, and their total is 200000"},
		{sbTen, "percentile:                        7.17", "percentile:                       71.70", "latency p99 in ms is 71.7, and the greatest is 30.19"},
		{sbFive, "execution: 40.0000s", "execution: 20.0000s", "the mean latency × the number of events is 40000, and the sum of latencies is 20000"},
	} {
		expect.Must(t, strings.Contains(c.log, c.old), c.old)
		r := onlyRun(t, strings.Replace(c.log, c.old, c.replaced, 1), Options{})
		expect.Contains(t, strings.Join(metric.Texts(r.step.Warnings), "; "), "the log contradicts itself: "+c.want, c.replaced)
		statements := r.step.Find(metric.QueriesPerS, "", "") != nil
		about := strings.Contains(c.want, "rate of queries") || strings.Contains(c.want, "of reads")
		expect.True(t, about != statements, "statements are known", c.replaced, statements)
	}
	for old, replaced := range map[string]string{"(999.70 per sec.)": "(1999.70 per sec.)", "10.0030s": "20.0030s", "events:              10000": "events:              20000"} {
		dir := write(t, map[string]string{"db/t.log": strings.Replace(sbTen, old, replaced, 1)})
		expect.Refused(Read([]string{dir}, Options{}))(t, "the log contradicts itself: ", replaced)
	}
	for _, dir := range []string{"testdata/sysbench", "testdata/more", "testdata/suite"} {
		for _, trial := range read(t, Options{CPUs: 16}, dir) {
			for _, s := range trial.Steps {
				expect.True(t, !metric.Has(s.Warnings, remark.Contradictory), s.Name, metric.Texts(s.Warnings))
			}
		}
	}
}

// TestDropped: figures that no metric takes are listed once, with the number of logs.
func TestDropped(t *testing.T) {
	dir := write(t, map[string]string{"a/t.log": sbTen, "b/t.log": strings.NewReplacer("99th", "97th", "99%", "97%").Replace(sbTen)})
	c := expect.Value(Read([]string{dir}, Options{}))(t)
	expect.Equal(t, strings.Join(c.Dropped, "; "), "reconnects (2 logs); latencies of intervals at other or unknown percentiles; the percentile 97")
}

// TestSysbenchHistogram: a histogram that does not have the log's events is left out.
func TestSysbenchHistogram(t *testing.T) {
	log := text(t, "testdata/more/histo.log")
	if s := onlyRun(t, log, Options{}).step; s.Find("service_p999_us", "", "") == nil || len(s.Warnings) > 0 {
		t.Errorf("%q", s.Warnings)
	}
	last := log[strings.Index(log, "      16.115 |"):]
	last = last[:strings.Index(last, "\n")+1]
	for _, spoiled := range []string{strings.Replace(log, last, last+last, 1), strings.Replace(log, last, "", 1),
		strings.Replace(strings.Replace(log, last, "", 1), "----- count\n", "----- count\n"+last, 1)} {
		s := onlyRun(t, spoiled, Options{}).step
		if row := s.Find("service_p95_us", "", ""); s.Find("service_p999_us", "", "") != nil || row.Value != 40 || len(s.Warnings) != 1 {
			t.Errorf("%+v, %q", row, metric.Texts(s.Warnings))
		}
	}
}

func TestFigure(t *testing.T) {
	for text, half := range map[string]float64{"12.50": 0.005, "10.0003": 0.00005, "7": 0, "5.": 0.5} {
		f, ok := figureOf(text)
		expect.True(t, ok && math.Abs(f.half-half) <= near, text, f.half, ok)
	}
	for _, text := range []string{"", "1,5", "-1", "x"} {
		_, ok := figureOf(text)
		expect.True(t, !ok, "is a figure", text)
	}
	rate, seconds := figure{0.10, 0.005}, figure{20, 0.00005}
	n := rate.times(seconds)
	expect.True(t, n.agrees(figure{value: 2}) && !n.agrees(figure{value: 3}), n)
}
