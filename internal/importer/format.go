package importer

import (
	"slices"
	"strings"
)

// format is a format that is read here.
type format struct {
	name string
	// detect tells a file by its first lines.
	detect func(head []string) bool
	// parse reads the runs of files that belong together: one file mostly, all
	// clients' of the insert benchmark, pgbench's output before its logs. nil
	// for what stands beside a run: iostat, vmstat, time.
	parse func(files []*file, o *Options, ps *Problems) []*run
}

// Names of formats that are asked for by name.
const (
	fmtSysbench = "sysbench"
	fmtIBench   = "ibench"
	fmtPgbench  = "pgbench"
	fmtPgLog    = "pgbench -l"
	fmtDBBench  = "db_bench"
	fmtCSV      = "csv"
	fmtIOStat   = "iostat"
	fmtVMStat   = "vmstat"
	fmtTime     = "time"
	fmtMet      = "costs per operation"
	fmtTable    = "table"
)

// companionFormats are those of files that stand beside a log.
var companionFormats = []string{fmtIOStat, fmtVMStat, fmtTime, fmtMet}

// formats lists the formats, the most reliably recognised first.
func formats() []format {
	return []format{
		{fmtSysbench, isSysbench, parseSysbench},
		{fmtPgbench, isPgbench, parsePgbench},
		{fmtIBench, isIBench, parseIBench},
		{fmtDBBench, isDBBench, parseDBBench},
		{fmtTable, isTable, parseTable},
		{fmtCSV, isCSV, parseCSV},
		{fmtMet, isMet, parseMet},
		{fmtIOStat, isIOStat, nil},
		{fmtVMStat, isVMStat, nil},
		{fmtTime, isTime, nil},
		{fmtPgLog, isPgLog, parsePgLog},
	}
}

// Formats are the names that Options.Format may have.
func Formats() []string {
	return []string{fmtSysbench, fmtIBench, fmtPgbench, fmtDBBench, fmtTable, fmtCSV}
}

// detect tells a file's format; the one without a name if it is none of ours.
func detect(f *file) format {
	for _, c := range formats() {
		if c.detect(f.head) {
			return c
		}
	}
	return format{}
}

func formatNamed(name string) format {
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.name == name }); i >= 0 {
		return all[i]
	}
	return format{}
}

// foreign says what a file that is none of ours holds instead.
func foreign(f *file) (line int, reason, hint string) {
	known := "expected the output of sysbench run, pgbench, db_bench, the insert benchmark, or a CSV with the columns target, step, metric and value"
	for i, l := range f.head {
		switch {
		case strings.TrimSpace(l) == "":
			continue
		case strings.Contains(l, `"sysstat"`):
			return i + 1, "iostat's JSON", "iostat is to run without -o JSON"
		case sbVersion(l) != "":
			return i + 1, "sysbench, but no sysbench run: nothing was timed", ""
		}
		return i + 1, "no format that is known here: " + known + ", not " + quoted(l),
			"rumbench import --format NAME tells what is wrong with a file of that format; what is no log of a run belongs elsewhere"
	}
	return 0, "it is empty: " + known, ""
}

func quoted(s string) string { return "“" + clip(strings.TrimSpace(s)) + "”" }
