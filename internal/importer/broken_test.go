package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// All problems are reported at once with file and line, and nothing is imported.
// commaAfter writes the number behind a word with a decimal comma.
func commaAfter(log, word string) string {
	i := strings.Index(log, word)
	return log[:i] + strings.Replace(log[i:], ".", ",", 1)
}

// without is a log without the line that holds a word.
func without(log, word string) string {
	var out []string
	for _, line := range strings.Split(log, "\n") {
		if !strings.Contains(line, word) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestBroken(t *testing.T) {
	head := sysbenchLog[:strings.Index(sysbenchLog, "SQL statistics")]
	pg := text(t, "testdata/pgbench/tpcb.out")
	vm := "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
	suite := func(table, threads string) string {
		return "/sb/bin/sysbench --table-size=" + table + " --threads=" + threads + " /share/oltp_point_select.lua run --rand-type=uniform\n8 CPUs\n" + strings.Replace(sysbenchLog, "threads: 4", "threads: "+threads, 1)
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		o     Options
		want  []string // beginnings of the problems
	}{
		{"cut off before any figure", map[string]string{"db/a.log": head}, Options{},
			[]string{"db/a.log:8: the log is cut off (db/a.log:8), and there are no intervals either\nhint: run the test again"}},
		{"foreign", map[string]string{"db/a.log": "\nhello world\n"}, Options{},
			[]string{"db/a.log:2: no format that is known here: expected the output of sysbench run, pgbench, db_bench, the insert benchmark, YCSB, go-ycsb, go-tpc, tpcc-mysql, HammerDB, BenchmarkSQL, benchbase, go test -bench, or a CSV with the columns target, step, metric and value, not “hello world”\nhint: rumbench import --format"}},
		{"empty", map[string]string{"db/a.log": ""}, Options{}, []string{"db/a.log: it is empty: expected"}},
		{"nothing", map[string]string{"db/readme": "hello\n"}, Options{}, []string{".: no log of a run is there\nhint: docs/import.md"}},
		{"another format than was asked for", map[string]string{"db/a.out": pg}, Options{Format: "sysbench"}, []string{"db/a.out:1: it is not what sysbench run prints: no line begins with “sysbench VERSION”"}},
		{"not run", map[string]string{"db/a.log": "sysbench 1.0.20 (using LuaJIT)\n\nCreating table 'sbtest1'...\n"}, Options{}, []string{"db/a.log:1: sysbench, but no sysbench run: nothing was timed"}},
		{"the second run of two", map[string]string{"db/a.log": sysbenchLog + strings.Replace(sysbenchLog, "Latency (ms)", "Latency (h)", 1)}, Options{}, []string{"db/a.log:60: min: \"0.30\": a latency was expected, in ns, us, ms or s"}},
		{"latency in another unit", map[string]string{"db/a.log": strings.Replace(sysbenchLog, "Latency (ms)", "Latency (h)", 1)}, Options{}, []string{"db/a.log:26: min: \"0.30\": a latency was expected, in ns, us, ms or s"}},
		{"interval in another unit", map[string]string{"db/a.log": head + "[ 1s ] thds: 4 tps: 10.00 qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (ms,95%): 0.10 err/s: 0.00 reconn/s: 0.00\n" +
			"[ 2s ] thds: 4 tps: 10.00 qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (h,95%): 100.00 err/s: 0.00 reconn/s: 0.00\n\n"}, Options{}, []string{"db/a.log:10: \"[ 2s ] thds: 4 tps: 10.00 qps"}},
		{"broken interval", map[string]string{"db/a.log": head + "[ 1s ] thds: 4 tps: oops qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (ms,95%): 0.10\n[ 2s ] thds: 4\n"}, Options{}, []string{"db/a.log:9: \"[ 1s ] thds: 4 tps: oops"}},
		{"decimal comma in the total time", map[string]string{"db/a.log": commaAfter(sysbenchLog, "time elapsed:")}, Options{}, []string{"db/a.log:22: \"time elapsed:                        100,0000s\": a number was expected"}},
		{"decimal comma in a latency", map[string]string{"db/a.log": commaAfter(sysbenchLog, "sum:")}, Options{}, []string{"db/a.log:30: sum: \"400000,00\": a latency was expected"}},
		{"report_csv with decimal commas", map[string]string{"db/a.log": head + "1,4,10,00,10,00,10,00,0,00,0,00,0,10,0,00,0,00\n2,4\n"}, Options{}, []string{"db/a.log:9: \"1,4,10,00,10,00,10,00,0,00,0,00,0,10,0,00,0,00\" is not an interval of sysbench.report_csv: 10 numbers were expected"}},
		{"settings above the version", map[string]string{"db/a.log": "Target transaction rate: 300/sec\n" + sysbenchLog}, Options{}, []string{"db/a.log:1: \"Target transaction rate: 300/sec\" is above the line with sysbench's version: the beginning of a run is missing\nhint: import the log as sysbench printed it"}},
		{"only intervals have queries", map[string]string{"db/a.log": without(without(sbTen, "transactions:"), "queries: ")}, Options{}, []string{"db/a.log:33: the final figures have no “queries”"}},
		{"a run without its beginning", map[string]string{"db/a.log": sysbenchLog[strings.Index(sysbenchLog, "Throughput:"):] + sysbenchLog}, Options{}, []string{"db/a.log:1: \"Throughput:\" is above the line"}},
		{"no queries", map[string]string{"db/a.log": without(sysbenchLog, " queries:  ")}, Options{}, []string{"db/a.log:33: the final figures have no “queries”"}},
		{"no total time", map[string]string{"db/a.log": without(sysbenchLog, "time elapsed:")}, Options{}, []string{"db/a.log:33: the final figures have no “total time”"}},
		{"time goes back", map[string]string{"db/a.log": head + strings.Repeat("[ 1s ] thds: 4 tps: 10.00 qps: 10.00 (r/w/o: 10.00/0.00/0.00) lat (ms,95%): 0.10 err/s: 0.00 reconn/s: 0.00\n", 2)}, Options{}, []string{"db/a.log:10: the time goes back from 1 s to 1 s"}},
		{"name against content", map[string]string{"db/sb.o.point-query.range100.pk1.dop8": suite("1000", "4")}, Options{}, []string{"db/sb.o.point-query.range100.pk1.dop8:1: its name says 8 clients, and the log has 4"}},
		{"different plans", map[string]string{"a/sb.o.point-query.range100.pk1.dop4": suite("1000", "4"), "b/sb.o.point-query.range100.pk1.dop4": suite("2000", "4")}, Options{},
			[]string{"table_size differs in 1 file of target b, first b/sb.o.point-query.range100.pk1.dop4:1: 2000 instead of 1000\nhint: only runs of one plan can be compared"}},
		{"nothing in common", map[string]string{"a/sb.o.point-query.range100.pk1.dop4": suite("1000", "4"), "b/sb.o.point-query.range100.pk1.dop8": suite("1000", "8")}, Options{},
			[]string{"a/sb.o.point-query.range100.pk1.dop4: a has no step in common with another target: it has point-query_range=100", "b/sb.o.point-query.range100.pk1.dop8: b has no step in common"}},
		{"the same twice", map[string]string{"a/t.log": sysbenchLog, "a/t.txt": sysbenchLog}, Options{}, []string{"a/t.txt: 1 file of a, trial 1: another file has the same step, first t, which is also in a/t.log\nhint: put repeated runs into numbered directories, as a/1 and a/2"}},
		{"no such base", map[string]string{"a/t.log": sysbenchLog}, Options{Base: "b"}, []string{"there is no target b to be the base\nhint: the targets are a"}},
		{"iostat of mixed units", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": "Device r/s rkB/s w/s wkB/s\nsda 1 1 1 1\n\nDevice r/s rMB/s w/s wMB/s\nsda 1 1 1 1\n"}, Options{}, []string{"db/a.iostat:4: the columns differ from earlier ones: the file mixes layouts or units"}},
		{"iostat with an unknown unit", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": "Device r/s rkB/s w/s wkB/s\nsda 1.0 1.2x 1 1\nsda 1 1 1 1\n"}, Options{}, []string{"db/a.iostat:2: \"sda 1.0 1.2x 1 1\" are not a device's figures: 4 numbers were expected"}},
		{"iostat of another language", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": "Device r/s rkB/s w/s wkB/s\nsda 1,00 1,00 1,00 1,00\nsda 1 1 1 1\n"}, Options{}, []string{"db/a.iostat:2: \"sda 1,00 1,00 1,00 1,00\" are not a device's figures: 4 numbers were expected\nhint: run iostat with LC_ALL=C"}},
		{"iostat in JSON", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": "{\"sysstat\": {\n"}, Options{}, []string{"db/a.iostat:1: iostat's JSON\nhint: run iostat without -o JSON"}},
		{"iostat in an unknown unit", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": "Device r/s rGB/s w/s wGB/s\nsda 1 1 1 1\n"}, Options{}, []string{"db/a.iostat:1: the columns Device r/s rGB/s w/s wGB/s have no known unit"}},
		{"no such device", map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": strings.Repeat("Device r/s rkB/s w/s wkB/s\nsda 1 1 1 1\n\n", 2)}, Options{Devices: []string{"sdz"}}, []string{"db/a.iostat: it has no device sdz\nhint: the devices that were used are sda"}},
		{"broken vmstat", map[string]string{"db/a.log": sysbenchLog, "db/a.vmstat": vm + "1 2 3\n" + strings.Repeat("1 ", 17) + "\n"}, Options{}, []string{"db/a.vmstat:3: \"1 2 3\" is not a line of vmstat: 17 numbers were expected"}},
		{"broken time", map[string]string{"db/a.log": sysbenchLog, "db/a.time": "1.0user 0:10elapsed\n"}, Options{}, []string{"db/a.time: it does not contain the user, system and elapsed time of a command\nhint: run the command as /usr/bin/time"}},
		{"pgbench without figures", map[string]string{"db/a.log": "pgbench (15.18)\nstarting vacuum...end.\n"}, Options{}, []string{"db/a.log:2: pgbench's output ends without “tps =”, and it has no progress lines"}},
		{"pgbench in another unit", map[string]string{"db/a.log": strings.Replace(pg, "latency average = 0.373 ms", "latency average = 373 us", 1)}, Options{}, []string{"db/a.log:15: \"latency average = 373 us\": a latency in ms was expected"}},
		{"pgbench with decimal commas", map[string]string{"db/a.log": strings.Replace(pgRun("s.sql", 4, 400), "tps = 20.0", "tps = 20,0", 1)}, Options{}, []string{"db/a.log:10: \"tps = 20,000000 (including connections establishing)\": a decimal point was expected\nhint: run pgbench with LC_ALL=C"}},
		{"pgbench with parts of another run", map[string]string{"db/a.log": strings.Replace(pg, "latency stddev", "latency average = 0.400 ms\nlatency stddev", 1)}, Options{}, []string{"db/a.log:16: a second run of pgbench ends here: \"latency average = 0.400 ms\" and, before, \"0.373 ms\"\nhint: split the file"}},
		{"pgbench's log without its output", map[string]string{"db/a.77": "0 1 1000 0 1700000000 500000 70\n"}, Options{}, []string{"db/a.77:1: \"0 1 1000 0 1700000000 500000 70\": 7 columns: the meaning of those beyond the sixth is unknown\nhint: put pgbench's output next to the log"}},
		{"pgbench's log of several runs", map[string]string{"db/a.77": "0 1 1000 0 1700000000 500000\n0 2 1000 0 1800000000 500000\n"}, Options{}, []string{"db/a.77: between two transactions lie 100000000 s: these are logs of several runs"}},
		{"db_bench without results", map[string]string{"db/a.log": "Keys:       16 bytes each\nValues:     100 bytes each\n"}, Options{}, []string{"db/a.log:2: db_bench's output ends before the first summary"}},
		{"db_bench with a broken result", map[string]string{"db/a.log": strings.Replace(levelDB, "2.000 micros/op;", "2.000 micros/op 5,0 ops/sec", 1)}, Options{}, []string{"db/a.log:7: \"fillseq      :       2.000 micros/op 5,0 ops/sec   57.2 MB/s\": N micros/op; or N micros/op N ops/sec was expected"}},
		{"table of db_bench", map[string]string{"db/a.log": "ops_sec\tmb_sec\tlsm_sz\ttest\tversion\tx\ny\t1\t16GB\tfill\t7\tx\n5\t1\t16\tfill\t7\tx\n5\n"}, Options{},
			[]string{"db/a.log:2: ops_sec \"y\" and test \"fill\"", "db/a.log:3: lsm_sz is \"16\": a number with KB, MB, GB or TB was expected", "db/a.log:4: 1 fields do not fit the header, which has 6"}},
		{"insert benchmark put together", map[string]string{"db/l.i0/o.ib.dop1.1": "i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\n1.0\t2.0\t5\t5\t0\t0\t1\t1\t10\t0\n1.0\t1.0\t5\t5\t0\t0\t1\t1\t5\t0\n"}, Options{},
			[]string{"db/l.i0/o.ib.dop1.1:3: counts or times are lower than in line 2: a second run begins here"}},
		{"insert benchmark with fields missing", map[string]string{"db/l.i0/o.ib.dop1.1": "i_sec\tt_sec\ti_ips\tt_ips\ti_qps\tt_qps\tmax_i\tmax_q\tt_ins\tt_query\n1.0\t2.0\t5\t5\t0\t0\t1\t1\t10\n1.0\t3.0\t5\t5\t0\t0\t1\t1\t15\t0\n"}, Options{},
			[]string{"db/l.i0/o.ib.dop1.1:2: \"1.0 2.0 5 5 0 0 1 1 10\" is not an interval of the insert benchmark: 10 numbers were expected"}},
		{"CSV", map[string]string{"n.csv": "target,step,metric,value,unit,trial\na,l,row_per_s,1,1/s,1\na,l,service_p99_us,1,ms,1\na,l,rows,x,,1\na,l,rows,5,,0\n,l,rows,5,,1\na,l,rows,5,,1\na,l,rows,6,,1\na,l,rows\na,l,errors,-1,,1\n"}, Options{}, []string{
			"n.csv:2: there is no metric \"row_per_s\"\nhint: did you mean rows_per_s?", "n.csv:3: service_p99_us is in µs, not ms\nhint: convert the value", "n.csv:4: the value \"x\" is not a number\nhint: leave the line out",
			"n.csv:5: trial 0: trials are numbered from 1", "n.csv:6: the target is missing", "n.csv:8: line 7 has this number too", "n.csv:9: 3 fields, but the header has 6", "n.csv:10: the value \"-1\" is below 0"}},
		{"CSV in published units without CPUs", map[string]string{"n.csv": "target,step,metric,value,unit\na,l,host_cpu_us,3354,Mcpu\na,l,rows,3354,Mcpu\n"}, Options{}, []string{"n.csv:2: Mcpu is a share of all CPUs, whose number is unknown\nhint: give --cpus N", "n.csv:3: rows is in count, not Mcpu"}},
		{"CSV with other columns", map[string]string{"n.csv": "target,metric,value,colour\na,rows,1,red\n"}, Options{}, []string{"n.csv:1: there is no column \"colour\"\nhint: the columns are target, step, metric, value, trial", "n.csv:1: column step is missing"}},
		{"several at once", map[string]string{"a/t.log": "hello\n", "b/t.log": strings.Replace(sysbenchLog, "Latency (ms)", "Latency (h)", 1)}, Options{}, []string{"a/t.log:1: no format", "b/t.log:26: min: \"0.30\""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(write(t, c.files))
			_, err := Read([]string{"."}, c.o)
			var ps hint.Problems
			expect.Must(t, errors.As(err, &ps), "error", err)
			for i, p := range ps {
				expect.True(t, i < len(c.want) && strings.HasPrefix(p.String(), c.want[i]), i, p)
			}
			expect.True(t, len(ps) >= len(c.want), "no word of", c.want[len(ps):])
		})
	}
}

// Files that were named must be logs; beside others in a directory anything may lie.
func TestNamedFiles(t *testing.T) {
	t.Chdir(write(t, map[string]string{"db/a.log": sysbenchLog, "db/notes.md": "hello\n", "db/data.bin": "a\x00b", "db/left.iostat": strings.Repeat("Device r/s rkB/s w/s wkB/s\nsda 1 1 1 1\n\n", 2), "db/b.log": sysbenchLog}))
	c := expect.Value(Read([]string{"db"}, Options{}))(t)
	expect.Equal(t, strings.Join(c.Ignored, " "), "db/data.bin db/notes.md", c.Ignored, c.Unused)
	expect.Equal(t, strings.Join(c.Unused, " "), "db/left.iostat", c.Ignored, c.Unused)
	for name, want := range map[string]string{"db/notes.md": "db/notes.md:1: no format", "db/data.bin": "db/data.bin: it is not a text file", "db/none": "db/none: no such file or directory"} {
		_, err := Read([]string{name}, Options{})
		expect.True(t, err != nil && strings.HasPrefix(err.Error(), want), name, err)
	}
}

// Two files are two targets; what stands beside them by name is theirs.
func TestFilesAsTargets(t *testing.T) {
	t.Chdir(write(t, map[string]string{"old.log": sysbenchLog, "new.log": sysbenchLog, "new.time": "1.00user 1.00system 1:40elapsed 1%CPU (x"}))
	trials := read(t, Options{Base: "old"}, "new.log", "old.log")
	if names(trials) != "old.1 sysbench, new.1 sysbench" || trials[0].Steps[0].Find("client_cpu_us", "", "") != nil || trials[1].Steps[0].Find("client_cpu_us", "", "") == nil {
		t.Errorf("trials %s", names(trials))
	}
	// Of one target the files are steps.
	expect.Equal(t, names(read(t, Options{Target: "x"}, "new.log", "old.log")), "x.1 new, x.1 old", "trials")
}

// A copy of a trial's log is no trial.
func TestCopies(t *testing.T) {
	dir := write(t, map[string]string{"a/t.run1.log": sysbenchLog, "a/t.run2.log": sysbenchLog, "b/t.run1.log": sysbenchLog})
	expect.Refused(Read([]string{dir}, Options{Now: at}))(t, "it is a copy of "+filepath.Join(dir, "a/t.run1.log"))
	expect.Equal(t, names(read(t, Options{Skip: true}, dir)), "a.1 t, b.1 t", "trials")
}

// A file that was compressed is read as if it were not.
func TestGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(sysbenchLog)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"db/t.log.gz": b.String()})
	numbers(t, step(t, read(t, Options{}, dir), "db", 1, "t"), []want{{"rows_per_s", "query", "", 10000}})
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "db/t.log.gz"), b.Bytes()[:100], 0o644))
	expect.Refused(Read([]string{dir}, Options{}))(t, "t.log.gz: unexpected EOF", "error")
}

// A campaign is written into a new directory only, and is not read as logs.
func TestWrite(t *testing.T) {
	dir := write(t, map[string]string{"db/t.log": sysbenchLog})
	c, err := Read([]string{dir}, Options{Now: at, Command: []string{"rumbench", "import"}, Name: "mine"})
	expect.NoError(t, err)
	expect.Error(t, c.Write(dir), "is not empty", "error")
	out := filepath.Join(dir, "out")
	expect.NoError(t, c.Write(out))
	again, err := Read([]string{dir}, Options{Now: at})
	expect.True(t, err == nil && len(again.Ignored) == 0 && len(again.Trials) == 1, err, again)
	back, err := result.ReadCampaign(out)
	expect.True(t, err == nil && back.Name == "mine" && back.Started == at && back.Trials[0].Dir == "db.1" &&
		back.Trials[0].Status == result.Complete, back, err)
}

// The same logs give the same campaign.
func TestDeterministic(t *testing.T) {
	var last string
	for i := range 3 {
		_, err := Read([]string{"testdata"}, Options{Now: at, Target: "x", Format: "pgbench"})
		expect.Must(t, err != nil, "all formats are pgbench")
		all := err.Error()
		c, err := Read([]string{"testdata/pgbench", "testdata/sysbench/mysql-5.5.9"}, Options{Now: at, Target: "x"})
		expect.NoError(t, err)
		dir := filepath.Join(t.TempDir(), "c")
		expect.NoError(t, c.Write(dir))
		all += text(t, filepath.Join(dir, "trials/x.1/trial.json")) + text(t, filepath.Join(dir, "trials/x.1/series.jsonl"))
		expect.True(t, !(i > 0 && all != last), "not the same twice", last, all)
		last = all
	}
}
