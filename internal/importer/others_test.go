package importer

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// hammerTest is the log of a test of HammerDB.
func hammerTest(users, orders string) string {
	return "Vuser 1:Beginning rampup time of 2 minutes\nVuser 1:Timing test period of 5 in minutes\n" +
		"Vuser 1:" + users + " Active Virtual Users configured\n" +
		"Vuser 1:TEST RESULT : System achieved " + orders + " NOPM from 139800 PostgreSQL TPM\n"
}

// A virtual user that fails makes its own test partial: the one that runs, or else the last one. A test
// that ends without a result says nothing about the next.
func TestHammerDBFailures(t *testing.T) {
	const failed = "Vuser 3:FINISHED FAILED\n"
	first, second := hammerTest("4", "60600"), hammerTest("8", "70600")
	during := strings.Replace(second, "Vuser 1:8", failed+"Vuser 1:8", 1)
	aborted := strings.Split(first, "Vuser 1:4")[0] + failed
	for _, c := range []struct{ name, log, partial string }{
		{"none", first + second, ""},
		{"after the first", first + failed + second, "a_clients=4"},
		{"in the second", first + during, "a_clients=8"},
		{"after the last", first + second + failed, "a_clients=8"},
		{"in a test without a result", aborted + first + second, ""},
	} {
		trials := read(t, Options{}, write(t, map[string]string{"pg/a.log": "HammerDB CLI v4.12\n" + c.log}))
		for _, name := range []string{"a_clients=4", "a_clients=8"} {
			want := result.Complete
			if name == c.partial {
				want = result.Partial
			}
			expect.Equal(t, step(t, trials, "pg", 1, name).Status, want, c.name, name)
		}
	}
}

// Tests with equal numbers of users in one log are trials; the jobs of HammerDB say the users otherwise.
func TestHammerDBRepeated(t *testing.T) {
	log := "HammerDB CLI v4.12\n" + hammerTest("4", "60600") + hammerTest("4", "70600")
	for _, dir := range []string{"pg/", "pg/2/"} {
		trials := read(t, Options{}, write(t, map[string]string{dir + "a.log": log}))
		expect.True(t, len(trials) == 2 && trials[0].Trial != trials[1].Trial, dir, names(trials))
	}
	jobs := strings.ReplaceAll(hammerTest("4", "60600"), "Vuser 1:4 Active", `"4 Active`)
	s := step(t, read(t, Options{}, write(t, map[string]string{"pg/a.log": "HammerDB CLI v4.12\n" + jobs})), "pg", 1, "a")
	expect.True(t, s.Groups[0].Clients == 4, s.Groups[0])
}

// benchbase puts the time into the names of its files: they are trials of one step, in their order.
func TestBenchbaseRepeated(t *testing.T) {
	later := strings.Replace(benchbaseJSON, "1700000000000", "1700000100000", 1)
	trials := read(t, Options{}, write(t, map[string]string{
		"pg/tpcc_2023-11-14_22-15-00.summary.json": later, "pg/tpcc_2023-11-14_22-13-20.summary.json": benchbaseJSON,
		"my/tpcc_2023-11-15_00-00-00.summary.json": benchbaseJSON,
	}))
	if got := names(trials); got != "my.1 tpcc, pg.1 tpcc, pg.2 tpcc" {
		t.Fatal(got)
	}
	a, b := step(t, trials, "pg", 1, "tpcc"), step(t, trials, "pg", 2, "tpcc")
	expect.True(t, a.Started.Before(b.Started), "trial 1 began at, trial 2 at", a.Started, b.Started)
}

const (
	ycsbHead = "[OVERALL], RunTime(ms), 10000\n[OVERALL], Throughput(ops/sec), 100.0\n"
	ycsbRead = "[READ], Operations, 1000\n[READ], AverageLatency(us), 50.5\n[READ], MinLatency(us), 2\n[READ], MaxLatency(us), 900\n" +
		"[READ], 50thPercentileLatency(us), 0\n[READ], 95thPercentileLatency(us), 70\n[READ], 99.9PercentileLatency(us), 548\n[READ], Return=OK, 1000\n"
)

// What a log of YCSB says of failures, of percentiles and of when a time begins.
func TestYCSBFigures(t *testing.T) {
	failedUpdates := ycsbHead + strings.Replace(ycsbRead, "1000", "500", 2) + "[UPDATE], Operations, 0\n[UPDATE], AverageLatency(us), NaN\n" +
		"[UPDATE], MinLatency(us), 9223372036854775807\n[UPDATE], MaxLatency(us), 0\n[UPDATE-FAILED], Operations, 500\n"
	for _, c := range []struct {
		name, log string
		want      []want
		lacks     []string
		warned    string
	}{
		{"whole", ycsbHead + ycsbRead, []want{{"rows_per_s", "read", "", 100}, {"service_p999_us", "read", "", 548}, {"service_max_us", "read", "", 900}},
			[]string{"service_p50_us", "response_p95_us", "errors"}, ""},
		{"failed by reason", ycsbHead + strings.Replace(ycsbRead, "1000", "995", 2) + "[READ-NOT_FOUND], Operations, 5\n",
			[]want{{"rows", "read", "", 995}, {"errors", "", "", 5}}, nil, "5 operations failed"},
		{"failed and fewer than they should be", ycsbHead + strings.Replace(ycsbRead, "1000", "900", 2) + "[READ-FAILED], Operations, 1\n",
			[]want{{"rows", "read", "", 900}}, nil, "throughput × run time is 1000, and operations is 901"},
		{"failed, with their latencies", ycsbHead + strings.NewReplacer("1000", "900", "Return=OK, 1000", "Return=OK, 900\n[READ], Return=NOT_FOUND, 100").Replace(ycsbRead) +
			"[READ-FAILED], Operations, 100\n[READ-FAILED], AverageLatency(us), 9.5\n",
			[]want{{"rows", "read", "", 900}, {"rows_per_s", "read", "", 90}, {"errors", "", "", 100}, {"service_mean_us", "read", "", 50.5}}, nil, "100 operations failed"},
		{"a kind that failed completely", failedUpdates, []want{{"rows", "read", "", 500}, {"errors", "", "", 500}}, nil, "500 operations failed"},
		{"codes of old releases", ycsbHead + strings.Replace(ycsbRead, "Return=OK, 1000", "Return=0, 900\n[READ], Return=1, 100", 1),
			[]want{{"rows", "read", "", 900}, {"errors", "", "", 100}}, nil, "100 operations failed"},
		{"times of a schedule", "Command line: -t -target 100 -p measurement.interval=intended\n" + ycsbHead + ycsbRead,
			[]want{{"response_p95_us", "read", "", 70}}, []string{"service_p95_us", "service_mean_us"}, ""},
		{"a histogram of ms", ycsbHead + ycsbRead + "[READ], LatencyVariance(us), 12.5\n", []want{{"service_p95_us", "read", "", 70}}, nil, "whole milliseconds"},
		{"a number twice", ycsbHead + ycsbRead + "[READ], Operations, 1001\n", nil, nil, "operations is 1000, and later is 1001"},
	} {
		trials := read(t, Options{}, write(t, map[string]string{"db/a.log": c.log}))
		s := &trials[0].Steps[0]
		numbers(t, s, c.want)
		absent(t, s, c.lacks...)
		expect.Contains(t, strings.Join(metric.Texts(s.Warnings), "; "), c.warned, c.name)
	}
}

// What a log does not say is not guessed.
func TestYCSBRefused(t *testing.T) {
	rmw := ycsbHead + "[READ], Operations, 100\n[READ-FAILED], Operations, 50\n[UPDATE-FAILED], Operations, 50\n[READ-MODIFY-WRITE], Operations, 50\n"
	for log, want := range map[string]string{
		rmw: "reads or updates of read-modify-writes failed",
		ycsbHead + strings.Replace(ycsbRead, "Operations, 1000", "Operations, 1e300", 1):                                   "no number of operations",
		ycsbHead + strings.Replace(ycsbRead, "[READ], Operations, 1000\n", "", 1):                                          "no number of its operations",
		`{"metric":"OVERALL","measurement":"RunTime(ms)","value":255}`:                                                     "JSON, or raw",
		"***************** properties *****************\nBATCH_INSERT - Takes(s): 1.0, Count: 10, OPS: 10.0, Avg(us): 1\n": "counts batches",
		"YCSB Client 0.17.0\n2026-11-28 10:00:00:000 10 sec: 0 operations; est completion in 1 minute\n" +
			"2026-11-28 10:00:10:000 20 sec: 10 operations; 1 current ops/sec; [READ-FAILED: Count=10, Max=1]\n": "operations that failed, too",
	} {
		_, err := Read([]string{write(t, map[string]string{"db/a.log": log})}, Options{Now: at})
		expect.Error(t, err, want, log)
	}
}

// Runs that did different things are no trials of one: neither in a file, nor in different targets.
func TestYCSBDifferentRuns(t *testing.T) {
	load := strings.ReplaceAll(ycsbHead+ycsbRead, "[READ]", "[INSERT]")
	trials := read(t, Options{}, write(t, map[string]string{"db/a.log": load + ycsbHead + ycsbRead}))
	expect.True(t, len(trials) == 1 && len(trials[0].Steps) == 2, names(trials))
	command := func(workload string) string {
		return "Command line: -t -P workloads/" + workload + " -P my/db.properties\n"
	}
	// The same workload on two databases is one, whatever their own files are called.
	other := strings.Replace(command("workloada"), "my/db", "your/other", 1)
	trials = read(t, Options{}, write(t, map[string]string{"one/a.log": command("workloada") + ycsbHead + ycsbRead, "two/a.log": other + ycsbHead + ycsbRead}))
	expect.True(t, len(trials) == 2 && trials[0].Params["script"] == "workloada" &&
		trials[1].Params["script"] == "workloada", names(trials), trials[0].Params, trials[1].Params)
	trials = read(t, Options{}, write(t, map[string]string{"db/a.log": command("workloada") + ycsbHead + ycsbRead + command("workloadb") + ycsbHead + ycsbRead}))
	expect.True(t, len(trials) == 1 && len(trials[0].Steps) == 2, names(trials))
}

const goBenchLog = "goos: linux\npkg: example.com/store\nBenchmarkGet/size=100-8   \t 1000\t  2000 ns/op\t 64 B/op\n" +
	"BenchmarkGet/size=100-8   \t 1000\t  2500 ns/op\t 64 B/op\nBenchmarkPut-8  500  0.5 ns/op\nPASS\n"

// Results of Go's benchmarks: repeated ones are trials; a custom rate is the rate.
func TestGoBench(t *testing.T) {
	trials := read(t, Options{}, write(t, map[string]string{"db/bench.txt": goBenchLog,
		"db/ycsb.txt": "Benchmarkycsb/A/values=1000 60000  1000.0 ops/sec  0 read  5 write  1.50 r-amp  7.25 w-amp\n"}))
	get := "Get/size=100"
	numbers(t, step(t, trials, "db", 1, get), []want{{"rows_per_s", "operation", "", 5e5}, {"rows", "operation", "", 1000}, {"duration_s", "", "", 0.002}})
	numbers(t, step(t, trials, "db", 2, get), []want{{"rows_per_s", "operation", "", 4e5}})
	numbers(t, step(t, trials, "db", 1, "Put"), []want{{"rows_per_s", "operation", "", 2e9}})
	numbers(t, step(t, trials, "db", 1, "ycsb/A/values=1000"), []want{{"rows_per_s", "operation", "", 1000}, {"engine_write_amplification", "", "", 7.25}, {"duration_s", "", "", 60}})
	cpus := read(t, Options{}, write(t, map[string]string{"db/bench.txt": strings.Replace(goBenchLog, "100-8", "100-4", 1)}))
	step(t, cpus, "db", 1, get+"_gomaxprocs=4")
	both := step(t, read(t, Options{}, write(t, map[string]string{"db/b.txt": "--- FAIL: BenchmarkX\nBenchmarkBatch-8 100 2000000 ns/op 50000 ops/sec\n"})), "db", 1, "Batch")
	numbers(t, both, []want{{"rows_per_s", "operation", "", 50000}, {"rows", "operation", "", 10000}, {"duration_s", "", "", 0.2}})
	expect.Contains(t, fmt.Sprint(metric.Texts(both.Warnings)), "not all benchmarks of this output succeeded: --- FAIL: BenchmarkX")
	for text, reason := range map[string]string{"BenchmarkGet-8 10 1e300 ops/sec\n": "it has 1e+300 ops/sec", "BenchmarkGet-8 10 5 ops/sec -2 w-amp\n": "it has -2 w-amp",
		"BenchmarkGet-8 10 5 ns/op 6 ns/op\n": "or has it twice", "BenchmarkGet-8 10 x ns/op\nBenchmarkPut-8 1 1 ns/op\n": "invalid syntax", "BenchmarkGet-8 10 5 B/op\n": "no benchmark has a time"} {
		expect.Refused(Read([]string{write(t, map[string]string{"db/b.txt": text})}, Options{}))(t, reason, text)
	}
}

const tpccMySQLLog = `***************************************
*** ###easy### TPC-C Load Generator ***
***************************************
<Parameters>
  [warehouse]: 10
 [connection]: 4
     [rampup]: 5 (sec.)
    [measure]: 30 (sec.)

MEASURING START.

  10, trx: 30000, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 300|83.015, 30|13.419, 30|91.254, 30|161.849
  20, trx: 31000, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 300|83.015, 30|13.419, 30|91.254, 30|161.849
  30, trx: 28000, 95%: 37.412, 99%: 51.629, max_rt: 96.649, 300|83.015, 30|13.419, 30|91.254, 30|161.849

STOPPING THREADS....

<Raw Results>
  [0] sc:60000  lt:29000  rt:3  fl:1 
  [1] sc:900  lt:0  rt:0  fl:0 
  [2] sc:90  lt:0  rt:0  fl:0 
  [3] sc:90  lt:0  rt:0  fl:0 
  [4] sc:0  lt:0  rt:0  fl:0 
 in 30 sec.

<Raw Results2(sum ver.)>
  [0] sc:60000  lt:30000  rt:3  fl:1 
  [1] sc:900  lt:0  rt:0  fl:0 
  [2] sc:90  lt:0  rt:0  fl:0 
  [3] sc:90  lt:0  rt:0  fl:0 
  [4] sc:0  lt:0  rt:0  fl:0 

<TpmC>
                 178000.000 TpmC
`

// tpcc-mysql's own rate is that of a counter that loses orders; the sum of its threads' is taken.
func TestTPCCMySQL(t *testing.T) {
	of := func(log string) *result.Step {
		return &read(t, Options{}, write(t, map[string]string{"db/tpcc.log": log}))[0].Steps[0]
	}
	s := of(tpccMySQLLog)
	numbers(t, s, []want{{"rows_per_s", "new_order", "", 3000}, {"rows", "payment", "", 900}, {"errors", "", "", 1}, {"retries", "", "", 3}, {"stalls", "", "", 0}})
	absent(t, s, "service_p95_us", "service_max_us")
	expect.Contains(t, fmt.Sprint(metric.Texts(s.Warnings)), "TpmC lacks 1.1 % of the new orders")
	expect.Equal(t, s.Find("rows_per_s", "stock_level", "") == nil, true)
	for name, c := range map[string]struct{ old, new, want string }{
		"rate":      {"178000.000", "278000.000", "TpmC is 278000"},
		"intervals": {"trx: 31000", "trx: 91000", "the sum of the intervals is 149000"},
		"older":     {"trx: 31000, 95%: 37.412, 99%: 51.629, max_rt: 96.649", "31000(5):37.4|96.6", "TpmC lacks"},
		"clock":     {"  30, trx", "  15, trx", "the end of an interval is 15"},
		"refused":   {"MEASURING START.\n", "1040, 08004, Too many connections\nMEASURING START.\n", "a connection failed: 1040, 08004, Too many"},
		"cut":       {"<TpmC>\n                 178000.000 TpmC\n", "", "TpmC lacks"},
	} {
		expect.Contains(t, fmt.Sprint(metric.Texts(of(strings.Replace(tpccMySQLLog, c.old, c.new, 1)).Warnings)), c.want, name)
	}
	before, _, _ := strings.Cut(tpccMySQLLog, "<Raw Results2")
	for text, reason := range map[string]string{before: "no results of all kinds", tpccMySQLLog + tpccMySQLLog: "a second run ends here"} {
		expect.Refused(Read([]string{write(t, map[string]string{"db/tpcc.log": text})}, Options{}))(t, reason)
	}
}

// The clients of one run are named, and summed over the time of the longest.
func TestClientsOfOneRun(t *testing.T) {
	log := func(ms, n int, threads string) string {
		return fmt.Sprintf("YCSB Client 0.17.0\nCommand line: -t -threads %s\n[OVERALL], RunTime(ms), %d\n[OVERALL], Throughput(ops/sec), %g\n[READ], Operations, %d\n[READ], AverageLatency(us), 50.5\n[READ], MaxLatency(us), %d\n[READ], Return=OK, %d\n",
			threads, ms, float64(n)*1e3/float64(ms), n, n, n)
	}
	files := map[string]string{"db/A.client1.log": log(10000, 1000, "4"), "db/A.client2.log": log(5000, 4000, "4"), "db/B.log": log(10000, 10, "1")}
	trials := read(t, Options{}, write(t, files))
	s := step(t, trials, "db", 1, "A")
	numbers(t, s, []want{{"rows_per_s", "read", "", 500}, {"rows", "read", "", 5000}, {"duration_s", "", "", 10}, {"service_max_us", "read", "", 4000}})
	absent(t, s, "service_mean_us")
	swapped := read(t, Options{}, write(t, map[string]string{"db/A.client0.log": log(5000, 4000, "4"), "db/A.client1.log": log(10000, 1000, "4")}))
	numbers(t, step(t, swapped, "db", 1, "A"), []want{{"rows_per_s", "read", "", 500}, {"duration_s", "", "", 10}})
	numbers(t, step(t, trials, "db", 1, "B"), []want{{"rows_per_s", "read", "", 1}})
	dir := write(t, files)
	trials = read(t, Options{}, filepath.Join(dir, "db/A.client1.log"), filepath.Join(dir, "db/A.client2.log"))
	expect.Equal(t, len(trials), 1)
	delete(files, "db/A.client1.log")
	files["db/A-client2.log"] = log(10000, 7, "1")
	expect.Refused(Read([]string{write(t, files)}, Options{}))(t, "no other client of the run")
	delete(files, "db/A-client2.log")
	files["db/A.client1.log"] = strings.Replace(log(10000, 7, "1"), "-t ", "-t -p recordcount=5 ", 1)
	expect.Refused(Read([]string{write(t, files)}, Options{}))(t, "no other client of the run")
	gap := map[string]string{"db/A.client1.log": log(10000, 7, "1"), "db/A.client4.log": log(10000, 7, "1")}
	expect.Refused(Read([]string{write(t, gap)}, Options{}))(t, "2 client processes have no log here: there are 2, with numbers from 1 to 4")
	// What only some were asked for is not asked of all; those without errors count among the operations.
	some := map[string]string{"db/A.client1.log": strings.Replace(log(10000, 700, "1"), "-t ", "-t -target 70 ", 1),
		"db/A.client2.log": strings.Replace(log(10000, 300, "1"), "Return=OK, 300", "Return=OK, 290\n[READ], Return=ERROR, 10", 1)}
	s = step(t, read(t, Options{}, write(t, some)), "db", 1, "A")
	absent(t, s, "sla_target")
	errors := s.Find("errors", "", "")
	expect.True(t, errors != nil && errors.Value == 10 && errors.N == 1000, errors)
}

// benchbase's samples are intervals, but the last, which was not whole.
func TestBenchbaseSamples(t *testing.T) {
	summary := `{"Elapsed Time (nanoseconds)": 3500000000, "DBMS Type": "POSTGRES", "Benchmark Type": "ycsb", "Measured Requests": 35000, "Latency Distribution": {}, "Throughput (requests/second)": 10000, "Goodput (requests/second)": 10000}`
	const samples = "Time (seconds),Requests,Throughput (requests/second)\n0,10000,100.000\n1,9000,90.000\n2,11000,110.000\n3,5000,50.000\n"
	of := func(samples string) *result.Step {
		return &read(t, Options{}, write(t, map[string]string{"db/y.summary.json": summary, "db/y.samples.csv": samples}))[0].Steps[0]
	}
	numbers(t, of(samples), []want{{"rows_per_s", "transaction", "", 10000}, {"stalls", "", "", 0}})
	times := func(text string) string {
		of := write(t, map[string]string{"db/y.summary.json": strings.Replace(strings.Replace(summary, "{}", text, 1), "\"DBMS", "\"terminals\": \"4\", \"DBMS", 1),
			"db/y.samples.csv": samples, "db/y.config.xml": "<parameters/>"})
		c := expect.Value(Read([]string{of}, Options{}))(t)
		expect.Equal(t, len(c.Ignored), 0, "left alone", c.Ignored)
		return fmt.Sprint(metric.Texts(c.trials[0].Steps[0].Warnings))
	}
	expect.Contains(t, times(`{"Average Latency (microseconds)": 900}`), "mean × number of transaction is 31.5")
	expect.Contains(t, times(`{"Average Latency (microseconds)": 300, "Maximum Latency (microseconds)": 1e300}`), "the greatest time")
	expect.Lacks(t, times(`{"Average Latency (microseconds)": 390, "Maximum Latency (microseconds)": 5000}`), "contradicts")
	for old, c := range map[string][2]string{"3,5000,50.000": {"3,2000,1\n4,1000,1\n5,1000,1\n6,1000,1", "the seconds of samples.csv"}, "3,5000,50.": {"3,9000,90.", "the sum of samples.csv is 39000"}, "2,110": {"4,110", "is no sample of second 2"}, "Requests,": {"x,", "no table of samples"}} {
		expect.Contains(t, fmt.Sprint(metric.Texts(of(strings.Replace(samples, old, c[0], 1)).Warnings)), c[1], old)
	}
}
