package importer

import (
	"regexp"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// benchmarkSQL parses the output of BenchmarkSQL, releases 3 to 5: settings, and a summary of the session.
type benchmarkSQL struct {
	*run
	*input
	found  map[string]string
	errors int
}

var (
	benchmarkSQLLine  = regexp.MustCompile(`jTPCC : Term-00, +([A-Za-z][\w ()]*?) *= *(\S.*?) *$`)
	benchmarkSQLError = regexp.MustCompile(`^[\d:,]+ \[[^\]]+\] (ERROR|FATAL) `)
)

// benchmarkSQLAsked are the settings that runs of one test share, and how they are called here.
var benchmarkSQLAsked = map[string]string{"warehouses": "warehouses", "terminals": "clients", "runMins": "minutes",
	"limitTxnsPerMin": "limitTxnsPerMin", "runTxnsPerTerminal": "runTxnsPerTerminal"}

func isBenchmarkSQL(head []string) bool {
	return strings.Contains(strings.Join(head, "\n"), "jTPCC : Term-00, ")
}

func parseBenchmarkSQL(files []*file, _ *Options, ps *hint.Problems) []*run {
	b := &benchmarkSQL{run: newFileRun(files[0], fmtBenchmarkSQL, "BenchmarkSQL"), input: &input{file: files[0], ps: ps},
		found: map[string]string{}}
	return b.single(b.run, b.line, b.finish)
}

func (b *benchmarkSQL) line(line string) {
	if benchmarkSQLError.MatchString(line) {
		b.errors++
	}
	m := benchmarkSQLLine.FindStringSubmatch(line)
	if m == nil || b.last && b.input.file.cut {
		return
	}
	if before := b.found[m[1]]; before != "" {
		b.refuse("split the file: one run each", "%s is there twice: a second run begins here", m[1])
	}
	b.found[m[1]] = m[2]
	if name := benchmarkSQLAsked[m[1]]; name != "" && m[2] != "0" {
		b.ask(b.at, name, m[2])
	}
}

func (b *benchmarkSQL) finish() {
	orders, known := positive(b.found["Measured tpmC (NewOrders)"])
	all, total := positive(b.found["Measured tpmTOTAL"])
	if !known || !total || orders <= 0 || orders > all {
		b.refuse("", "tpmC %q of tpmTOTAL %q: no rate", b.found["Measured tpmC (NewOrders)"], b.found["Measured tpmTOTAL"])
		return
	}
	clients, _ := number(b.found["terminals"])
	b.about(opNewOrder, int(clients))
	b.clients, b.engine = int(clients), map[string]string{"postgres": "postgres", "mysql": "mysql"}[b.found["db"]]
	b.step.Doc, b.step.Groups[0].Name = "BenchmarkSQL, TPC-C", sbClients
	b.step.Groups[0].Ops = append(b.step.Groups[0].Ops, opTransaction)
	b.put(metric.OpsPerS, orders/60, account.Of(sbClients, opNewOrder), account.Source("tpmC ÷ 60"))
	b.put(metric.OpsPerS, all/60, account.Of(sbClients, opTransaction), account.Source("tpmTOTAL ÷ 60"))
	b.put(metric.RowsPerS, orders/60, account.Of(sbClients, opNewOrder), account.Source("tpmC ÷ 60"))
	b.costs = append(b.costs, account.Denominator{Per: opNewOrder, Units: orders / 60})
	start, err := time.Parse(time.DateTime, b.found["Session Start"])
	end, endErr := time.Parse(time.DateTime, b.found["Session End"])
	if seconds := end.Sub(start).Seconds(); err == nil && endErr == nil && seconds > 0 {
		b.step.Seconds = seconds
		b.put(metric.DurationS, seconds)
		count, ok := positive(b.found["Transaction Count"])
		made := figure{value: all / 60 * seconds, half: all / 60} // the clock has whole seconds
		if f := (figure{value: count}); ok && !f.agrees(made) {
			b.contradict("Transaction Count", f, "tpmTOTAL × the session's minutes", made)
		}
	}
	if b.found["Transaction Count"] == "" {
		b.cut("the output has no Transaction Count (%s:%d)", b.path, b.lines)
	}
	if b.errors > 0 {
		b.warn("%d errors in the log", b.errors)
	}
	b.drop("BenchmarkSQL's running averages")
}
