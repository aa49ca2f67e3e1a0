package importer

import (
	"strings"
	"testing"

	"rumbench/internal/result"
)

func TestPgbench(t *testing.T) {
	trials := read(t, Options{}, "testdata/pgbench")
	const op = "transaction"
	if trials[0].Engine != "postgres" || !strings.HasPrefix(trials[0].Imported.Tool, "pgbench 15.18") {
		t.Errorf("%s, %+v", trials[0].Engine, trials[0].Imported)
	}
	s := step(t, trials, "pgbench", 1, "tpcb")
	numbers(t, s, []want{
		{"rows", op, "", 15955}, {"rows_per_s", op, "", 5332.783399}, {"service_mean_us", op, "", 373}, {"errors", "", "", 0},
		{"duration_s", "", "", 15955 / 5332.783399},
	})
	absent(t, s, "service_p99_us", "service_max_us", "interval_ops_p50", "response_p99_us")

	// All of the 80 latencies are in the log: the 40th, 76th and 80th of them in order.
	s = step(t, trials, "pgbench", 1, "exact")
	numbers(t, s, []want{{"service_p50_us", op, "", 478}, {"service_p95_us", op, "", 795}, {"service_max_us", op, "", 2609}, {"rows_per_s", op, "", 3344.761268}})
	if r := s.Find("service_p95_us", op, ""); r.N != 80 || r.Source != "log of transactions" {
		t.Errorf("%+v", r)
	}
	absent(t, s, "service_mean_us") // the log has better

	// With a rate the latency begins when a transaction was due; the log has
	// how much of it was waiting. Of 144: the 72nd and the last in order.
	s = step(t, trials, "pgbench", 1, "rate")
	numbers(t, s, []want{
		{"response_p50_us", op, "", 765}, {"response_max_us", op, "", 3914}, {"service_p50_us", op, "", 609}, {"service_max_us", op, "", 3212},
		{"lateness_max_us", op, "", 3205},
	})
	absent(t, s, "service_mean_us", "stalls")

	// Sums have the greatest latency, and no percentiles.
	s = step(t, trials, "pgbench", 1, "agg")
	numbers(t, s, []want{{"service_max_us", op, "", 42820}})
	absent(t, s, "service_p99_us", "service_p50_us")
	s = step(t, trials, "pgbench", 1, "aggr")
	numbers(t, s, []want{{"response_max_us", op, "", 3367}})

	// A sample is said to be one.
	s = step(t, trials, "pgbench", 1, "select")
	if r := s.Find("service_p99_us", op, ""); r == nil || len(r.Warnings) != 1 || r.Warnings[0].Text != "of a sample of the transactions" || r.N != 200 {
		t.Errorf("%+v", r)
	}
}

// The log's seconds become intervals, those without a transaction too.
func TestPgbenchSeconds(t *testing.T) {
	log := "0 1 1000 0 1700000000 500000\n0 2 3000 0 1700000000 900000\n0 3 2000 0 1700000003 100000\n1 1 5000 0 1700000003 200000\n"
	dir := write(t, map[string]string{"pg/run.77": log})
	c, err := Read([]string{dir}, Options{Now: at})
	if err != nil {
		t.Fatal(err)
	}
	lines := seriesOf(t, c.trials[0].runs[0])
	if len(lines) != 4 || lines[0].Ops != 2 || lines[1].Ops != 0 || lines[2].Ops != 0 || lines[3].Ops != 2 {
		t.Fatalf("%+v", lines)
	}
	// The first transaction began at .499 s: the first interval is 0.501 s long.
	if l := lines[0]; l.P50 != 1000 || l.P99 != 3000 || l.Max != 3000 || l.DT < 0.5 || l.DT > 0.502 || l.T != l.DT {
		t.Errorf("%+v", l)
	}
	s := &c.trials[0].Steps[0]
	numbers(t, s, []want{{"rows", "transaction", "", 4}, {"service_max_us", "transaction", "", 5000}})
	absent(t, s, "rows_per_s") // it may be a sample
	if s.Groups[0].Clients != 2 || len(s.Warnings) != 1 || s.Started.Unix() != 1700000000 {
		t.Errorf("%+v", s)
	}
}

// Without final figures the intervals are what there is.
func TestPgbenchCutOff(t *testing.T) {
	whole := text(t, "testdata/pgbench/tpcb.out")
	dir := write(t, map[string]string{"pg/tpcb.out": whole[:strings.Index(whole, "progress: 3.0")+20]})
	trials := read(t, Options{}, dir)
	s := step(t, trials, "pg", 1, "tpcb")
	// 5288.7 and 5164.5 transactions, rounded, in two seconds.
	numbers(t, s, []want{{"rows", "transaction", "", 5289 + 5165}, {"rows_per_s", "transaction", "", (5289 + 5165) / 2.}, {"duration_s", "", "", 2}})
	if s.Status != result.Partial {
		t.Error(s.Status)
	}
}

// Old releases name rates otherwise.
func TestPgbenchOld(t *testing.T) {
	dir := write(t, map[string]string{"pg/old.out": "starting vacuum...end.\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\nquery mode: simple\nnumber of clients: 10\nnumber of threads: 1\n" +
		"number of transactions per client: 1000\nnumber of transactions actually processed: 10000/10000\nlatency average = 15.844 ms\ntps = 618.764555 (including connections establishing)\ntps = 622.977698 (excluding connections establishing)\n"})
	s := step(t, read(t, Options{}, dir), "pg", 1, "old")
	numbers(t, s, []want{{"rows_per_s", "transaction", "", 622.977698}, {"service_mean_us", "transaction", "", 15844}})
	absent(t, s, "errors")
}
