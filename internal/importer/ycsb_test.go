package importer

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Outputs of YCSB 0.17 and its status lines: a read-modify-write counts once, though it is also
// a read and an update, and connections are no operations.
func TestYCSB(t *testing.T) {
	dir := write(t, map[string]string{"db/mixed.out": text(t, "testdata/ycsb/mixed.out"), "db/mixed.err": text(t, "testdata/ycsb/mixed.err")})
	trials := read(t, Options{}, dir)
	expect.Must(t, len(trials) == 1 && trials[0].Versions.Value("client") == "YCSB 0.17.0" && trials[0].Params["clients"] == 2.0 && trials[0].Params["recordcount"] == 1000.0, trials[0])
	s := &trials[0].Steps[0]
	numbers(t, s, []want{
		{"rows", "operation", "", 4000}, {"duration_s", "", "", 3.555}, {"rows_per_s", "operation", "", 4000 / 3.555},
		{"rows", "read", "", 2818}, {"rows", "update", "", 1982}, {"rows", "read_modify_write", "", 800},
		{"service_mean_us", "read", "", 1326.9506742370475}, {"service_p95_us", "read", "", 2793}, {"service_p99_us", "update", "", 5159},
		{"service_max_us", "read_modify_write", "", 153215},
	})
	expect.True(t, s.Groups[0].Clients == 2 && len(s.Warnings) == 0 &&
		len(s.Curves) == 3, s.Groups[0], s.Warnings, len(s.Curves))
	absent(t, s, "errors", "sla_met", "response_p99_us", "service_min_us")
}

// With a target the intended times are response times.
func TestYCSBTarget(t *testing.T) {
	c := expect.Value(Read([]string{"testdata/ycsb/target.log"}, Options{Now: at}))(t)
	s := &c.trials[0].Steps[0]
	numbers(t, s, []want{{"rows", "read", "", 3000}, {"sla_target", "", "", 800}, {"sla_met", "", "", 1},
		{"service_p99_us", "read", "", 38}, {"response_p99_us", "read", "", 514815}, {"response_min_us", "read", "", 19}})
	lines := seriesOf(t, c.trials[0].runs[0])
	expect.True(t, len(lines) == 4 && lines[0].Ops == 274 && lines[0].DT == 0.332 && lines[3].T == 3.103, lines)
	// Without its end the status lines remain.
	cut, _, _ := strings.Cut(text(t, "testdata/ycsb/target.log"), "[OVERALL]")
	trials := read(t, Options{}, write(t, map[string]string{"db/a.log": cut}))
	s = &trials[0].Steps[0]
	expect.Equal(t, s.Status, result.Partial)
	expect.Contains(t, trials[0].Reason, "no final figures")
	numbers(t, s, []want{{"rows", "operation", "", 2489}, {"duration_s", "", "", 3.103}})
}

const goYCSB = `***************** properties *****************
"recordcount"="1000"
"mysql.password"="secret"
"threadcount"="4"
"dotransactions"="true"
**********************************************
READ   - Takes(s): 10.0, Count: 49000, OPS: 4900.1, Avg(us): 200, Min(us): 90, Max(us): 9000, 50th(us): 190, 90th(us): 300, 95th(us): 350, 99th(us): 500, 99.9th(us): 2000, 99.99th(us): 8000
TOTAL  - Takes(s): 10.0, Count: 51000, OPS: 5100.2, Avg(us): 206, Min(us): 90, Max(us): 9000, 50th(us): 195, 90th(us): 310, 95th(us): 355, 99th(us): 510, 99.9th(us): 2100, 99.99th(us): 8100
UPDATE - Takes(s): 10.0, Count: 2000, OPS: 200.0, Avg(us): 400, Min(us): 200, Max(us): 7000, 50th(us): 390, 90th(us): 600, 95th(us): 650, 99th(us): 900, 99.9th(us): 3000, 99.99th(us): 6000
**********************************************
Run finished, takes 20.1s
READ   - Takes(s): 20.0, Count: 95000, OPS: 4750.2, Avg(us): 205, Min(us): 90, Max(us): 9500, 50th(us): 195, 90th(us): 310, 95th(us): 355, 99th(us): 510, 99.9th(us): 2100, 99.99th(us): 8100
TOTAL  - Takes(s): 20.0, Count: 100000, OPS: 5000.1, Avg(us): 206, Min(us): 90, Max(us): 9500, 50th(us): 195, 90th(us): 310, 95th(us): 355, 99th(us): 510, 99.9th(us): 2100, 99.99th(us): 8100
UPDATE - Takes(s): 20.0, Count: 5000, OPS: 250.1, Avg(us): 400, Min(us): 200, Max(us): 7000, 50th(us): 390, 90th(us): 600, 95th(us): 650, 99th(us): 900, 99.9th(us): 3000, 99.99th(us): 6000
UPDATE_ERROR - Takes(s): 12.0, Count: 7, OPS: 0.6, Avg(us): 400, Min(us): 200, Max(us): 700, 50th(us): 390, 90th(us): 600, 95th(us): 650, 99th(us): 700, 99.9th(us): 700, 99.99th(us): 700
`

func TestGoYCSB(t *testing.T) {
	trials := read(t, Options{}, write(t, map[string]string{"db/run.log": goYCSB}))
	s := &trials[0].Steps[0]
	numbers(t, s, []want{
		{"rows", "operation", "", 100000}, {"rows", "read", "", 95000}, {"duration_s", "", "", 100000 / 5000.1},
		{"service_p50_us", "read", "", 195}, {"service_p999_us", "update", "", 3000}, {"errors", "", "", 7},
	})
	expect.True(t, trials[0].Params["clients"] == 4.0 && trials[0].Params["mysql.password"] == nil &&
		s.Groups[0].Clients == 4, trials[0].Params, s.Groups[0])
	before, _, _ := strings.Cut(goYCSB, "Run finished")
	s = &read(t, Options{}, write(t, map[string]string{"db/run.log": before}))[0].Steps[0]
	expect.Equal(t, s.Status, result.Partial, "without its end")
	numbers(t, s, []want{{"rows", "operation", "", 51000}, {"duration_s", "", "", 9.999607858}})
}

const hammerLog = `HammerDB CLI v4.12
Vuser 1:Beginning rampup time of 2 minutes
Vuser 2:Processing 10000000 transactions with output suppressed...
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 5 in minutes
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:4 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 60600 NOPM from 139800 PostgreSQL TPM
Vuser 1:FINISHED SUCCESS
Vuser 1:Timing test period of 5 in minutes
Vuser 1:8 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 90000 NOPM from 207000 PostgreSQL TPM
`

func TestHammerDB(t *testing.T) {
	trials := read(t, Options{}, write(t, map[string]string{"pg/a.log": hammerLog}))
	expect.Must(t, len(trials) == 1 && trials[0].Engine == "postgres" && names(trials) == "pg.1 a_clients=4, pg.1 a_clients=8", names(trials), trials[0])
	s := step(t, trials, "pg", 1, "a_clients=4")
	numbers(t, s, []want{{"ops_per_s", "new_order", "", 1010}, {"ops_per_s", "server_transaction", "", 2330}, {"duration_s", "", "", 300}})
	expect.Equal(t, s.Groups[0].Clients, 4, s.Groups[0])
	old := strings.ReplaceAll(hammerLog, "60600 NOPM from 139800 PostgreSQL TPM", "139800 PostgreSQL TPM at 60600 NOPM")
	s = step(t, read(t, Options{}, write(t, map[string]string{"pg/a.log": old})), "pg", 1, "a_clients=4")
	numbers(t, s, []want{{"ops_per_s", "new_order", "", 1010}, {"ops_per_s", "server_transaction", "", 2330}})
}

const benchbaseJSON = `{
    "Start timestamp (milliseconds)": 1700000000000,
    "Current Timestamp (milliseconds)": 1700000062000,
    "Elapsed Time (nanoseconds)": 60000000000,
    "DBMS Type": "POSTGRES",
    "DBMS Version": "17.5",
    "Benchmark Type": "tpcc",
    "Final State": "EXIT",
    "Measured Requests": 60600,
    "isolation": "TRANSACTION_SERIALIZABLE",
    "scalefactor": "1",
    "terminals": "4",
    "Latency Distribution": {
        "95th Percentile Latency (microseconds)": 8000,
        "Maximum Latency (microseconds)": 90000,
        "Median Latency (microseconds)": 3000,
        "Minimum Latency (microseconds)": 500,
        "25th Percentile Latency (microseconds)": 2000,
        "90th Percentile Latency (microseconds)": 7000,
        "99th Percentile Latency (microseconds)": 15000,
        "75th Percentile Latency (microseconds)": 5000,
        "Average Latency (microseconds)": 3900
    },
    "Throughput (requests/second)": 1010.0,
    "Goodput (requests/second)": 1000.0
}
`

func TestBenchbase(t *testing.T) {
	trials := read(t, Options{}, write(t, map[string]string{"pg/tpcc.summary.json": benchbaseJSON}))
	expect.Must(t, len(trials) == 1 && trials[0].Engine == "postgres" && trials[0].Versions.Value("engine") == "17.5" && names(trials) == "pg.1 tpcc", names(trials), trials[0])
	s := step(t, trials, "pg", 1, "tpcc")
	const op = "transaction"
	numbers(t, s, []want{{"rows", op, "", 60000}, {"rows_per_s", op, "", 1000}, {"duration_s", "", "", 60}, {"service_mean_us", op, "", 3900},
		{"service_p50_us", op, "", 3000}, {"service_p95_us", op, "", 8000}, {"service_p99_us", op, "", 15000}, {"service_max_us", op, "", 90000}})
	expect.Contains(t, strings.Join(metric.Texts(s.Warnings), " "), "600 of 60600 requests were aborted", "warnings")
	for _, wrong := range []string{benchbaseJSON + benchbaseJSON, benchbaseJSON[:200] + benchbaseJSON[300:700], strings.ReplaceAll(benchbaseJSON, "Measured", "Other")} {
		_, err := Read([]string{write(t, map[string]string{"pg/a.json": wrong})}, Options{Now: at, Format: fmtBenchbase})
		expect.True(t, err != nil, "a spoiled summary was imported")
	}
}
