package importer

import (
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// tpccMySQL reads the output of tpcc_start, of tpcc-mysql. Its times are not taken: the releases of 2016 measure the
// processor time of the client's thread instead.
type tpccMySQL struct {
	*log
	section   string                 // the heading in front of the line
	counts    map[string][]tpccCount // by heading and kind of transaction
	end       float64
	orders    figure // of all intervals
	intervals []account.Interval
}

// tpccCount counts the transactions of a kind: those done, in time and late, those repeated, and those that failed.
type tpccCount struct{ done, retried, failed float64 }

// tpccKinds are the transactions in the order of tpcc-mysql's counts.
var tpccKinds = []string{opNewOrder, "payment", "order_status", "delivery", "stock_level"}

// The headings of counts. Those of all threads together are added without a lock, so that some get lost.
const (
	tpccShared = "<Raw Results>"
	tpccSummed = "<Raw Results2(sum ver.)>"
)

const tpccInterval = `^ *(?P<end>\d+), (?:trx: )?(?P<orders>\d+)(?:\(\d+\):|, 95%:)`

var isTPCCMySQL = anyLine(`^\*\*\* ###easy### TPC-C Load Generator \*\*\*|^\s*<Raw Results>\s*$|` + tpccInterval)

var tpccGrammar = grammar[*tpccMySQL]{
	on(`^<`, func(t *tpccMySQL, m match) {
		if t.section = strings.TrimSpace(m.line); t.counts[t.section] != nil {
			t.secondRun(true, "%s is there twice: a second run ends here", t.section)
		}
	}),
	on(`^ *\[warehouse\]: (?P<warehouses>\d+)`, (*tpccMySQL).asked),
	on(`^ *\[connection\]: (?P<clients>\d+)`, (*tpccMySQL).asked),
	on(tpccInterval, (*tpccMySQL).interval),
	on(`^\d{4}, \w{5}, .+`, func(t *tpccMySQL, m match) { t.warn("a connection failed: %s", clip(m.line)) }),
	on(`^ *\[(?P<kind>\d)\] sc:(?P<done>\d+) +lt:(?P<late>\d+) +rt:(?P<retried>\d+) +fl:(?P<failed>\d+)`, (*tpccMySQL).count),
	on(`^ *in (?P<seconds>\d+) sec\.`, (*tpccMySQL).kept),
	on(`^ *(?P<rate>[\d.]+) TpmC`, (*tpccMySQL).kept),
}

func parseTPCCMySQL(files []*file, _ *Options, ps *hint.Problems) []*run {
	t := &tpccMySQL{log: newLog(files, fmtTPCCMySQL, "tpcc-mysql", ps), counts: map[string][]tpccCount{}}
	return t.result(func(line string) {
		if !t.torn || strings.HasPrefix(line, "<") {
			tpccGrammar.read(t, line)
		}
	}, t.finish)
}

func (t *tpccMySQL) interval(m match) {
	end, n := m.number("end"), m.number("orders")
	t.contradictIf(end <= t.end, "the end of an interval", newFigure(end), "that of the one before", newFigure(t.end))
	if end > t.end {
		t.intervals = append(t.intervals, t.counted(opNewOrder, end, end-t.end, n))
	}
	t.end, t.orders.value = end, t.orders.value+n
}

func (t *tpccMySQL) count(m match) {
	counts := t.counts[t.section]
	t.refuseIf(len(counts) == len(tpccKinds) || m.text("kind") != strconv.Itoa(len(counts)), "",
		"[%s] is not the next kind of transaction of %s", m.text("kind"), t.section)
	t.counts[t.section] = append(counts, tpccCount{m.number("done") + m.number("late"), m.number("retried"),
		m.number("failed")})
}

func (t *tpccMySQL) finish() {
	counts, shared := t.counts[tpccSummed], t.counts[tpccShared]
	seconds, _ := t.value("seconds")
	t.refuseIf(len(counts) != len(tpccKinds) || len(shared) != len(tpccKinds) || seconds.value <= 0 ||
		counts[0].done < 1, "", "it has no results of all kinds of transactions: tpcc_start did not end, or no new "+
		"order succeeded")
	clients, _ := number(t.params["clients"])
	t.about(groupClients, int(clients), opNewOrder)
	t.step.Doc, t.step.WritesPer, t.step.Groups[0].Ops = "tpcc-mysql", opNewOrder, nil
	t.clients, t.engine = int(clients), "mysql"
	t.lasted(seconds.value)
	var sum tpccCount
	for i, c := range counts {
		sum = tpccCount{sum.done + c.done, sum.retried + c.retried, sum.failed + c.failed}
		if c.done >= 1 {
			t.addKind(tpccKinds[i], int64(c.done), seconds.value, tpccSummed)
		}
	}
	t.per(opNewOrder, counts[0].done/seconds.value, int64(counts[0].done))
	tried := int64(sum.done + sum.failed)
	t.failures("transactions", int64(sum.failed), tried)
	if sum.retried > 0 {
		t.put(metric.Retries, sum.retried, account.Of(groupClients, ""), account.Count(tried))
	}
	t.check(counts[0].done, shared[0].done, seconds.value)
	t.addIntervals(groupClients, t.intervals, false)
	t.drop("tpcc-mysql's times")
}

// check compares TpmC and the intervals with the counts.
func (t *tpccMySQL) check(done, shared, seconds float64) {
	counted, made := newFigure(shared), newFigure(shared*60/seconds)
	rate, printed := t.value("rate")
	t.cutIf(!printed, "the output has no TpmC (%s:%d)", t.path, t.lines)
	t.contradictIf(printed && !rate.agrees(made), "TpmC", rate, tpccShared+" per minute", made)
	t.requireWithin(tpccShared, counted, tpccSummed, newFigure(done))
	lost := 1 - shared/done
	t.warnIf(lost > slack, "TpmC lacks %.2g %% of the new orders: the threads share its counter without a lock; the sum "+
		"of their own counts is taken", 100*lost)
	t.contradictIf(t.orders.exceeds(counted) || t.end >= seconds && counted.exceeds(t.orders),
		"the sum of the intervals", t.orders, tpccShared, counted)
}
