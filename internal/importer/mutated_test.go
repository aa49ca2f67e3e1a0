package importer

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

var mutations = flag.Int("mutations", 18, "mutated logs of each log, for TestMutated: 1000 are 2000 of each format")
var mutationSeed = flag.Uint64("mutation-seed", 38, "seed of the mutations")

// mutants are the ways to spoil a text.
var mutants = map[string]func(r *rand.Rand, lines []string) []string{
	"cut": func(r *rand.Rand, lines []string) []string {
		text := strings.Join(lines, "")
		return strings.SplitAfter(text[:r.IntN(len(text))], "\n")
	},
	"cut between lines": func(r *rand.Rand, lines []string) []string { return lines[:r.IntN(len(lines))] },
	"a line twice": func(r *rand.Rand, lines []string) []string {
		i := r.IntN(len(lines))
		return slices.Insert(lines, i, lines[i])
	},
	"lines twice": func(r *rand.Rand, lines []string) []string {
		i := r.IntN(len(lines))
		return slices.Insert(lines, r.IntN(len(lines)), slices.Clone(lines[i:i+r.IntN(len(lines)-i)])...)
	},
	"two lines exchanged": func(r *rand.Rand, lines []string) []string {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	},
	"a line elsewhere": func(r *rand.Rand, lines []string) []string {
		i := r.IntN(len(lines))
		line := lines[i]
		lines = slices.Delete(lines, i, i+1)
		return slices.Insert(lines, r.IntN(len(lines)+1), line)
	},
	"decimal commas": func(r *rand.Rand, lines []string) []string {
		for i := r.IntN(len(lines)); i < len(lines); i++ {
			lines[i] = decimals.ReplaceAllString(lines[i], "$1,$2")
		}
		return lines
	},
	"other line ends": func(_ *rand.Rand, lines []string) []string {
		return strings.SplitAfter(strings.ReplaceAll(strings.Join(lines, ""), "\n", "\r\n"), "\n")
	},
	"twice": func(_ *rand.Rand, lines []string) []string { return append(lines, lines...) },
}

var decimals = regexp.MustCompile(`(\d)\.(\d)`)

// spoiled are the logs that are spoiled, each with the files that belong to it.
func spoiled(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{"sysbench": {"a.log": sysbenchLog}, "several": {"a.log": pgRun("s.sql", 4, 400) + pgRun("s.sql", 8, 500)},
		"leveldb": {"a.log": levelDB}, "go-ycsb": {"a.log": goYCSB}, "hammerdb": {"a.log": hammerLog}, "go-tpc": {"a.log": goTPCLines}, "benchmarksql": {"a.log": benchmarkSQLLines}, "benchbase": {"a.json": benchbaseJSON},
		"tpcc-mysql": {"a.log": tpccMySQLLog}, "gobench": {"a.log": goBenchLog}}
	for _, pattern := range []string{"more/*.log", "pgbench/*.out", "db_bench/*.txt", "ycsb/*.log", "ycsb/*.out", "ibench/*/*/o.ib.dop1.1", "sysbench/*/sb.o.*"} {
		paths, err := filepath.Glob("testdata/" + pattern)
		expect.Must(t, err == nil && len(paths) != 0, pattern, err)
		for _, path := range paths {
			out[path] = map[string]string{"a.log": text(t, path)}
		}
	}
	for log, logged := range map[string]string{"exact.out": "exact.6693", "rate.out": "rate.6550", "agg.out": "agg.6688"} {
		out[logged] = map[string]string{"a.out": text(t, "testdata/pgbench/"+log), "a.77": text(t, "testdata/pgbench/"+logged)}
	}
	return out
}

// numbersOf returns the values of each metric of an import, and the lowest and highest
// rate of its intervals.
func numbersOf(t *testing.T, runs []*run) (values map[string][]float64, low, high float64) {
	t.Helper()
	values, low = map[string][]float64{}, math.Inf(1)
	for _, r := range runs {
		for _, row := range r.step.Rows {
			values[row.Metric+row.Per] = append(values[row.Metric+row.Per], row.Value)
		}
		for _, l := range seriesOf(t, r) {
			rate := float64(l.Ops) / l.DT
			low, high = min(low, rate), max(high, rate)
		}
	}
	return values, low, high
}

// TestMutated spoils logs: none may panic, and no number that comes out may contradict
// its log. A number is that of the log as it was, or its run is marked, or partial; then
// its rate is one that intervals have.
func TestMutated(t *testing.T) {
	logs := spoiled(t)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		t.Run(name, func(t *testing.T) {
			files := logs[name]
			whole := importedRuns(t, files)
			expect.Must(t, len(whole) != 0, "the log itself is refused")
			o := oracle{}
			o.values, o.low, o.high = numbersOf(t, whole)
			if logged := maps.Clone(files); len(files) > 1 { // what the output has without its log of transactions
				delete(logged, "a.77")
				alone, _, _ := numbersOf(t, importedRuns(t, logged))
				for name, values := range alone {
					o.values[name] = append(o.values[name], values...)
				}
			}
			for _, r := range whole {
				o.warnings = max(o.warnings, len(r.step.Warnings))
			}
			kinds := slices.Sorted(maps.Keys(mutants))
			for i := range *mutations {
				r := rand.New(rand.NewPCG(uint64(i), *mutationSeed))
				spoiled := maps.Clone(files)
				file := slices.Sorted(maps.Keys(files))[r.IntN(len(files))]
				kind := kinds[i%len(kinds)]
				spoiled[file] = strings.Join(mutants[kind](r, strings.SplitAfter(files[file], "\n")), "")
				for _, run := range importedRuns(t, spoiled) {
					expect.Equal(t, o.contradicts(run), "", i, kind, file)
					sound(t, run)
				}
			}
		})
	}
}

// importedRuns imports the files of a target; none come out if they are refused.
func importedRuns(t *testing.T, files map[string]string) (runs []*run) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeMore(t, dir, "db/"+name, text)
	}
	c, err := Read([]string{dir}, Options{Now: at})
	var ps hint.Problems
	expect.Must(t, err == nil || errors.As(err, &ps), err)
	if err == nil {
		for i := range c.trials {
			runs = append(runs, c.trials[i].runs...)
		}
	}
	return runs
}

// oracle knows the numbers of a log before it was spoiled.
type oracle struct {
	values    map[string][]float64
	low, high float64 // rates of intervals
	warnings  int
}

// contradicts returns a number of a run that its log does not have.
func (o *oracle) contradicts(r *run) string {
	if r.step.Status != result.Complete {
		rate := r.step.Find("ops_per_s", "", "")
		printed := rate != nil && slices.Contains(o.values[rate.Metric+rate.Per], rate.Value)
		if rate != nil && !printed && (rate.Value < o.low-1 || rate.Value > o.high+1) {
			return fmt.Sprintf("a partial run has %g/s; its intervals have %g to %g", rate.Value, o.low, o.high)
		}
		return ""
	}
	for _, row := range r.step.Rows {
		steady := strings.HasPrefix(row.Metric, "interval_") || strings.HasPrefix(row.Metric, "stall")
		known := slices.ContainsFunc(o.values[row.Metric+row.Per], func(v float64) bool {
			return v == row.Value || row.Metric == "service_mean_us" && math.Abs(v-row.Value) < 0.01*v // avg instead of the sum
		})
		if !steady && len(r.step.Warnings) <= o.warnings && len(row.Warnings) == 0 && !known {
			return fmt.Sprintf("%s %s is %g; it was %v", row.Metric, row.Per, row.Value, o.values[row.Metric+row.Per])
		}
	}
	return ""
}

// TestMutatedCompanions spoils what iostat and vmstat print: a cost that comes out is one
// between those of the lowest and the highest sample.
func TestMutatedCompanions(t *testing.T) {
	vm := "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
	io := "Linux 5.15.0 (host) \t03/05/2025 \t_x86_64_\t(4 CPU)\n\n"
	for i := range 8 {
		vm += fmt.Sprintf(" 4  0 168424 3316688 469720 125774352   10    9  3157  4066    0    %d %d %d 10  2  0\n", 20000+100*i, 40+i, 10)
		io += fmt.Sprintf("avg-cpu:  %%user   %%nice %%system %%iowait  %%steal   %%idle\n %d.00 0.00 10.00 0.00 0.00 50.00\n\nDevice            r/s     rkB/s     w/s     wkB/s\nsda 100.00 %d.00 50.00 500.00\nsdb 0.00 0.00 0.00 0.00\n\n", 40+i, 1000+10*i)
	}
	bounds := map[string][2]float64{"context_switches": {20000, 20700}, "host_cpu_us": {0.5 * 4e6, 0.57 * 4e6}, "device_reads": {100, 100},
		"read_kb": {1000, 1070}, "write_kb": {500, 500}}
	whole := map[string]string{"a.log": sysbenchLog, "a.iostat": io, "a.vmstat": vm}
	if values, _, _ := numbersOf(t, importedRuns(t, whole)); len(values["read_kbquery"]) != 1 || len(values["context_switchesquery"]) != 1 {
		t.Fatal(values)
	}
	kinds := slices.Sorted(maps.Keys(mutants))
	for i := range 4 * *mutations {
		r := rand.New(rand.NewPCG(uint64(i), *mutationSeed+1))
		file, kind := []string{"a.iostat", "a.vmstat"}[i%2], kinds[i/2%len(kinds)]
		spoiled := maps.Clone(whole)
		spoiled[file] = strings.Join(mutants[kind](r, strings.SplitAfter(whole[file], "\n")), "")
		for _, run := range importedRuns(t, spoiled) {
			for _, row := range run.step.Rows {
				b, ok := bounds[row.Metric]
				if v := row.Value * 10000; ok && (v < b[0]*(1-near) || v > b[1]*(1+near)) {
					t.Errorf("%d, %s in %s: %s is %g, outside of %v", i, kind, file, row.Metric, v, b)
				}
			}
		}
	}
}
