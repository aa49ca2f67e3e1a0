package importer

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

func TestDBBench(t *testing.T) {
	const op = "operation"
	dir := write(t, map[string]string{"rocksdb-7.8.3/one.txt": text(t, "testdata/db_bench/one.txt"), "rocksdb-7.8.3/two.txt": text(t, "testdata/db_bench/two.txt")})
	trials := read(t, Options{}, dir)
	expect.Must(t, len(trials) == 1 && trials[0].Engine == "rocksdb" && trials[0].Imported.CPUs == 2, trials[0])
	s := step(t, trials, "rocksdb-7.8.3", 1, "overwrite")
	numbers(t, s, []want{
		{"rows", op, "", 50000}, {"rows_per_s", op, "", 229944}, {"duration_s", "", "", 0.217}, {"service_mean_us", op, "", 4.347},
		{"service_p50_us", op, "", 3.54}, {"service_p99_us", op, "", 9.23}, {"service_p999_us", op, "", 36.24}, {"service_max_us", op, "", 2293},
	})
	absent(t, s, "service_p95_us", "stalls")
	c := s.Curves[0]
	expect.True(t, c.Count == 50000 && len(c.Points) == 6 && c.Points[4] == [2]float64{99.99, 76}, c)
	// Readers and a writer in one: their intervals cannot be distinguished.
	s = step(t, trials, "rocksdb-7.8.3", 1, "readwhilewriting")
	numbers(t, s, []want{{"rows_per_s", op, "", 444204}, {"rows", op, "", 1333998}})
	expect.Contains(t, strings.Join(metric.Texts(s.Notes), " "), "Keys found: 641945 of 641999.", s.Notes)
	expect.Contains(t, strings.Join(metric.Texts(s.Notes), " "), "do not distinguish readers and writers", s.Notes)
}

// Intervals of several threads are merged by their numbers.
func TestDBBenchIntervals(t *testing.T) {
	c := expect.Value(Read([]string{"testdata/db_bench/two.txt"}, Options{Now: at}))(t)
	lines := seriesOf(t, c.trials[0].runs[0])
	// Thread 0: 129000 in 1.009623 s and 132000 in 1.052428 s; thread 1: 111000
	// in 1.007988 s and 121000 in 1.001440 s.
	expect.True(t, len(lines) == 2 && lines[0].Ops == 240180 && lines[0].DT == 1.009623 && lines[1].T == 2.062051, lines)
}

// A table of repetitions: they are trials, and releases are targets.
func TestDBTable(t *testing.T) {
	const op = "operation"
	head := "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n"
	row := func(ops, lsm, amp, p99, stalls, version string) string {
		return ops + "\t66.9\t" + lsm + "\t0GB\t0.0\t" + amp + "\t0.0\t0\t0\t0\t0\t6.0\t5.0\t" + p99 + "\t28\t626\t7336\t1800\t0.0\t" + stalls + "\t1.7\t0.0\t16.8\treadrandom.t1\t2022-12-10T16:55:17\t" + version + "\t\tafa92034d9\n"
	}
	dir := write(t, map[string]string{"sum.txt": head + row("167105", "16GB", "NA", "10", "0", "7.9.1") + row("184944", "16GB", "5.4", "11", "3", "7.9.1") + "mean=1\tstddev=2\tsdev/mean=3\n\n" + head + row("200000", "17GB", "NA", "9", "0", "7.10.0")})
	trials := read(t, Options{}, dir)
	expect.Must(t, names(trials) == "7.9.1.1 readrandom.t1, 7.9.1.2 readrandom.t1, 7.10.0.1 readrandom.t1",
		"trials", names(trials))
	first := step(t, trials, "7.9.1", 1, "readrandom.t1")
	numbers(t, first, []want{{"rows_per_s", op, "", 167105}, {"service_mean_us", op, "", 6}, {"service_p99_us", op, "", 10}, {"service_p999_us", op, "", 28}, {"service_max_us", op, "", 7336}, {"data_bytes", "", "", 16 << 30}, {"engine_stalls", "", "", 0}})
	absent(t, first, "engine_write_amplification") // NA
	numbers(t, step(t, trials, "7.9.1", 2, "readrandom.t1"), []want{{"engine_write_amplification", "", "", 5.4}, {"engine_stalls", "", "", 3}})
	numbers(t, step(t, trials, "7.10.0", 1, "readrandom.t1"), []want{{"service_p99_us", op, "", 9}})
}

func TestCSV(t *testing.T) {
	dir := write(t, map[string]string{"numbers.csv": `# hand-made
target,step,metric,value,unit,op,per,trial,n,group
old,load,rows_per_s,1000,1/s,insert,,1,100000,insert
old,load,rows_per_s,1100,1/s,insert,,2,100000,insert
old,load,write_kb,2.5,KB,,insert row,1,100000,
new,load,rows_per_s,2000,,insert,,,,insert
new,load,service_p99_us,250,us,insert,,,,insert
new,load,duration_s,50,s,,,,,
`})
	trials := read(t, Options{Base: "old"}, dir)
	expect.Must(t, names(trials) == "old.1 load, old.2 load, new.1 load", "trials", names(trials))
	s := step(t, trials, "old", 1, "load")
	numbers(t, s, []want{{"rows_per_s", "insert", "", 1000}, {"write_kb", "", "insert row", 2.5}})
	expect.True(t, s.Primary == "insert" && s.WritesPer == "insert" && s.Find("write_kb", "", "").N == 100000, s)
	numbers(t, step(t, trials, "new", 1, "load"), []want{{"service_p99_us", "insert", "", 250}})
}

// CPU time as published tables have it: 3354 Mcpu of four CPUs at 23129 rows a
// second are 77.6 % of them, 134 µs a row; 0.000194 % of 48 CPUs are 93 µs.
func TestCSVPublishedUnits(t *testing.T) {
	dir := write(t, map[string]string{"a.csv": "target,step,metric,value,unit,per\nnuc,l,host_cpu_us,3354,Mcpu,insert row\n"})
	r := step(t, read(t, Options{CPUs: 4}, dir), "nuc", 1, "l").Find("host_cpu_us", "", "insert row")
	if busy := r.Value * 23129 / 1e6 / 4; math.Abs(r.Value-134.16) > 1e-9 || math.Abs(busy-0.776) > 0.001 || r.Source != "published as Mcpu" {
		t.Errorf("%+v", r)
	}
	dir = write(t, map[string]string{"b.csv": "target,step,metric,value,unit,per\nbig,l,host_cpu_us,0.000194,cpu/o,query\n"})
	expect.Near(t, step(t, read(t, Options{CPUs: 48}, dir), "big", 1, "l").Find("host_cpu_us", "", "").Value, 93.12, 1e-9)
}

// levelDB is the output of LevelDB's own db_bench, with entries of 120 bytes.
const levelDB = `LevelDB:    version 1.23
CPU:        8 * A CPU
Keys:       20 bytes each
Values:     100 bytes each (50 bytes after compression)
Entries:    500000
------------------------------------------------
fillseq      :       2.000 micros/op;   57.2 MB/s
fillsync     :   20000.000 micros/op;    0.0 MB/s (500 ops)
readrandom   :       4.000 micros/op; (432161 of 500000 found)
Microseconds per op:
Count: 500000  Average: 4.0000  StdDev: 9.00
Min: 1.0000  Median: 3.5000  Max: 900.0000
------------------------------------------------------
[       3,       4 )  500000 100.000% 100.000% ####################
readrandom   :       5.000 micros/op; (432161 of 500000 found)
`

// LevelDB's db_bench prints no rate: it follows from the mean time and the number of
// threads, which the MB of another benchmark show.
func TestLevelDB(t *testing.T) {
	trials := read(t, Options{}, write(t, map[string]string{"ldb/t.txt": levelDB}))
	expect.Must(t, trials[0].Engine == "leveldb" && names(trials) == "ldb.1 fillseq, ldb.1 fillsync, ldb.1 readrandom, ldb.1 readrandom#2", names(trials), trials[0].Engine)
	numbers(t, step(t, trials, "ldb", 1, "fillseq"), []want{{"service_mean_us", "operation", "", 2}, {"rows_per_s", "operation", "", 500000}})
	s := step(t, trials, "ldb", 1, "readrandom")
	numbers(t, s, []want{{"service_mean_us", "operation", "", 4}, {"ops_per_s", "operation", "", 250000}, {"service_p50_us", "operation", "", 3.5}, {"service_max_us", "operation", "", 900}})
	absent(t, s, "service_p99_us")
	// Of four threads.
	trials = read(t, Options{}, write(t, map[string]string{"ldb/t.txt": strings.Replace(levelDB, "57.2", "228.9", 1)}))
	numbers(t, step(t, trials, "ldb", 1, "readrandom"), []want{{"ops_per_s", "operation", "", 1e6}})
	// Of an unknown number.
	for _, unknown := range []string{"57.2", "Values:"} {
		trials = read(t, Options{}, write(t, map[string]string{"ldb/t.txt": without(levelDB, unknown)}))
		s = step(t, trials, "ldb", 1, "readrandom")
		numbers(t, s, []want{{"service_mean_us", "operation", "", 4}})
		if absent(t, s, "ops_per_s", "rows_per_s"); len(s.Warnings) != 1 {
			t.Errorf("%s: %q", unknown, s.Warnings)
		}
	}
}

// A result that is cut off is no result.
func TestDBBenchCut(t *testing.T) {
	log := text(t, "testdata/db_bench/one.txt")
	log, _, _ = strings.Cut(log, " ops/sec 0.217 seconds")
	trials := read(t, Options{}, write(t, map[string]string{"db/t.txt": log}))
	if s := step(t, trials, "db", 1, "fillseq"); names(trials) != "db.1 fillseq" || len(s.Warnings) != 1 ||
		!strings.HasSuffix(s.Warnings[0].Text, "t.txt:45: the output is cut off in the result of another benchmark") {
		t.Errorf("%s: %q", names(trials), s.Warnings)
	}
}

// Percentiles are those of all operations, and fit their histogram.
func TestDBBenchHistograms(t *testing.T) {
	log := text(t, "testdata/db_bench/one.txt")
	imported := func(log string) *result.Step {
		return step(t, read(t, Options{}, write(t, map[string]string{"db/t.txt": log})), "db", 1, "fillseq")
	}
	first := log[strings.Index(log, "Microseconds per write:"):]
	first = first[:strings.Index(first, "\n\n")+1]
	s := imported(strings.Replace(log, first, first+strings.Replace(first, "write", "read", 1), 1))
	if absent(t, s, "service_p50_us", "service_p99_us", "service_max_us"); len(s.Curves) > 0 || !strings.Contains(strings.Join(metric.Texts(s.Notes), " "), "percentiles of all together are unknown") {
		t.Errorf("%+v, %q", s.Curves, s.Notes)
	}
	row := imported(strings.Replace(log, "Count: 50000", "Count: 500", 1)).Find("service_p99_us", "", "")
	expect.True(t, row != nil && len(row.Warnings) == 1, row)
	for old, replaced := range map[string]string{"Count: 50000": "Count: 60000", "Median: 2.0000": "Median: 3.0000", "382084 ops/sec": "482084 ops/sec"} {
		s := imported(strings.Replace(log, old, replaced, 1))
		expect.True(t, metric.Has(s.Warnings, remark.Contradictory), replaced, s.Warnings)
	}
}

// A rate is printed without decimals: a low one is operations ÷ time, or unknown. A
// benchmark that failed has none.
func TestDBBenchCoarse(t *testing.T) {
	log := without(without(levelDB, "LevelDB:"), "micros/op") +
		"compact      : 1598353.000 micros/op 0 ops/sec 1.600 seconds 1 operations;\n" +
		"flush        : 1598353.000 micros/op 0 ops/sec;\n" +
		"snappycomp   :     876.000 micros/op; (snappy failure)\n"
	trials := read(t, Options{}, write(t, map[string]string{"db/t.txt": log}))
	if got := names(trials); got != "db.1 compact, db.1 flush" {
		t.Fatalf("trials %s", got)
	}
	s := step(t, trials, "db", 1, "compact")
	if numbers(t, s, []want{{"rows_per_s", "operation", "", 0.625}}); len(s.Warnings) > 0 {
		t.Errorf("%q", s.Warnings)
	}
	absent(t, step(t, trials, "db", 1, "flush"), "ops_per_s", "rows_per_s")
}
