package importer

import (
	"bytes"
	"regexp"
	"slices"

	"golang.org/x/perf/benchfmt"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

var goBenchLine = regexp.MustCompile(`^Benchmark\S+\s+\d+\s+[\d.e+-]+ \S`)

func isGoBench(head []string) bool { return slices.ContainsFunc(head, goBenchLine.MatchString) }

// parseGoBench parses the output of go test -bench, and of programs that print the same, such as pebble bench: each
// benchmark is a step.
func parseGoBench(files []*file, _ *Options, ps *hint.Problems) (runs []*run) {
	in := &input{file: files[0], ps: ps}
	var text bytes.Buffer
	if !in.each(func(line string) {
		if !in.last || !in.file.cut {
			text.WriteString(line + "\n")
		}
	}) {
		return nil
	}
	for r := benchfmt.NewReader(&text, in.path); r.Scan(); {
		switch record := r.Result().(type) {
		case *benchfmt.SyntaxError:
			in.at = record.Line
			in.problem("", "no result of a benchmark: %s", record.Msg)
		case *benchfmt.Result:
			if b := goBenchmark(in.file, record); b != nil {
				runs = append(runs, b)
			}
		}
	}
	if len(runs) == 0 {
		in.problem("", "no benchmark has a time per operation, or a rate")
	}
	return runs
}

// goBenchmark returns the run of a result, nil if it has no rate.
func goBenchmark(f *file, result *benchfmt.Result) *run {
	rate, rated := result.Value("ops/sec")
	if took, timed := result.Value("sec/op"); timed && !rated && took > 0 {
		rate = 1 / took
	}
	if n := float64(result.Iters); n < 1 || rate <= 0 || !quantity.Finite(n/rate) {
		return nil
	}
	r := newRun(f, fmtGoBench)
	_, r.trial = repetition(stem(f.path))
	r.tool = "Go's benchmarks"
	name, parts := result.Name.Parts()
	r.base = string(name)
	for _, part := range parts {
		if part[0] == '-' {
			r.ask(0, "gomaxprocs", string(part[1:]))
		} else {
			r.base += string(part)
		}
	}
	r.ask(0, "package", result.GetConfig("pkg"))
	r.about(opOperation, 0)
	r.step.Doc, r.step.Seconds = "a benchmark of Go", float64(result.Iters)/rate
	source := account.Source("a line of results")
	r.work(float64(result.Iters), rate, account.Of(opOperation, opOperation), account.Count(int64(result.Iters)), source)
	r.put(metric.DurationS, r.step.Seconds)
	for _, v := range result.Values {
		switch v.Unit {
		case "sec/op", "ops/sec":
		case "w-amp":
			r.put(metric.EngineWriteAmplification, v.Value, source)
		default:
			r.drop(v.Unit + " of Go's benchmarks")
		}
	}
	return r
}
