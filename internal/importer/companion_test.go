package importer

import (
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// Headers of all generations of iostat: the same figures must be found in each.
func TestIOStatGenerations(t *testing.T) {
	for _, c := range []struct {
		name, header, row string
		discard           float64 // -1: unknown
	}{
		{"Ubuntu 16", "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util", "sda 9 9 10.0 20.0 40.0 80.0 9 9 9 9 9 9 9", -1},
		{"Ubuntu 18", "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util", "sda 10.0 20.0 40.0 80.0 9 9 9 9 9 9 9 9 9 9 9", -1},
		{"Ubuntu 20", "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz  aqu-sz  %util", "sda 10.0 40.0 9 9 9 9 20.0 80.0 9 9 9 9 1 4.0 9 9 9 9 9 9", 4},
		{"Ubuntu 22", "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util", "sda 10.0 40.0 9 9 9 9 20.0 80.0 9 9 9 9 1 4.0 9 9 9 9 9 9 9 9", 4},
		{"megabytes", "Device            r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wMB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dMB/s", "sda 10.0 0.0390625 9 9 9 9 20.0 0.078125 9 9 9 9 1 0.00390625", 4},
		{"sectors", "Device:    rrqm/s wrqm/s   r/s   w/s  rsec/s  wsec/s avgrq-sz avgqu-sz   await  svctm  %util", "sda 9 9 10.0 20.0 80.0 160.0 9 9 9 9 9", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := "\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 10.00 1.00 5.00 0.00 0.00 84.00\n\n" + c.header + "\n" + c.row + "\nloop0" + strings.Repeat(" 7", len(strings.Fields(c.header))-1) + "\n"
			boot := strings.ReplaceAll(report, "sda 10.0", "sda 99999")
			var ps hint.Problems
			s := parseIOStat(textFile("io", "Linux 5.15.0 (host) \t03/05/2025 \t_x86_64_\t(96 CPU)\n"+boot+report+report), &ps)
			expect.Must(t, len(ps) <= 0 && s.cpus == 96 && s.kernel == "5.15.0" && len(s.reports) == 3 && strings.Join(s.used(), " ") == "sda" && s.reports[1].busy == 16, ps, s.reports, s.used())
			got := map[string]float64{}
			for _, f := range ioFigures(s, []string{"sda"}) {
				got[f.Metric] = f.Value
				expect.True(t, !(f.Metric == "write_kb" && (len(f.Warnings) == 2) != (c.discard < 0)), f.Warnings)
			}
			want := map[string]float64{"device_reads": 10, "read_kb": 40, "write_kb": 80}
			if c.discard >= 0 {
				want["discard_kb"] = c.discard
			}
			expect.Equal(t, fmt.Sprint(got), fmt.Sprint(want), got, want)
		})
	}
}

// The basic report has no requests; blocks are of 512 bytes.
func TestIOStatBasic(t *testing.T) {
	report := "Device             tps    Blk_read/s    Blk_wrtn/s   Blk_read   Blk_wrtn\nsda 30.0 80.0 160.0 1 1\n\n"
	var ps hint.Problems
	s := parseIOStat(textFile("io", report+report), &ps)
	figures := ioFigures(s, []string{"sda"})
	expect.True(t, len(ps) == 0 && len(figures) == 2 && figures[0].Metric == "read_kb" && figures[0].Value == 40 &&
		figures[1].Value == 80, ps, figures)
}

// Option -z leaves out the lines of idle devices: in these intervals they did nothing. If
// there are lines of zeros, a device without a line is not idle but unknown.
func TestIOStatIdle(t *testing.T) {
	for _, cpu := range []string{"", "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 10.00 1.00 5.00 0.00 0.00 84.00\n\n"} {
		report := func(lines string) string {
			return cpu + "Device            r/s     rkB/s     w/s     wkB/s\n" + lines + "\n"
		}
		active := report("sda 10.0 40.0 20.0 80.0\n")
		for other, want := range map[string]float64{"": 10 * 2. / 5, "sdb 1.0 1.0 1.0 1.0\n": 10 * 2. / 5, "sdb 0.0 0.0 0.0 0.0\n": 10} {
			var ps hint.Problems
			s := parseIOStat(textFile("io", active+active+report(other)+active+report(other)+report(other)), &ps)
			f := ioFigures(s, []string{"sda"})
			expect.True(t, len(ps) == 0 && f[0].Value == want, other, ps, f, want)
		}
	}
}

// Option -h prints units, splits the columns, and puts the names last; old releases put
// the figures on the next line.
func TestIOStatHuman(t *testing.T) {
	cpu := "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          10.0%    1.0%    5.0%    0.0%    0.0%   84.0%\n\n"
	for name, report := range map[string]string{
		"split": cpu + "     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device\n   10.00      1.5M     0.00   0.0%    0.37    12.4k sda\n    1.00      3.0B     0.00   0.0%    0.37    12.4k loop0\n\n" +
			"     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz Device\n   20.00      2.5k     0.00   0.0%    0.37    12.4k sda\n    0.00      0.0k     0.00   0.0%    0.37    12.4k loop0\n\n" +
			"     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz Device\n    0.00      4.0k     0.00   0.0%    0.37    12.4k sda\n    0.00      0.0k     0.00   0.0%    0.37    12.4k loop0\n\n" +
			"     f/s f_await  aqu-sz  %util Device\n    1.00    0.37    0.00   0.4% sda\n    0.00    0.00    0.00   0.0% loop0\n\n",
		"two lines": cpu + "Device            r/s     w/s     rkB/s     wkB/s     dkB/s\nsda\n           10.00   20.00   1536.00      2.50      4.00\nloop0\n            1.00    0.00      0.00      0.00      0.00\n\n",
	} {
		var ps hint.Problems
		s := parseIOStat(textFile("io", "Linux 5.15.0 (host) \t03/05/2025 \t_x86_64_\t(4 CPU)\n\n"+strings.Repeat(report, 3)), &ps)
		if len(ps) > 0 || len(s.reports) != 3 || s.reports[2].busy != 16 || strings.Join(s.used(), " ") != "sda" || len(s.reports[1].devices) != 2 {
			t.Errorf("%s: %v, %+v", name, ps, s.reports)
			continue
		}
		got := map[string]float64{}
		for _, f := range ioFigures(s, []string{"sda"}) {
			got[f.Metric] = f.Value
		}
		if want := map[string]float64{"device_reads": 10, "read_kb": 1536, "write_kb": 2.5, "discard_kb": 4}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		// The last report is cut off.
		s = parseIOStat(textFile("io", strings.Repeat(report, 2)+report[:strings.Index(report, "20.00")]), &ps)
		expect.True(t, len(s.reports) == 2 && len(ps) == 0, name, ps, s.reports)
	}
}

// Option -s adds up reads and writes: there is no figure of either.
func TestIOStatShort(t *testing.T) {
	report := "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 10.00 1.00 5.00 0.00 0.00 84.00\n\nDevice             tps      kB/s    rqm/s   await  areq-sz  aqu-sz  %util\nsda 30.0 120.0 9 9 9 9 9\n\n"
	dir := write(t, map[string]string{"db/a.log": sysbenchLog, "db/a.iostat": strings.Repeat(report, 3)})
	s := step(t, read(t, Options{CPUs: 4}, dir), "db", 1, "a")
	numbers(t, s, []want{{"host_cpu_us", "", "query", 0.16 * 4 * 1e6 / 10000}})
	if absent(t, s, "device_reads", "read_kb", "write_kb"); len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Text, "iostat -s adds up reads and writes") {
		t.Errorf("%q", s.Warnings)
	}
}

// A device that is twice in a report would count twice.
func TestIOStatTwice(t *testing.T) {
	var ps hint.Problems
	parseIOStat(textFile("io", "Device r/s rkB/s w/s wkB/s\nsda 1 1 1 1\nsda 1 1 1 1\n"), &ps)
	expect.True(t, len(ps) == 1 && ps[0].Reason == "device sda is twice in the report", ps)
}

// Means are weighted by the true lengths of intervals if these are known, and
// devices that were named are added up.
func TestIOStatWeights(t *testing.T) {
	report := func(clock, a, b string) string {
		return "11/21/26 " + clock + "\nDevice r/s rkB/s w/s wkB/s\nsda " + a + "\nsdb " + b + "\n\n"
	}
	log := report("13:00:00", "999 999 999 999", "9 9 9 9") + report("13:00:01", "10 100 0 0", "1 10 0 0") + report("13:00:04", "50 500 0 0", "3 30 0 0")
	var ps hint.Problems
	s := parseIOStat(textFile("io", log), &ps)
	one, both := ioFigures(s, []string{"sda"}), ioFigures(s, []string{"sda", "sdb"})
	// One second of 10 reads and three of 50; beside it one of 1 and three of 3.
	expect.True(t, len(ps) == 0 && one[0].Value == (10+3*50)/4. && both[0].Value == (10+3*50+1+3*3)/4. &&
		both[1].Source == "iostat, device sda + sdb", ps, one, both)
}

// The compatible mean takes whatever holds the name, and a device and its part
// as two samples of one.
func TestCompatibleSubstring(t *testing.T) {
	log := "Device r/s rkB/s w/s wkB/s\nnvme0n1 10 100 1 50\nnvme0n1p1 4 40 1 10\nsda 9 9 9 9\n"
	var ps hint.Problems
	figures := compatibleIOFigures(parseIOStat(textFile("io", log), &ps), "nvme")
	expect.True(t, figures[0].Value == (10+4)/2. && figures[2].Value == (50+10)/2. && len(figures[0].Warnings) == 1 &&
		figures[0].Warnings[0].Text == "the mean of one of nvme0n1, nvme0n1p1, not their sum", figures)
}

// The compatible means are those that grep and awk compute.
func TestCompatibleLikeAwk(t *testing.T) {
	awk, err := exec.LookPath("awk")
	if err != nil {
		t.Skip("no awk here")
	}
	run := func(program, path string) float64 {
		out := expect.Value(exec.Command(awk, program, path).Output())(t)
		v := expect.Value(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))(t)
		return v
	}
	dir := "testdata/sysbench/mariadb-10.11.19/"
	vmPath, ioPath := dir+"sb.vm.point-query.range100.pk1.dop2", dir+"sb.io.point-query.range100.pk1.dop2"
	vm, io := parsed(t, vmPath, parseVMStat), parsed(t, ioPath, parseIOStat)
	figures := append(compatibleVMFigures(vm, 100), compatibleIOFigures(io, "vda")...) // of 100 CPUs a percent is a second
	for i, program := range []string{
		`!/swpd/ { if (k++) { s += $12; n++ } } END { printf "%.17g\n", s/n }`,
		`!/swpd/ { if (k++) { s += $13 + $14; n++ } } END { printf "%.17g\n", s/n*1e6 }`,
		`/vda/ { s += $2; n++ } END { printf "%.17g\n", s/n }`,
		`/vda/ { s += $3; n++ } END { printf "%.17g\n", s/n }`,
		`/vda/ { s += $9; n++ } END { printf "%.17g\n", s/n }`,
	} {
		path := vmPath
		if i >= 2 {
			path = ioPath
		}
		want := run(program, path)
		expect.True(t, math.Abs(figures[i].Value-want) <= near*want, figures[i].Metric, figures[i].Value, want)
	}
}

func parsed[T any](t *testing.T, path string, parse func(*file, *hint.Problems) *T) *T {
	t.Helper()
	f := expect.Value(newFile(path))(t)
	var ps hint.Problems
	out := parse(f, &ps)
	expect.Must(t, len(ps) == 0, ps)
	return out
}

func TestTime(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		cpu, elapsed float64
		failed       string
	}{
		{"default", "4.38user 13.53system 0:24.01elapsed 74%CPU (0avgtext+0avgdata 12776maxresident)k\n0inputs+0outputs (0major+73minor)pagefaults 0swaps", 4.38 + 13.53, 24.01, ""},
		{"failed", "Command exited with non-zero status 1\n1.00user 0.50system 1:02:03elapsed 74%CPU (0avgtext", 1.5, 3723, "Command exited with non-zero status 1"},
		{"verbose", "\tCommand being timed: \"sysbench run\"\n\tUser time (seconds): 1.25\n\tSystem time (seconds): 0.75\n\tPercent of CPU this job got: 50%\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02.50\n\tExit status: 0", 2, 62.5, ""},
		{"POSIX", "real 10.00\nuser 1.00\nsys 2.00", 3, 10, ""},
		{"shell", "\nreal\t1m10.500s\nuser\t0m1.000s\nsys\t0m2.000s", 3, 70.5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ps hint.Problems
			f := textFile("t", c.text)
			u := parseTime(f, &ps)
			expect.True(t, u != nil && u.cpu == c.cpu && u.elapsed == c.elapsed && u.failed == c.failed && isTime(f.head), u, ps)
		})
	}
}

const sysbenchLog = `sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Warmup time: 5s

Threads started!

SQL statistics:
    queries performed:
        read:                            1000000
        write:                           0
        other:                           0
        total:                           1000000
    transactions:                        1000000 (10000.00 per sec.)
    queries:                             1000000 (10000.00 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      10000.0000
    time elapsed:                        100.0000s
    total number of events:              1000000

Latency (ms):
         min:                                    0.30
         avg:                                    0.40
         max:                                   15.69
         95th percentile:                        0.50
         sum:                               400000.00

Threads fairness:
    events (avg/stddev):           250000.0000/73879.23
    execution time (avg/stddev):   100.0000/0.07
`

// What is not known is left out, and why is said: the number of CPUs, which of
// several devices is meant, files that hold one sample.
func TestCompanionsUnknown(t *testing.T) {
	vm := "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
	sample := " 4  0 168424 3316688 469720 125774352   10    9  3157  4066    0    20000 16 10 72  2  0\n"
	device := "Device r/s rkB/s w/s wkB/s\n"
	io := device + "sda 1 1 1 1\nsdb 1 1 1 1\n\n"
	for _, c := range []struct {
		name    string
		files   map[string]string
		options Options
		warning string
		absent  []string
		present []string
	}{
		{"CPUs", map[string]string{"a.vmstat": vm + sample + sample}, Options{}, "no file says how many CPUs", []string{"host_cpu_us"}, []string{"context_switches"}},
		{"CPUs given", map[string]string{"a.vmstat": vm + sample + sample}, Options{CPUs: 4}, "", nil, []string{"host_cpu_us"}},
		{"one sample", map[string]string{"a.vmstat": vm + sample}, Options{CPUs: 4}, "no sample but the average since boot", []string{"host_cpu_us", "context_switches"}, nil},
		{"devices", map[string]string{"a.iostat": io + io}, Options{}, "iostat saw the devices sda, sdb", []string{"read_kb", "write_kb"}, nil},
		{"device given", map[string]string{"a.iostat": io + io}, Options{Devices: []string{"sdb"}}, "", []string{"discard_kb"}, []string{"read_kb", "write_kb", "device_reads"}},
		{"one report", map[string]string{"a.iostat": io}, Options{Devices: []string{"sdb"}}, "one report only", []string{"read_kb"}, nil},
		{"warm-up", map[string]string{"a.time": "1.00user 1.00system 1:50elapsed 1%CPU (x"}, Options{}, "", nil, []string{"client_cpu_us"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["a.log"] = sysbenchLog
			dir := write(t, map[string]string{})
			for name, text := range c.files {
				dir = writeMore(t, dir, "db/"+name, text)
			}
			s := step(t, read(t, c.options, dir), "db", 1, "a")
			absent(t, s, c.absent...)
			for _, m := range c.present {
				expect.True(t, s.Find(m, "", "query") != nil, m)
			}
			got := strings.Join(metric.Texts(s.Warnings), "\n")
			expect.True(t, strings.Contains(got, c.warning) && !(c.warning == "" && got != ""), got)
		})
	}
	// The client ran for 110 s, the window for 100: its share of a second counts.
	dir := write(t, map[string]string{"db/a.log": sysbenchLog, "db/a.time": "1.10user 1.10system 1:50elapsed 1%CPU (x"})
	s := step(t, read(t, Options{}, dir), "db", 1, "a")
	numbers(t, s, []want{{"client_cpu_us", "", "query", 2.2 / 110 * 1e6 / 10000}, {"service_mean_us", "query", "", 400}, {"service_p95_us", "query", "", 500}})
	expect.Equal(t, len(s.Find("client_cpu_us", "", "").Warnings), 1, "warnings")
}

// The log counts the CPUs in use, iostat those there are.
func TestCPUsDisagree(t *testing.T) {
	dir := write(t, map[string]string{"db/a.log": "/sb/bin/sysbench --threads=4 x.lua run\n48 CPUs\n" + sysbenchLog,
		"db/a.iostat": "Linux 5.15.0 (host) \t03/05/2025 \t_x86_64_\t(96 CPU)\n\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 40.00 0.00 10.00 0.00 0.00 50.00\n\nDevice r/s rkB/s w/s wkB/s\nsda 1 1 1 1\n\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n 40.00 0.00 10.00 0.00 0.00 50.00\n\nDevice r/s rkB/s w/s wkB/s\nsda 1 1 1 1\n"})
	s := step(t, read(t, Options{}, dir), "db", 1, "a")
	numbers(t, s, []want{{"host_cpu_us", "", "query", 0.5 * 48 * 1e6 / 10000}})
	expect.True(t, len(s.Warnings) == 1 && strings.Contains(s.Warnings[0].Text, "48 CPUs and iostat 96"), s.Warnings)
}
