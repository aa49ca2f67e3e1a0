package importer

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

const (
	db100 = "x.db100_rel.c8.pk1"
	db200 = "x.db200_rel.c8.pk1"
)

// A directory of a suite: assignments before the command, of which any word may
// look like a script; names as published; scans in rows; counts that differ by
// fewer than the clients; costs that scripts computed.
func TestSuite(t *testing.T) {
	c := expect.Value(Read([]string{"testdata/suite"}, Options{Now: at}))(t)
	trials := read(t, Options{}, "testdata/suite")
	if got := names(trials[:1]); got != db100+".1 point-query.warm_range=100, "+db100+".1 point-query_range=100, "+db100+".1 scan.warm_range=100, "+db100+".1 scan_range=100, "+db100+".1 update-index_range=100" {
		t.Errorf("steps %s", got)
	}
	expect.Equal(t, fmt.Sprint(c.Missing), "[{update-index_range=100 ["+db200+"]}]", "missing")
	point := step(t, trials, db100, 1, "point-query_range=100")
	numbers(t, point, []want{{"rows_per_s", "query", "", 12000.03}, {"rows", "query", "", 1200003}, {"service_mean_us", "query", "", 600000.5 * 1e3 / 1200001},
		// r/o is printed as 0, r/s as 0.3; cs/o as 2.5.
		{"device_reads", "", "query", 0.3 / 12000.03}, {"context_switches", "", "query", 2.5}, {"host_cpu_us", "", "query", 0.005 * 1e4 * 16}})
	expect.True(t, point.Find("rows_per_s", "transaction", "") == nil &&
		point.Groups[0].Clients == 6, "one query each", point.Groups)
	expect.Contains(t, strings.Join(metric.Texts(point.Find("host_cpu_us", "", "").Warnings), " "), "of 110 samples of vmstat about 5 are header lines that count as zeros: it is about 4.5 % too low", "warnings")
	scan := step(t, trials, db100, 1, "scan_range=100")
	numbers(t, scan, []want{{"rows_per_s", "scan", "", 300 * 2e6 / 101}, {"ops_per_s", "scan", "", 300 / 101.}, {"context_switches", "", "scan row", 0.09 * 1000 / (300 * 2e6 / 101)}})
	expect.Equal(t, len(c.Unused), 2, "costs without a log", c.Unused)
	for _, tr := range trials {
		expect.True(t, tr.Params["script"] == nil && !(tr.Params["table_size"] != nil &&
			tr.Params["table_size"] != 2000000.0) && tr.Engine == "mysql", tr.Target, tr.Params)
		for _, s := range tr.Steps {
			expect.Lacks(t, strings.Join(metric.Texts(s.Notes), " "), "secret", "a password in the notes", s.Notes)
		}
	}
	expect.Contains(t, strings.Join(metric.Texts(scan.Notes), " "), "script oltp_scan", scan.Notes)
}

// With the published arithmetic scans have the unit of published tables.
func TestSuiteCompatible(t *testing.T) {
	trials := read(t, Options{Compatible: true}, "testdata/suite")
	scan := step(t, trials, db200, 1, "scan_range=100")
	numbers(t, scan, []want{{"rows_per_s", "scan", "", 833}, {"context_switches", "", scanPublished, 0.114}, {"host_cpu_us", "", scanPublished, 0.085234 * 1e4 * 16}})
	point := step(t, trials, db100, 1, "point-query_range=100")
	numbers(t, point, []want{{"rows_per_s", "query", "", 12000.03}, {"device_reads", "", "query", 0}, {"context_switches", "", "query", 2.5}})
	expect.True(t, slices.Contains(metric.Texts(scan.Find("rows_per_s", "", "").Warnings), scanUnit),
		"the unit of scans is not given")
}

// The program is found behind assignments and other programs, and its script
// among its own arguments.
func TestCommand(t *testing.T) {
	for command, want := range map[string]string{
		"sysbench --threads=4 /share/oltp_read_write.lua run":                                                       "oltp_read_write",
		"LUA_PATH=/a/?.lua /bin/sysbench --threads=4 oltp_scan run":                                                 "oltp_scan",
		"LD_PRELOAD=/a/evil.lua A=sysbench env B=c /usr/bin/time -o x.lua /bin/sysbench /s/oltp_insert.lua run":     "oltp_insert",
		"LD_PRELOAD=\"/a/b.so /opt/sysbench\" taskset -c 0-3 /opt/sysbench-1.0.20 /s/oltp_delete.lua --x=y.lua run": "oltp_delete",
		"sysbench --test=/share/oltp.lua --oltp-table-size=5 run":                                                   "oltp",
		"sysbench cpu run":             "",
		"sysbench oltp_insert prepare": "",
		"echo run of a.lua":            "",
	} {
		s := newSysbench(inputOf("", nil))
		s.command(command)
		expect.Equal(t, s.params["script"], want, command)
	}
}

// One cause is one message, whatever many files it is in; without the files that
// are wrong the rest is imported.
func TestOneCause(t *testing.T) {
	files := map[string]string{}
	log := func(size string) string {
		return "/sb/bin/sysbench --table-size=" + size + " --threads=4 /share/x.lua run\n" + sysbenchLog
	}
	for _, target := range []string{"a", "b", "c"} {
		for i := range 12 {
			files[fmt.Sprintf("%s/sb.o.t%02d.range1.pk1.dop4", target, i)] = log(map[string]string{"a": "20", "b": "10", "c": "20"}[target])
		}
	}
	files["b/sb.o.t12.range1.pk1.dop4"], files["a/sb.o.t12.range1.pk1.dop4"] = log("20"), log("20")
	files["c/sb.o.t13.range1.pk1.dop4"] = "no log\n"
	t.Chdir(write(t, files))
	want := "c/sb.o.t13.range1.pk1.dop4:1: no format that is known here"
	if _, err := Read([]string{"."}, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "table_size") {
		t.Errorf("error %v", err)
	}
	c := expect.Value(Read([]string{"."}, Options{Skip: true, Now: at}))(t)
	if got := c.Left.Error(); strings.Count(got, "hint:") != 2 || !strings.Contains(got, "table_size differs in 12 files of target b, first b/sb.o.t00.range1.pk1.dop4:1: 10 instead of 20\n") {
		t.Errorf("left out: %s", got)
	}
	targets, tests, n := c.Sizes()
	expect.True(t, len(targets) == 3 && tests == 13 && n == 26 && targets[1].Steps == 1, targets, tests, n)
	expect.True(t, len(c.Missing) == 13 && c.Missing[0].Step == "t00_range=1" &&
		strings.Join(c.Missing[0].Targets, " ") == "b" && strings.Join(c.Missing[12].Targets, " ") == "c", c.Missing)
	expect.NoError(t, os.Remove("c/sb.o.t13.range1.pk1.dop4"))
	var ps hint.Problems
	if _, err := Read([]string{"."}, Options{}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v, %v", err, ps)
	}
}

// Sizes have their unit; lines of one release may be of several configurations,
// and are made trials with a word.
func TestSizesAndRepeats(t *testing.T) {
	head := "ops_sec\tmb_sec\tlsm_sz\ttest\tversion\n"
	dir := write(t, map[string]string{"db/t.txt": head + "5\t1\t512MB\tfill\t7\n6\t1\t2TB\tfill\t7\n5\t1\t10KB\tread\t7\n"})
	c, err := Read([]string{dir}, Options{Now: at})
	expect.Must(t, err == nil && len(c.Guessed) == 1 && strings.Contains(c.Guessed[0], "the 2 lines of 7 fill in "),
		err, c)
	trials := read(t, Options{}, dir)
	numbers(t, step(t, trials, "db", 1, "fill"), []want{{"data_bytes", "", "", 512 << 20}})
	numbers(t, step(t, trials, "db", 2, "fill"), []want{{"data_bytes", "", "", 2 << 40}})
	numbers(t, step(t, trials, "db", 1, "read"), []want{{"data_bytes", "", "", 10 << 10}})
	expect.Contains(t, strings.Join(metric.Texts(trials[1].Warnings), " "), "guessed: the 2 lines", trials[1].Warnings)
	dir = write(t, map[string]string{"n.csv": "target,step,metric,value,unit\na,l,db_bytes,3,GB\na,l,write_kb,2,MB\n"})
	trials = read(t, Options{CPUs: 8}, filepath.Join(dir, "n.csv"))
	numbers(t, &trials[0].Steps[0], []want{{"db_bytes", "", "", 3 << 30}, {"write_kb", "", "", 2048}})
	expect.Equal(t, trials[0].Imported.CPUs, 8, "CPUs are remembered")
}

// Of a log that is longer than memory should hold neighbouring intervals are put
// together; nothing is lost of their sums.
func TestManyIntervals(t *testing.T) {
	s := newSysbench(inputOf("", nil))
	const n = 3*mostIntervals + 5
	for i := range n {
		s.intervals.add(sbInterval{end: float64(i + 1), length: 1, events: float64(i % 7), queries: -1})
	}
	var events, length float64
	for i, iv := range s.intervals.items {
		events += iv.events * iv.length
		length += iv.length
		expect.Must(t, iv.queries == -1 && (i >= len(s.intervals.items)-1 || iv.length == 4), "interval", i, iv)
	}
	want := 0.0
	for i := range n {
		want += float64(i % 7)
	}
	if len(s.intervals.items) > mostIntervals || s.intervals.stride != 4 || length != n || math.Abs(events-want) > 1e-6*want {
		t.Errorf("%d intervals of %d, %g s, %g events of %g", len(s.intervals.items), s.intervals.stride, length, events, want)
	}
}

func inputOf(text string, ps *hint.Problems) *input {
	return &input{file: textFile("x", text), ps: ps}
}

// A long file is read line by line: only its head is kept.
func TestStreaming(t *testing.T) {
	f := textFile("x", strings.Repeat("line\n", 1000)+"end")
	expect.Equal(t, len(f.head), looked, "lines are kept")
	var last []string
	for range 2 { // as often as it is wanted
		in := &input{file: f}
		expect.True(t, usable(func() {
			in.each(func(line string) {
				if in.last {
					last = append(last, fmt.Sprintf("%d %s", in.lineNumber, line))
				}
			})
		}) && f.endless && f.lines == 1001, f.lines, f.endless)
	}
	expect.Equal(t, strings.Join(last, " "), "1001 end 1001 end", last)
	for text, want := range map[string]string{"a\x00b\n": "x: it is not a text file", strings.Repeat("a", longest+2): "x: it is not a text file"} {
		var ps hint.Problems
		expect.True(t, !usable(func() { inputOf(text, &ps).each(func(string) {}) }) && ps.Error() == want, ps.Error())
	}
}

// A target that lacks a test, or the log of one, has not done other work because
// of it; an option that only one target was given makes other work.
func TestParametersOfAll(t *testing.T) {
	log := func(options string) string {
		return "/sb/bin/sysbench --tables=4 --table-size=20 --threads=4 /share/x.lua run " + options + "\n" + sysbenchLog
	}
	dir := write(t, map[string]string{
		"a/sb.o.one.range1.pk1.dop4": log("--rand-type=uniform"), "a/sb.o.two.range1.pk1.dop4": log("--rand-type=zipfian"),
		"b/sb.o.one.range1.pk1.dop4": log("--rand-type=uniform"),
	})
	for _, tr := range read(t, Options{}, dir) {
		expect.True(t, tr.Params["rand_type"] == nil && tr.Params["table_size"] == 20.0 &&
			tr.Params["pk"] == 1.0, tr.Target, tr.Params)
	}
	dir = write(t, map[string]string{"a/sb.o.one.range1.pk1.dop4": log(""), "b/sb.o.one.range1.pk1.dop4": log("--skip-trx")})
	expect.Refused(Read([]string{dir}, Options{}))(t, "skip_trx differs in 1 file of target b, first "+dir+"/b/sb.o.one.range1.pk1.dop4:1: on instead of not given", "error")
}
