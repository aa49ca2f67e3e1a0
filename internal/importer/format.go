package importer

import (
	"slices"
	"strings"

	"rumbench/internal/text/hint"
)

// companionFormats are the formats of the files next to a log.
var companionFormats = []string{fmtIOStat, fmtVMStat, fmtTime, fmtMet}

// formats returns the formats, the most reliably recognised ones first.
func formats() []format {
	list := []format{
		{fmtSysbench, isSysbench, parseSysbench},
		{fmtPgbench, isPgbench, parsePgbench},
		{fmtIBench, isIBench, parseIBench},
		{fmtDBBench, isDBBench, parseDBBench},
		{fmtGoTPC, isGoTPC, parseGoTPC},
		{fmtYCSB, isYCSB, parseYCSB},
		{fmtBenchbase, isBenchbase, parseBenchbase},
		{fmtHammerDB, isHammerDB, parseHammerDB},
		{fmtBenchmarkSQL, isBenchmarkSQL, parseBenchmarkSQL},
		{fmtTPCCMySQL, isTPCCMySQL, parseTPCCMySQL},
		{fmtGoBench, isGoBench, parseGoBench},
		{fmtCSV, isCSV, parseCSV},
		{fmtMet, isMet, nil},
		{fmtIOStat, isIOStat, nil},
		{fmtVMStat, isVMStat, nil},
		{fmtTime, isTime, nil},
		{fmtPgLog, isPgLog, parsePgLog},
	}
	for i, f := range list {
		if f.parse != nil {
			list[i].parse = func(files []*file, o *Options, ps *hint.Problems) (runs []*run) {
				usable(func() { runs = f.parse(files, o, ps) })
				return runs
			}
		}
	}
	return list
}

// Formats returns the names that Options.Format may have.
func Formats() []string {
	return []string{fmtSysbench, fmtIBench, fmtPgbench, fmtDBBench, fmtYCSB, fmtGoTPC, fmtHammerDB, fmtBenchmarkSQL,
		fmtTPCCMySQL, fmtBenchbase, fmtGoBench, fmtCSV}
}

// formatBy returns the first format that matches, or a format without a name
// if none does.
func formatBy(matches func(format) bool) format {
	list := formats()
	if i := slices.IndexFunc(list, matches); i >= 0 {
		return list[i]
	}
	return format{}
}

// foreign returns the content found in a file of an unknown format.
func foreign(f *file) (line int, reason, hint string) {
	expected := "expected the output of sysbench run, pgbench, db_bench, the insert benchmark, YCSB, go-ycsb, " +
		"go-tpc, " +
		"tpcc-mysql, HammerDB, BenchmarkSQL, benchbase, go test -bench, or a CSV with the columns target, step, " +
		"metric and value"
	for i, l := range f.head {
		switch {
		case strings.TrimSpace(l) == "":
			continue
		case strings.Contains(l, `"sysstat"`):
			return i + 1, "iostat's JSON", "run iostat without -o JSON"
		case strings.HasPrefix(l, "col-1 : ") || strings.HasPrefix(l, "Relative to: "):
			return i + 1, "a published table", "import the logs that it was made of"
		case hasSBHead([]string{l}):
			return i + 1, "sysbench, but no sysbench run: nothing was timed", ""
		}
		return i + 1, "no format that is known here: " + expected + ", not " + quoted(l),
			"rumbench import --format NAME reports what is wrong with a file of that format; keep files that are " +
				"not logs elsewhere"
	}
	return 0, "it is empty: " + expected, ""
}

func quoted(s string) string { return "“" + clip(strings.TrimSpace(s)) + "”" }
