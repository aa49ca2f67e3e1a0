package importer

import (
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// benchmarkSQL reads the output of BenchmarkSQL, releases 3 to 5: settings, and a summary of the session.
type benchmarkSQL struct {
	*log
	errors int
}

var isBenchmarkSQL = anyLine(`jTPCC : Term-00, `)

// benchmarkSQLAsked are the settings that runs of one test share, and how they are called here.
var benchmarkSQLAsked = map[string]string{"warehouses": "warehouses", "terminals": "clients", "runMins": "minutes",
	"limitTxnsPerMin": "limitTxnsPerMin", "runTxnsPerTerminal": "runTxnsPerTerminal"}

var benchmarkSQLGrammar = grammar[*benchmarkSQL]{
	on(`^[\d:,]+ \[[^\]]+\] (ERROR|FATAL) `, func(b *benchmarkSQL, _ match) { b.errors++ }),
	on(`jTPCC : Term-00, +(?P<name>[A-Za-z][\w ()]*?) *= *(?P<value>\S.*?) *$`, func(b *benchmarkSQL, m match) {
		name, value := m.text("name"), m.text("value")
		if b.torn {
			return
		}
		b.secondRun(b.values[name] != "", "%s is there twice: a second run begins here", name)
		if b.values[name] = value; value != "0" && benchmarkSQLAsked[name] != "" {
			b.ask(b.lineNumber, benchmarkSQLAsked[name], value)
		}
	}),
}

func parseBenchmarkSQL(files []*file, _ *Options, ps *hint.Problems) []*run {
	b := &benchmarkSQL{log: newLog(files, fmtBenchmarkSQL, "BenchmarkSQL", ps)}
	return b.result(func(line string) { benchmarkSQLGrammar.read(b, line) }, b.finish)
}

func (b *benchmarkSQL) finish() {
	tpmC, tpmTotal, counted := b.values["Measured tpmC (NewOrders)"], b.values["Measured tpmTOTAL"],
		b.values["Transaction Count"]
	orders, found := positiveNumber(tpmC)
	transactions, total := positiveNumber(tpmTotal)
	b.refuseIf(!found || !total || orders <= 0 || orders > transactions, "", "tpmC %q of tpmTOTAL %q: no rate", tpmC,
		tpmTotal)
	clients, _ := number(b.values["terminals"])
	b.about(groupClients, int(clients), opNewOrder, opTransaction)
	b.clients, b.step.Doc = int(clients), "BenchmarkSQL, TPC-C"
	if db := b.values["db"]; db == "postgres" || db == "mysql" {
		b.engine = db
	}
	b.put(metric.OpsPerS, orders/60, account.Of(groupClients, opNewOrder), account.Source("tpmC ÷ 60"))
	b.put(metric.OpsPerS, transactions/60, account.Of(groupClients, opTransaction), account.Source("tpmTOTAL ÷ 60"))
	b.put(metric.RowsPerS, orders/60, account.Of(groupClients, opNewOrder), account.Source("tpmC ÷ 60"))
	b.per(opNewOrder, orders/60, 0)
	start, err := time.Parse(time.DateTime, b.values["Session Start"])
	end, endErr := time.Parse(time.DateTime, b.values["Session End"])
	if seconds := end.Sub(start).Seconds(); err == nil && endErr == nil && seconds > 0 {
		b.lasted(seconds)
		count, ok := positiveNumber(counted)
		made := figure{value: transactions / 60 * seconds, half: transactions / 60} // the clock has whole seconds
		b.contradictIf(ok && !newFigure(count).agrees(made), "Transaction Count", newFigure(count),
			"tpmTOTAL × the session's minutes", made)
	}
	b.cutIf(counted == "", "the output has no Transaction Count (%s:%d)", b.path, b.lines)
	b.warnIf(b.errors > 0, "%d errors in the log", b.errors)
	b.drop("BenchmarkSQL's running averages")
}
