package importer

import (
	"fmt"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// ycsbCodes is a summary of reads with these lines after their times.
func ycsbCodes(operations int, lines ...string) string {
	return ycsbHead + fmt.Sprintf("[READ], Operations, %d\n[READ], AverageLatency(us), 50.5\n[READ], Return=", operations) +
		strings.Join(lines, "\n[READ], Return=") + "\n"
}

// Operations that returned another code than that of success have failed, whether a release counts them or not.
func TestCodes(t *testing.T) {
	for name, c := range map[string]struct {
		log          string
		rate, errors float64
		warned       string
	}{
		"counted":           {ycsbCodes(1000, "OK, 440", "ERROR, 10", "NOT_FOUND, 550"), 44, 560, "times include those of operations that failed"},
		"negative":          {ycsbCodes(1000, "0, 900", "-1, 100"), 90, 100, "100 operations failed"},
		"not counted":       {strings.Replace(ycsbCodes(900, "OK, 900", "ERROR, 100"), "READ-F", "", 1), 90, 100, "100 operations failed"},
		"a kind of its own": {ycsbCodes(900, "OK, 900", "ERROR, 100") + "[READ-FAILED], Operations, 100\n", 90, 100, "100 operations failed"},
		"less than counted": {ycsbCodes(1000, "OK, 440", "ERROR, 10"), 99, 10, "READ: the sum of its codes is 450, and its operations is 1000"},
	} {
		s := &read(t, Options{}, write(t, map[string]string{"db/run.log": c.log}))[0].Steps[0]
		numbers(t, s, []want{{"rows_per_s", "read", "", c.rate}, {"errors", "", "", c.errors}})
		expect.Contains(t, fmt.Sprint(metric.Texts(s.Warnings)), c.warned, name)
	}
	retried := ycsbHead + "[INSERT], Operations, 1000\n[INSERT], Return=OK, 1000\n[INSERT], Return=ERROR, 50\n[INSERT-FAILED], Operations, 50\n"
	s := &read(t, Options{}, write(t, map[string]string{"db/load.log": retried}))[0].Steps[0]
	numbers(t, s, []want{{"rows_per_s", "insert", "", 100}, {"retries", "", "", 50}})
	expect.True(t, s.Find("errors", "", "") == nil && len(s.Warnings) == 0, s.Warnings)
}

// Times that cannot be of one distribution are not taken.
func TestImpossibleTimes(t *testing.T) {
	for name, line := range map[string]string{
		"mean":       "AverageLatency(us), 5000.5\n[READ], MinLatency(us), 100\n[READ], MaxLatency(us), 900",
		"least":      "MinLatency(us), 1000\n[READ], MaxLatency(us), 900",
		"percentile": "MinLatency(us), 100\n[READ], MaxLatency(us), 900\n[READ], 95thPercentileLatency(us), 70",
	} {
		log := ycsbHead + "[READ], Operations, 1000\n[READ], Return=OK, 1000\n[READ], " + line + "\n"
		s := &read(t, Options{}, write(t, map[string]string{"db/run.log": log}))[0].Steps[0]
		numbers(t, s, []want{{"rows_per_s", "read", "", 100}})
		expect.True(t, metric.Has(s.Warnings, remark.Contradictory) && s.Find("service_max_us", "read", "") == nil, name, s.Warnings)
	}
}

// Percentiles of old releases of go-ycsb are whole milliseconds, rounded up; they may exceed the longest time.
func TestWholeMilliseconds(t *testing.T) {
	const figures = "READ - Takes(s): 10.0, Count: 5000, OPS: 500.0, Avg(us): 5495, Min(us): 2692, Max(us): 20188, " +
		"99th(us): 11000, 99.9th(us): 21000\n"
	log := figures + "Run finished, takes 10.1s\n" + figures
	s := &read(t, Options{}, write(t, map[string]string{"db/run.log": log}))[0].Steps[0]
	numbers(t, s, []want{{"service_p99_us", "read", "", 11000}})
	expect.Contains(t, fmt.Sprint(metric.Texts(s.Warnings)), "percentiles are whole milliseconds, rounded up")
	expect.Equal(t, len(s.Curves), 1, s.Curves)
}

const goTPCLines = `[Current] NEW_ORDER - Takes(s): 10.0, Count: 1600, TPM: 9600.0, Sum(ms): 56000.0, Avg(ms): 35.0, 99th(ms): 80.0
[Current] NEW_ORDER - Takes(s): 10.0, Count: 1640, TPM: 9840.0, Sum(ms): 56000.0, Avg(ms): 35.0, 99th(ms): 80.0
Finished
[Summary] NEW_ORDER - Takes(s): 20.0, Count: 3240, TPM: 9720.0, Sum(ms): 113400.0, Avg(ms): 35.0, 50th(ms): 33.6, 99th(ms): 80.0, Max(ms): 112.0
[Summary] NEW_ORDER_ERR - Takes(s): 20.0, Count: 7, TPM: 21.0, Sum(ms): 20.0, Avg(ms): 2.0
[Summary] PAYMENT - Takes(s): 20.0, Count: 3120, TPM: 9360.0, Sum(ms): 43680.0, Avg(ms): 14.0, 99th(ms): 48.0
tpmC: 9720.0, tpmTotal: 19080.0, efficiency: 755.8%
`

func TestGoTPC(t *testing.T) {
	s := &read(t, Options{}, write(t, map[string]string{"db/run.log": goTPCLines}))[0].Steps[0]
	expect.True(t, s.Status == result.Complete && s.Primary == "new_order", s.Status, s.Primary)
	numbers(t, s, []want{{"rows_per_s", "new_order", "", 162}, {"rows_per_s", "payment", "", 156}, {"errors", "", "", 7},
		{"service_mean_us", "new_order", "", 35000}, {"service_p50_us", "new_order", "", 33600}, {"service_max_us", "new_order", "", 112000}})
	before, _, _ := strings.Cut(goTPCLines, "Finished")
	s = &read(t, Options{}, write(t, map[string]string{"db/run.log": before}))[0].Steps[0]
	expect.Equal(t, s.Status, result.Partial)
	numbers(t, s, []want{{"rows", "new_order", "", 3240}, {"rows_per_s", "new_order", "", 162}})
	old := strings.ReplaceAll(strings.ReplaceAll(goTPCLines, "[Current] ", ""), "Count: 1640", "Count: 3240")
	old, _, _ = strings.Cut(strings.ReplaceAll(old, "10.0, Count: 3240, TPM: 9840.0", "20.0, Count: 3240, TPM: 9720.0"), "Finished")
	s = &read(t, Options{}, write(t, map[string]string{"db/run.log": old}))[0].Steps[0]
	expect.Equal(t, s.Status, result.Complete, "a release that prints the figures since the beginning")
	numbers(t, s, []want{{"rows", "new_order", "", 3240}, {"rows_per_s", "new_order", "", 162}})
}

// Runs that differ in what they were asked for are no trials; nor are those whose rates differ beyond measure.
func TestNoRepetitions(t *testing.T) {
	later := strings.Replace(benchbaseJSON, "1700000000000", "1700000100000", 1)
	files := map[string]string{"pg/a_2023-11-14_22-13-20.summary.json": benchbaseJSON, "pg/a_2023-11-14_22-15-00.summary.json": later}
	config := "<parameters><works><work><rate>%d</rate></work></works></parameters>"
	files["pg/a_2023-11-14_22-13-20.config.xml"] = fmt.Sprintf(config, 1000)
	files["pg/a_2023-11-14_22-15-00.config.xml"] = fmt.Sprintf(config, 2000)
	expect.Equal(t, names(read(t, Options{}, write(t, files))), "pg.1 a_rate=1000, pg.1 a_rate=2000")
	log := "HammerDB CLI v4.12\n" + hammerTest("4", "60600") + hammerTest("4", "6060")
	expect.Refused(Read([]string{write(t, map[string]string{"pg/a.log": log})}, Options{}))(t, "are no trials of one test")
}

// What the job's commands print of a test that the log has is no other test. Users that ended early make it partial.
func TestHammerDBJobs(t *testing.T) {
	log := "HammerDB CLI v4.6\n" + hammerTest("4", "60600") + "TRANSACTION RESPONSE TIMES\n{\n\"NEWORD\": {\"calls\": \"53589\", " +
		"\"avg_ms\": \"4.257\", \"max_ms\": \"126.83\", \"elapsed_ms\": \"420772.0\", \"p99_ms\": \"14.536\"}\n}\n[\n" +
		"  \"TEST RESULT : System achieved 60600 NOPM from 139800 PostgreSQL TPM\"\n]\n"
	trials := read(t, Options{}, write(t, map[string]string{"pg/a.log": log}))
	s := step(t, trials, "pg", 1, "a")
	numbers(t, s, []want{{"rows_per_s", "new_order", "", 1010}, {"service_mean_us", "new_order", "", 4257}, {"service_p99_us", "new_order", "", 14536},
		{"service_max_us", "new_order", "", 126830}})
	expect.Equal(t, names(trials), "pg.1 a")
	cut, _, _ := strings.Cut(log, "}")
	trials = read(t, Options{}, write(t, map[string]string{"pg/a.log": cut + "\n" + hammerTest("8", "70600")}))
	expect.Equal(t, names(trials), "pg.1 a_clients=4, pg.1 a_clients=8", "an object without an end")
	early := strings.Replace(hammerTest("4", "60600"), "Vuser 1:4", "Vuser 2:FINISHED SUCCESS\nVuser 1:Test complete\nVuser 1:4", 1)
	s = step(t, read(t, Options{}, write(t, map[string]string{"pg/a.log": early})), "pg", 1, "a")
	expect.Equal(t, s.Status, result.Partial)
}

// The remark that a rate was not steady is that of measured runs.
func TestUnsteadyLog(t *testing.T) {
	intervals := ""
	for i := 1; i <= 60; i++ {
		intervals += fmt.Sprintf("[ %ds ] thds: 4 tps: %d.00 qps: %d.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%%): 4.00 err/s: 0.00 reconn/s: 0.00\n",
			i, 1000-500*(i/31)+i%7, 1000-500*(i/31)+i%7)
	}
	s := &read(t, Options{}, write(t, map[string]string{"db/ro.log": "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nRunning the test with following options:\nNumber of threads: 4\n\nThreads started!\n\n" + intervals}))[0].Steps[0]
	expect.True(t, metric.Has(s.Find("rows_per_s", s.Primary, "").Warnings, remark.NotSteady), s.Warnings)
}

const benchmarkSQLLines = `16:16:21,131 [main] INFO   jTPCC : Term-00,      BenchmarkSQL v5.0
16:16:21,132 [main] INFO   jTPCC : Term-00, db=postgres
16:16:21,132 [main] INFO   jTPCC : Term-00, conn=jdbc:postgresql://localhost:5432/tpcc?a=b
16:16:21,132 [main] INFO   jTPCC : Term-00, warehouses=10
16:16:21,132 [main] INFO   jTPCC : Term-00, terminals=20
16:16:21,133 [main] INFO   jTPCC : Term-00, runMins=1
16:16:21,133 [main] INFO   jTPCC : Term-00, limitTxnsPerMin=0
Term-00, Running Average tpmTOTAL: 28000.10    Current tpmTOTAL: 264000    Memory Usage: 14MB / 55MB
16:17:21,254 [Thread-1] INFO   jTPCC : Term-00, Measured tpmC (NewOrders) = 12714.6
16:17:21,254 [Thread-1] INFO   jTPCC : Term-00, Measured tpmTOTAL = 28225.8
16:17:21,255 [Thread-1] INFO   jTPCC : Term-00, Session Start     = 2017-06-26 16:16:21
16:17:21,255 [Thread-1] INFO   jTPCC : Term-00, Session End       = 2017-06-26 16:17:21
16:17:21,255 [Thread-1] INFO   jTPCC : Term-00, Transaction Count = 28227
`

func TestBenchmarkSQL(t *testing.T) {
	trial := read(t, Options{}, write(t, map[string]string{"db/run.log": benchmarkSQLLines}))[0]
	s := &trial.Steps[0]
	expect.True(t, s.Status == result.Complete && s.Primary == "new_order" && s.Groups[0].Clients == 20 && trial.Engine == "postgres", s)
	numbers(t, s, []want{{"rows_per_s", "new_order", "", 211.91}, {"ops_per_s", "transaction", "", 470.43}, {"duration_s", "", "", 60}})
	expect.Equal(t, len(s.Warnings), 0, s.Warnings)
	for old, changed := range map[string]string{"Count = 28227": "Count = 35000", "[Thread-1] INFO   jTPCC : Term-00, Session Start": "[Thread-2] ERROR  jTPCCTData : deadlock\n$0"} {
		log := strings.Replace(benchmarkSQLLines, old, strings.ReplaceAll(changed, "$0", "16:17:21,255 "+old), 1)
		s := &read(t, Options{}, write(t, map[string]string{"db/run.log": log}))[0].Steps[0]
		expect.Equal(t, len(s.Warnings), 1, changed, s.Warnings)
	}
	for reason, log := range map[string]string{"no rate": strings.Replace(benchmarkSQLLines, "12714.6", "-", 1), "a second run": benchmarkSQLLines + benchmarkSQLLines} {
		expect.Refused(Read([]string{write(t, map[string]string{"db/run.log": log})}, Options{}))(t, reason)
	}
}
