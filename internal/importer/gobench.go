package importer

import (
	"bytes"
	"regexp"
	"slices"

	"golang.org/x/perf/benchfmt"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

var isGoBench = anyLine(`^Benchmark\S+\s+\d+\s+[\d.e+-]+ \S`)

var goBenchFailed = regexp.MustCompile(`^(?:--- FAIL: Benchmark|panic: )`)

const mostPrinted, longestBenchmark = 1e15, 1e7 // no benchmark prints more, or takes more seconds

// parseGoBench reads the output of go test -bench, and of programs that print the same, such as pebble bench: each
// benchmark is a step.
func parseGoBench(files []*file, _ *Options, ps *hint.Problems) (runs []*run) {
	in := &input{file: files[0], ps: ps}
	var text bytes.Buffer
	failed := ""
	in.each(func(line string) {
		if !in.torn {
			text.WriteString(line + "\n")
		}
		if failed == "" && goBenchFailed.MatchString(line) {
			failed = clip(line)
		}
	})
	for r := benchfmt.NewReader(&text, in.path); r.Scan(); {
		switch record := r.Result().(type) {
		case *benchfmt.SyntaxError:
			in.lineNumber = record.Line
			in.problem("", "no result of a benchmark: %s", record.Msg)
		case *benchfmt.Result:
			_, in.lineNumber = record.Pos()
			if b := goBenchmark(in, record); b != nil {
				runs = append(runs, b)
			}
		}
	}
	if len(runs) == 0 {
		in.problem("", "no benchmark has a time per operation, or a rate")
		return nil
	}
	runs[len(runs)-1].cutIf(in.file.endless, "the output ends within a line (%s)", in.path)
	for _, r := range runs {
		r.warnIf(failed != "", "not all benchmarks of this output succeeded: %s", failed)
	}
	return runs
}

// goBenchmark returns the run of a result, nil if it has no rate. An operation may be another thing than an iteration.
func goBenchmark(in *input, result *benchfmt.Result) *run {
	units := map[string]bool{}
	for _, v := range result.Values {
		if !slices.Contains([]string{"sec/op", "ops/sec", "w-amp"}, v.Unit) {
			continue
		}
		if units[v.Unit] || !(v.Value >= 0 && v.Value <= mostPrinted) {
			in.problem("", "it has %g %s, or has it twice", v.Value, v.Unit)
			return nil
		}
		units[v.Unit] = true
	}
	rate, rated := result.Value("ops/sec")
	took, timed := result.Value("sec/op")
	done := float64(result.Iters)
	seconds := done * took
	switch {
	case timed && rated:
		done = rate * seconds
	case rated:
		seconds = done / rate
	case timed:
		rate = 1 / took
	}
	if done < 1 || !(rate > 0 && rate < mostPrinted) || !(seconds > 0 && seconds < longestBenchmark) {
		return nil
	}
	r := newRun(in.file, fmtGoBench)
	_, r.trial = repetition(stem(in.path))
	name, parts := result.Name.Parts()
	r.tool, r.step.Doc, r.base = "Go's benchmarks", "a benchmark of Go", string(name)
	for _, part := range parts {
		if part[0] == '-' {
			r.ask(0, "gomaxprocs", string(part[1:]))
		} else {
			r.base += string(part)
		}
	}
	r.ask(0, "package", result.GetConfig("pkg"))
	r.about(opOperation, 0, opOperation)
	source := account.Source("a line of results")
	r.work(done, rate, account.Of(opOperation, opOperation), account.Count(int64(done)), source)
	r.lasted(seconds)
	for _, v := range result.Values {
		if v.Unit == "w-amp" {
			r.put(metric.EngineWriteAmplification, v.Value, source)
		}
		r.dropIf(!units[v.Unit], v.Unit+" of Go's benchmarks")
	}
	return r
}
