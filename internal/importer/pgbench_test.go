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

func TestPgbench(t *testing.T) {
	trials := read(t, Options{}, "testdata/pgbench")
	const op = "transaction"
	expect.Equal(t, trials[0].Engine, "postgres", trials[0].Imported)
	expect.True(t, strings.HasPrefix(trials[0].Imported.Tool, "pgbench 15.18"), trials[0].Imported)
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
	c := expect.Value(Read([]string{dir}, Options{Now: at}))(t)
	lines := seriesOf(t, c.trials[0].runs[0])
	expect.Must(t, len(lines) == 4 && lines[0].Ops == 2 && lines[1].Ops == 0 && lines[2].Ops == 0 && lines[3].Ops == 2,
		lines)
	// The first transaction began at .499 s: the first interval is 0.501 s long.
	l := lines[0]
	expect.True(t, l.P50 == 1000 && l.P99 == 3000 && l.Max == 3000 && l.DT >= 0.5 && l.DT <= 0.502 && l.T == l.DT, l)
	s := &c.trials[0].Steps[0]
	numbers(t, s, []want{{"rows", "transaction", "", 4}, {"service_max_us", "transaction", "", 5000}})
	absent(t, s, "rows_per_s") // it may be a sample
	expect.True(t, s.Groups[0].Clients == 2 && len(s.Warnings) == 1 && s.Started.Unix() == 1700000000, s)
}

// Without final figures the intervals are what there is.
func TestPgbenchCutOff(t *testing.T) {
	whole := text(t, "testdata/pgbench/tpcb.out")
	dir := write(t, map[string]string{"pg/tpcb.out": whole[:strings.Index(whole, "progress: 3.0")+20]})
	trials := read(t, Options{}, dir)
	s := step(t, trials, "pg", 1, "tpcb")
	// 5288.7 and 5164.5 transactions, rounded, in two seconds.
	numbers(t, s, []want{{"rows", "transaction", "", 5289 + 5165}, {"rows_per_s", "transaction", "", (5289 + 5165) / 2.}, {"duration_s", "", "", 2}})
	expect.Equal(t, s.Status, result.Partial)
}

// Old releases name rates otherwise.
func TestPgbenchOld(t *testing.T) {
	dir := write(t, map[string]string{"pg/old.out": "starting vacuum...end.\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 1\nquery mode: simple\nnumber of clients: 10\nnumber of threads: 1\n" +
		"number of transactions per client: 1000\nnumber of transactions actually processed: 10000/10000\nlatency average = 15.844 ms\ntps = 618.764555 (including connections establishing)\ntps = 622.977698 (excluding connections establishing)\n"})
	s := step(t, read(t, Options{}, dir), "pg", 1, "old")
	numbers(t, s, []want{{"rows_per_s", "transaction", "", 618.764555}, {"service_mean_us", "transaction", "", 15844}})
	absent(t, s, "errors")
}

// Each connection of -C is a part of its transaction: the rate without connecting is
// none of the run. Up to release 13 both are printed.
func TestPgbenchReconnect(t *testing.T) {
	dir := write(t, map[string]string{"pg/old.out": "transaction type: <builtin: select only>\nnumber of clients: 8\nduration: 40 s\nnumber of transactions actually processed: 2000\nlatency average = 160.000 ms\n" +
		"tps = 50.000000 (including connections establishing)\ntps = 900.000000 (excluding connections establishing)\n",
		"pg/new.out": "pgbench (16.1)\ntransaction type: <builtin: select only>\nnumber of clients: 8\nduration: 40 s\nnumber of transactions actually processed: 2000\nlatency average = 160.000 ms\naverage connection time = 19.000 ms\n" +
			"tps = 50.000000 (including reconnection times)\n"})
	c := expect.Value(Read([]string{dir}, Options{Now: at}))(t)
	for _, name := range []string{"old", "new"} {
		s := step(t, []*result.Trial{c.trials[0].Trial}, "pg", 1, name)
		numbers(t, s, []want{{"rows_per_s", "transaction", "", 50}, {"duration_s", "", "", 40}})
		expect.True(t, len(s.Warnings) == 1 &&
			strings.Contains(s.Warnings[0].Text, "includes the time to connect"), name, s.Warnings)
	}
	expect.Equal(t, strings.Join(c.Dropped, "; "), "pgbench's average connection time", "dropped")
}

// Intervals with the time of day have the lengths of intervals.
func TestPgbenchTimestamps(t *testing.T) {
	dir := write(t, map[string]string{"pg/t.out": "progress: 1700000002.500 s, 10.0 tps, lat 1.000 ms stddev 1.000\nprogress: 1700000004.500 s, 20.0 tps, lat 1.000 ms stddev 1.000\nprogress: 1700000006.500 s, 30.0 tps, lat 1.000 ms stddev 1.000\n"})
	s := step(t, read(t, Options{}, dir), "pg", 1, "t")
	numbers(t, s, []want{{"rows", "transaction", "", 120}, {"rows_per_s", "transaction", "", 20}, {"duration_s", "", "", 6}})
	dir = write(t, map[string]string{"pg/t.out": "progress: 1700000002.500 s, 10.0 tps, lat 1.000 ms stddev 1.000\n"})
	_, err := Read([]string{dir}, Options{})
	expect.True(t, err != nil, "the length of a single interval is unknown")
}

// With a rate, but without a log of transactions, the latency contains the lag.
func TestPgbenchLag(t *testing.T) {
	log := "$ pgbench -S -R 500 -T 4\npgbench (15.4)\ntransaction type: <builtin: select only>\nnumber of clients: 2\nduration: 4 s\nnumber of transactions actually processed: 800\n" +
		"latency average = 5.000 ms\nlatency stddev = 1.000 ms\nrate limit schedule lag: avg 3.500 (max 80.000) ms\ntps = 200.000000 (without initial connection time)\n"
	s := step(t, read(t, Options{}, write(t, map[string]string{"pg/t.out": log})), "pg", 1, "t")
	numbers(t, s, []want{{"rows_per_s", "transaction", "", 200}, {"service_mean_us", "transaction", "", 1500}, {"lateness_max_us", "transaction", "", 80000}, {"sla_target", "", "", 500}, {"sla_met", "", "", 0}})
	expect.Equal(t, s.Groups[0].Rate, 500, s.Groups)
}

// Failed transactions, retries and scripts are taken, or listed.
func TestPgbenchFailures(t *testing.T) {
	log := "pgbench (16.0)\ntransaction type: multiple scripts\nnumber of clients: 4\nmaximum number of tries: 3\nduration: 3 s\nnumber of transactions actually processed: 300\nnumber of failed transactions: 100 (25.000%)\n" +
		"number of transactions retried: 30 (7.500%)\ntotal number of retries: 45\nlatency average = 30.000 ms (including failures)\ntps = 100.000000 (without initial connection time)\n" +
		"SQL script 1: a.sql\n - weight: 1 (targets 50.0% of total)\n - 140 transactions (46.7% of total, tps = 46.6)\n - latency average = 20.000 ms\nSQL script 2: b.sql\n - weight: 1 (targets 50.0% of total)\n - 160 transactions (53.3% of total, tps = 53.4)\n"
	c := expect.Value(Read([]string{write(t, map[string]string{"pg/t.out": log})}, Options{Now: at}))(t)
	s := &c.trials[0].Steps[0]
	numbers(t, s, []want{{"rows_per_s", "transaction", "", 100}, {"errors", "", "", 100}, {"retries", "", "", 45}, {"service_mean_us", "transaction", "", 30000}})
	r := s.Find("service_mean_us", "", "")
	expect.True(t, r.N == 400 && len(r.Warnings) == 1, r)
	expect.Equal(t, strings.Join(c.Dropped, "; "), "pgbench's figures of each script; pgbench's number of transactions retried")
}

// Figures that contradict each other are marked: no number of the step is compared.
func TestPgbenchContradictions(t *testing.T) {
	whole := text(t, "testdata/pgbench/tpcb.out")
	old := pgRun("s.sql", 4, 400) // its mean latency follows from the time
	for _, c := range []struct{ log, old, changed, want string }{
		{whole, "actually processed: 15955", "actually processed: 25955", "transactions is 25955"},
		{whole, "actually processed: 15955", "actually processed: 12955", "the sum of its intervals is 15954"},
		{whole, "average = 0.373", "average = 3.73", "mean latency × transactions"},
		{whole, "duration: 3 s", "duration: 30 s", "its duration is 30"},
		{old, "average = 200.000", "average = 100.000", "clients × time is 80, and mean latency × transactions is 40"},
		{old, "tps = 20.000000", "tps = 16.000000", "clients × time is 100, and mean latency × transactions is 80"},
		{without(old, "latency"), "tps = 20.000000", "tps = 16.000000", "transactions ÷ tps is 25, and its duration is 22"},
		{old, "tps = 20.100503", "tps = 10.100503", "tps including connections is 20, and tps excluding them is 10.1"},
	} {
		log := strings.Replace(c.log, c.old, c.changed, 1)
		s := step(t, read(t, Options{}, write(t, map[string]string{"pg/t.out": log})), "pg", 1, "t")
		expect.Contains(t, strings.Join(metric.Texts(s.Warnings), "; "), c.want, c.changed)
	}
	// Up to 9.5 the mean latency follows from the duration, and is 0 without one.
	late := strings.NewReplacer("average =", "average:", "tps = 20.0", "tps = 18.0", "= 20.1", "= 18.1").Replace(old)
	unknown := strings.NewReplacer("duration: 20 s\n", "", "200.000 ms", "0.000 ms").Replace(old)
	for _, log := range []string{whole, late, unknown} {
		s := step(t, read(t, Options{}, write(t, map[string]string{"pg/t.out": log})), "pg", 1, "t")
		expect.True(t, !metric.Has(s.Warnings, remark.Contradictory), s.Warnings)
	}
}

// pgLogged is a log of -l: of n transactions of a client, of some µs each.
func pgLogged(client, n, us int) string {
	out := ""
	for i := range n {
		out += fmt.Sprintf("%d %d %d 0 %d 0\n", client, i+1, us, 1700000000+i)
	}
	return out
}

// The logs of several processes in one directory are distinguished by their number of
// transactions; one that cannot be that of the run is left out.
func TestPgbenchProcesses(t *testing.T) {
	run := func(done int) string {
		return fmt.Sprintf("pgbench (15.4)\ntransaction type: <builtin: select only>\nnumber of clients: 2\nnumber of transactions actually processed: %d\ntps = 1.000000 (without initial connection time)\n", done)
	}
	dir := write(t, map[string]string{"pg/a.out": run(5), "pg/b.out": run(8), "pg/pgbench_log.111": pgLogged(0, 8, 800), "pg/pgbench_log.222": pgLogged(0, 3, 500),
		"pg/pgbench_log.222.1": pgLogged(1, 2, 500)})
	trials := read(t, Options{}, dir)
	numbers(t, step(t, trials, "pg", 1, "a"), []want{{"service_max_us", "transaction", "", 500}})
	numbers(t, step(t, trials, "pg", 1, "b"), []want{{"service_max_us", "transaction", "", 800}})
	for _, c := range []struct {
		name  string
		files map[string]string
	}{
		{"more transactions", map[string]string{"pg/a.out": run(5), "pg/pgbench_log.111": pgLogged(0, 8, 800)}},
		{"fewer, and no sample", map[string]string{"pg/a.out": run(50), "pg/pgbench_log.111": pgLogged(0, 8, 800)}},
		{"another time", map[string]string{"pg/a.out": strings.Replace(run(8), "1.000000", "4.000000", 1), "pg/pgbench_log.111": pgLogged(0, 8, 800)}},
		{"another mean", map[string]string{"pg/a.out": run(8) + "latency average = 700.000 ms\nlatency stddev = 9.000 ms\n", "pg/pgbench_log.111": pgLogged(0, 8, 800000)}},
		{"two of the same number", map[string]string{"pg/a.out": run(8), "pg/pgbench_log.111": pgLogged(0, 8, 800), "pg/pgbench_log.222": pgLogged(0, 8, 700)}},
	} {
		s := step(t, read(t, Options{}, write(t, c.files)), "pg", 1, "a")
		if absent(t, s, "service_max_us", "service_p50_us"); len(s.Warnings) != 1 {
			t.Errorf("%s: %q", c.name, s.Warnings)
		}
	}
	// Without outputs each process is a trial.
	dir = write(t, map[string]string{"pg/pgbench_log.111": pgLogged(0, 8, 800), "pg/pgbench_log.222": pgLogged(0, 5, 500)})
	trials = read(t, Options{}, dir)
	if got := names(trials); got != "pg.1 pgbench_log, pg.2 pgbench_log" {
		t.Fatalf("trials %s", got)
	}
	numbers(t, step(t, trials, "pg", 2, "pgbench_log"), []want{{"rows", "transaction", "", 5}, {"service_max_us", "transaction", "", 500}})
}
