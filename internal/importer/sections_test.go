package importer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

// pgRun is the output of a run of pgbench, release 13, which took 20 s.
func pgRun(script string, clients, done int) string {
	return fmt.Sprintf("starting vacuum...end.\ntransaction type: %s\nscaling factor: 1\nquery mode: simple\nnumber of clients: %d\nnumber of threads: 1\n"+
		"duration: 20 s\nnumber of transactions actually processed: %d\nlatency average = %.3f ms\ntps = %f (including connections establishing)\ntps = %f (excluding connections establishing)\n",
		script, clients, done, float64(clients)*20000/float64(done), float64(done)/20, float64(done)/19.9)
}

// Repetitions in one file are trials, in its order; other clients, and other scripts,
// are other steps.
func TestSeveralRuns(t *testing.T) {
	const one = "<builtin: select only>"
	dir := write(t, map[string]string{"pg/t.txt": pgRun(one, 10, 2000) + pgRun(one, 10, 2200) + "$ pgbench -c 20\n" + pgRun(one, 20, 3000) + pgRun(one, 10, 2400)})
	trials := read(t, Options{}, dir)
	if got := names(trials); got != "pg.1 t_clients=10, pg.1 t_clients=20, pg.2 t_clients=10, pg.3 t_clients=10" {
		t.Fatalf("trials %s", got)
	}
	for i, rate := range []float64{100, 110, 120} {
		numbers(t, step(t, trials, "pg", i+1, "t_clients=10"), []want{{"rows_per_s", opTransaction, "", rate}, {"duration_s", "", "", 20}})
	}
}

// Which runs are trials of one step, and how targets and steps are called. Clients and keys are in a step's
// name only where runs of its test have different ones.
func TestNamesOfRuns(t *testing.T) {
	const readOnly = "sysbench --table-size=7 oltp_read_only run\n"
	again := func(n int) string { return sysbenchLog + strings.Repeat("\n", n) } // no copy to the byte
	insert := "python3 iibench.py --max_rows=500\ni_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\n" +
		"1.0\t1.0\t500\t500\t0\t0\t1\t1\t500\t0\nTotals:\nDone\n"
	by := func(clients string) string { return strings.Replace(sysbenchLog, "threads: 4", "threads: "+clients, 1) }
	numbered := map[string]string{"a/1/t.log": again(0), "a/2/t.log": again(1), "b/t.run1.log": again(0), "b/t.run2.log": again(1), "b/t.run10.log": again(2)}
	alike := map[string]string{"old/new.log": sysbenchLog, "new/new.log": sysbenchLog, "p/x/a/t.log": sysbenchLog, "p/y/a/t.log": sysbenchLog,
		"p/y/b/t.log": sysbenchLog, "q/x/a/t.log": sysbenchLog}
	for _, c := range []struct {
		name  string
		files map[string]string
		o     Options
		paths string // "": all
		want  string
	}{
		{"two scripts", map[string]string{"pg/t.txt": pgRun("<builtin: select only>", 10, 2000) + pgRun("<builtin: simple update>", 10, 2200)}, Options{}, "",
			"pg.1 t_select only, pg.1 t_simple update"},
		{"one run after its preparation", map[string]string{"db/t.log": "sysbench 1.1.0 (using LuaJIT)\n\nCreating table 'sbtest1'...\n" + sysbenchLog}, Options{}, "", "db.1 t"},
		{"the insert benchmark twice", map[string]string{"db/t.txt": insert + insert}, Options{}, "", "db.1 t, db.2 t"},
		{"--rate=0 is no rate", map[string]string{"db/t.log": "$ " + strings.Replace(readOnly, "7", "7 --rate=0", 1) + sysbenchLog + "$ " + readOnly + sysbenchLog}, Options{}, "", "db.1 t, db.2 t"},
		{"numbered directories and files", numbered, Options{}, "", "a.1 t, a.2 t, b.1 t, b.2 t, b.: t"},
		{"numbered directories of a target", numbered, Options{Target: "mine"}, "a", "mine.1 t, mine.2 t"},
		{"a suite", map[string]string{"a/sb.o.read-only.range10.pk1.dop1": by("1"), "a/sb.o.read-only.range10.pk1.dop4": by("4"), "a/sb.o.insert.range10.pk1.dop8": by("8"),
			"a/sb.o.pw.read-only.range10.pk1":   "sleepSecs is 60\n", // what the suite did between tests
			"b/sb.o.read-only.range10.pk1.dop1": by("1"), "b/sb.o.insert.range10.pk1.dop8": by("8"), "b/sb.o.insert.range10.pk0.dop8": by("8")}, Options{}, "",
			"a.1 insert_range=10_pk=1, a.1 read-only_range=10_clients=1, a.1 read-only_range=10_clients=4, " +
				"b.1 insert_range=10_pk=0, b.1 insert_range=10_pk=1, b.1 read-only_range=10_clients=1"},
		{"files of one name", alike, Options{}, "old/new.log new/new.log", "old/new.1 sysbench, new/new.1 sysbench"},
		{"targets of one name", alike, Options{}, "p q", "b.1 t, p/x/a.1 t, q/x/a.1 t, y/a.1 t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, c.files)
			if c.paths == "" {
				c.paths = dir
			}
			t.Chdir(dir)
			expect.Equal(t, names(read(t, c.o, strings.Fields(c.paths)...)), c.want)
		})
	}
}

// The command before a run belongs to it; what sysbench prepare and cleanup print is
// no run.
func TestSeveralRunsOfSysbench(t *testing.T) {
	command := func(table int) string {
		return fmt.Sprintf("$ sysbench --table-size=%d /share/oltp_point_select.lua run\n8 CPUs\n", table)
	}
	prepare := "$ sysbench --table-size=7 /share/oltp_point_select.lua prepare\nsysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)\n\nCreating table 'sbtest1'...\n"
	dir := write(t, map[string]string{"db/t.log": prepare + command(1000) + sysbenchLog + command(1000) + sysbenchLog + prepare + command(2000) + sysbenchLog})
	trials := read(t, Options{}, dir)
	if got := names(trials); got != "db.1 t_table_size=1000, db.1 t_table_size=2000, db.2 t_table_size=1000" {
		t.Fatalf("trials %s", got)
	}
	for _, trial := range trials {
		for _, s := range trial.Steps {
			numbers(t, &s, []want{{"rows_per_s", opQuery, "", 10000}})
			expect.Equal(t, fmt.Sprint(trial.Params["script"]), "oltp_point_select", "script, CPUs")
			expect.Equal(t, trial.Imported.CPUs, 8, "script, CPUs")
		}
	}
	// Measurements alongside cover all runs together.
	vm := "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n" +
		strings.Repeat(" 4  0 168424 3316688 469720 125774352   10    9  3157  4066    0    20000 16 10 72  2  0\n", 2)
	writeMore(t, dir, "db/t.vmstat", vm)
	absent(t, step(t, read(t, Options{}, dir), "db", 1, "t_table_size=1000"), "context_switches", "host_cpu_us")
}

// dbRun is the output of a process of RocksDB's db_bench.
func dbRun(threads int, lines ...string) string {
	out := "RocksDB:    version 8.1.1\nKeys:       16 bytes each (+ 0 bytes user-defined timestamp)\nValues:     100 bytes each (50 bytes after compression)\n"
	for _, line := range lines {
		name, rate, _ := strings.Cut(line, " ")
		n := 0.0
		if _, err := fmt.Sscan(rate, &n); err != nil {
			out += line + "\n"
			continue
		}
		out += fmt.Sprintf("%-12s : %11.3f micros/op %.0f ops/sec %.3f seconds %.0f operations;   49.7 MB/s\n", name, float64(threads)*1e6/n, n, 10., 10*n)
	}
	return out
}

func TestSeveralRunsOfDBBench(t *testing.T) {
	for _, c := range []struct{ name, log, want string }{
		{"processes", dbRun(1, "fillseq 1000", "readrandom 2000", "readrandom 2100") + dbRun(1, "readrandom 2200"),
			"db.1 fillseq 1000, db.1 readrandom 2000, db.1 readrandom#2 2100, db.2 readrandom 2200"},
		{"a loop over threads", dbRun(1, "readrandom 2000") + dbRun(4, "readrandom 7000") + dbRun(1, "readrandom 2100"),
			"db.1 readrandom_threads=1 2000, db.1 readrandom_threads=4 7000, db.2 readrandom_threads=1 2100"},
		{"repetitions", dbRun(1, "fillseq 1000", "Warming up benchmark by running 1 times", "readrandom 10", "Running benchmark for 3 times", "readrandom 2000", "readrandom 2100",
			"readrandom [AVG 2 runs] : 2050 (± 10) ops/sec;   49.7 (± 0.1) MB/sec", "readrandom 2200", "readrandom [AVG 3 runs] : 2100 (± 10) ops/sec",
			"readrandom [MEDIAN 3 runs] : 2100 ops/sec", "readrandom 500"),
			"db.1 fillseq 1000, db.1 readrandom 2000, db.1 readrandom#2 500, db.2 readrandom 2100, db.3 readrandom 2200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, trial := range read(t, Options{}, write(t, map[string]string{"db/t.txt": c.log})) {
				for _, s := range trial.Steps {
					got = append(got, fmt.Sprintf("%s.%d %s %g", trial.Target, trial.Trial, s.Name, s.Find(metric.RowsPerS, "", "").Value))
				}
			}
			expect.Equal(t, strings.Join(got, ", "), c.want)
		})
	}
}

// Copied logs may have blanks at the ends of their lines.
func TestTrailingBlanks(t *testing.T) {
	log := strings.ReplaceAll(pgRun("s.sql", 4, 400), "\n", " \t\n")
	numbers(t, step(t, read(t, Options{}, write(t, map[string]string{"db/t.log": log})), "db", 1, "t"), []want{{"service_mean_us", opTransaction, "", 200000}})
}

// Results of another tool in a log are not dropped without a word.
func TestOtherTools(t *testing.T) {
	for _, log := range []string{sysbenchLog + pgRun("s.sql", 4, 400), pgRun("s.sql", 4, 400) + sysbenchLog} {
		s := step(t, read(t, Options{}, write(t, map[string]string{"db/t.log": log})), "db", 1, "t")
		expect.True(t, len(s.Warnings) == 1 && strings.Contains(s.Warnings[0].Text, "results of pgbench are left out: give them a file of their own"), s.Warnings)
	}
}

// A log in UTF-16, or with a byte order mark or other line ends, has the same numbers.
func TestEncodings(t *testing.T) {
	wide := func(order binary.AppendByteOrder) string {
		b := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(sysbenchLog)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for _, log := range []string{wide(binary.LittleEndian), wide(binary.BigEndian), wide(binary.LittleEndian)[2:], wide(binary.BigEndian)[2:], "\ufeff" + sysbenchLog, strings.ReplaceAll(sysbenchLog, "\n", "\r\n")} {
		s := step(t, read(t, Options{}, write(t, map[string]string{"db/t.log": log})), "db", 1, "t")
		numbers(t, s, []want{{"rows_per_s", opQuery, "", 10000}, {"service_p95_us", opQuery, "", 500}})
	}
	expect.True(t, !bytes.Contains([]byte(wide(binary.LittleEndian)), []byte("sysbench")),
		"the test is wrong: its text is not wide")
}

// The standard error of a command may be in a separate file.
func TestStandardError(t *testing.T) {
	pg := text(t, "testdata/pgbench/tpcb.out")
	var out, err []string
	for _, line := range strings.SplitAfter(pg, "\n") {
		if strings.HasPrefix(line, "progress:") || strings.HasPrefix(line, "starting") {
			err = append(err, line)
		} else {
			out = append(out, line)
		}
	}
	dir := write(t, map[string]string{"pg/t.out": strings.Join(out, ""), "pg/t.err": strings.Join(err, ""),
		"rocksdb/t.out": text(t, "testdata/db_bench/one.txt"), "rocksdb/t.err": text(t, "testdata/db_bench/one.err"),
		"sb/t.log": text(t, "testdata/more/stall.log"), "sb/t.stderr": "FATAL: the connection was lost\n"})
	c, rerr := Read([]string{dir + "/pg"}, Options{Now: at})
	expect.Must(t, rerr == nil && len(c.Ignored) == 0, rerr, c)
	lines := seriesOf(t, c.trials[0].runs[0])
	expect.True(t, len(lines) == 3 && lines[0].Ops == 5289, lines)
	trials := read(t, Options{}, dir+"/pg")
	numbers(t, step(t, trials, "pg", 1, "t"), []want{{"rows_per_s", opTransaction, "", 5332.783399}})
	expect.Equal(t, len(trials[0].Imported.Files), 2, "files")
	trials = read(t, Options{}, dir+"/pg/t.err", dir+"/pg/t.out")
	expect.Equal(t, names(trials), "t.1 pgbench", "trials")
	if trials = read(t, Options{}, dir+"/rocksdb"); trials[0].Versions.Value("engine") != "RocksDB 7.8.3" || trials[0].Imported.CPUs != 2 {
		t.Errorf("%+v", trials[0].Versions)
	}
	if trials = read(t, Options{}, dir+"/sb"); !strings.Contains(trials[0].Reason, "t.stderr:1): FATAL: the connection was lost") {
		t.Errorf("reason %q", trials[0].Reason)
	}
	// It has two runs, and the output one.
	dir = write(t, map[string]string{"pg/t.out": strings.Join(out, ""), "pg/t.err": "starting vacuum...end.\nstarting vacuum...end.\n"})
	s := step(t, read(t, Options{}, dir), "pg", 1, "t")
	expect.True(t, len(s.Warnings) == 1 && strings.Contains(s.Warnings[0].Text, "t.err is left out"), s.Warnings)
}
