package importer

import (
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// tpccMySQL parses the output of tpcc_start, of tpcc-mysql. Its times are not taken: the releases of 2016 measure the
// processor time of the client's thread instead.
type tpccMySQL struct {
	*run
	*input
	section   string // the heading in front of the line
	counts    map[string][]tpccCount
	seconds   float64
	rate      figure // TpmC; its text is in printed
	printed   bool
	end       float64 // of the last interval
	orders    figure  // of all intervals
	intervals []account.Interval
}

// tpccCount counts the transactions of a kind: those done, in time and late, those repeated, and those that failed.
type tpccCount struct{ done, retried, failed float64 }

var (
	tpccMySQLAsked    = regexp.MustCompile(`^ *\[(warehouse|connection)\]: (\d+)`)
	tpccMySQLInterval = regexp.MustCompile(`^ *(\d+), (?:trx: )?(\d+)(?:\(\d+\):|, 95%:)`)
	tpccMySQLCount    = regexp.MustCompile(`^ *\[(\d)\] sc:(\d+) +lt:(\d+) +rt:(\d+) +fl:(\d+)`)
	tpccMySQLError    = regexp.MustCompile(`^(\d{4}, \w{5}, .+)`)
	tpccMySQLSeconds  = regexp.MustCompile(`^ *in (\d+) sec\.`)
	tpccMySQLRate     = regexp.MustCompile(`^ *([\d.]+) TpmC`)
)

// tpccKinds are the transactions in the order of tpcc-mysql's counts.
var tpccKinds = []string{opNewOrder, "payment", "order_status", "delivery", "stock_level"}

// The headings of counts. Those of all threads together are added without a lock, so that some get lost.
const (
	tpccShared = "<Raw Results>"
	tpccSummed = "<Raw Results2(sum ver.)>"
)

func isTPCCMySQL(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "*** ###easy### TPC-C Load Generator ***") || strings.TrimSpace(l) == tpccShared ||
			tpccMySQLInterval.MatchString(l)
	})
}

func parseTPCCMySQL(files []*file, _ *Options, ps *hint.Problems) []*run {
	t := &tpccMySQL{run: newFileRun(files[0], fmtTPCCMySQL, "tpcc-mysql"), input: &input{file: files[0], ps: ps},
		counts: map[string][]tpccCount{}}
	return t.single(t.run, t.line, t.finish)
}

func (t *tpccMySQL) line(line string) {
	if strings.HasPrefix(line, "<") {
		if t.section = strings.TrimSpace(line); t.counts[t.section] != nil {
			t.refuse("split the file: one run each", "%s is there twice: a second run ends here", t.section)
		}
	}
	if t.last && t.input.file.cut {
		return
	}
	if m := tpccMySQLAsked.FindStringSubmatch(line); m != nil {
		t.ask(t.at, map[string]string{"warehouse": "warehouses", "connection": "clients"}[m[1]], m[2])
	}
	if m := tpccMySQLInterval.FindStringSubmatch(line); m != nil {
		end, _ := number(m[1])
		n, _ := number(m[2])
		t.interval(end, n)
	}
	if m := tpccMySQLError.FindStringSubmatch(line); m != nil {
		t.run.warn("a connection failed: %s", clip(m[1]))
	}
	if m := tpccMySQLCount.FindStringSubmatch(line); m != nil {
		var n [4]float64
		for i := range n {
			n[i], _ = positive(m[2+i])
		}
		if have := t.counts[t.section]; len(have) < len(tpccKinds) && m[1] == string('0'+rune(len(have))) {
			t.counts[t.section] = append(have, tpccCount{n[0] + n[1], n[2], n[3]})
		} else {
			t.refuse("", "[%s] is not the next kind of transaction of %s", m[1], t.section)
		}
	}
	if m := tpccMySQLSeconds.FindStringSubmatch(line); m != nil {
		t.seconds, _ = number(m[1])
	}
	if m := tpccMySQLRate.FindStringSubmatch(line); m != nil {
		t.rate, t.printed = figureOf(m[1])
	}
}

// interval notes the new orders of an interval.
func (t *tpccMySQL) interval(end, n float64) {
	if length := end - t.end; length > 0 {
		t.intervals = append(t.intervals, t.counted(opNewOrder, end, length, n))
	} else {
		t.contradict("the end of an interval", figure{value: end}, "that of the one before", figure{value: t.end})
	}
	t.end, t.orders.value = end, t.orders.value+n
}

func (t *tpccMySQL) finish() {
	counts, shared := t.counts[tpccSummed], t.counts[tpccShared]
	if len(counts) != len(tpccKinds) || len(shared) != len(tpccKinds) || t.seconds <= 0 || counts[0].done < 1 {
		t.refuse("", "it has no results of all kinds of transactions: tpcc_start did not end, or no new order succeeded")
		return
	}
	clients, _ := number(t.params["clients"])
	t.about(opNewOrder, int(clients))
	t.step.Doc, t.step.Seconds = "tpcc-mysql", t.seconds
	t.step.Groups[0] = result.Group{Name: sbClients, Clients: int(clients)}
	t.clients, t.engine = int(clients), "mysql"
	t.put(metric.DurationS, t.seconds)
	var sum tpccCount
	for i, c := range counts {
		sum = tpccCount{sum.done + c.done, sum.retried + c.retried, sum.failed + c.failed}
		if c.done < 1 {
			continue
		}
		t.step.Groups[0].Ops = append(t.step.Groups[0].Ops, tpccKinds[i])
		t.work(c.done, c.done/t.seconds, account.Of(sbClients, tpccKinds[i]), account.Count(int64(c.done)),
			account.Source(tpccSummed))
	}
	t.costs = append(t.costs, account.Denominator{Per: opNewOrder, Units: counts[0].done / t.seconds,
		N: int64(counts[0].done)})
	if sum.failed > 0 {
		t.put(metric.Errors, sum.failed, account.Of(sbClients, ""), account.Count(int64(sum.done+sum.failed)))
		t.warn("%.0f transactions failed", sum.failed)
	}
	if sum.retried > 0 {
		t.put(metric.Retries, sum.retried, account.Of(sbClients, ""), account.Count(int64(sum.done+sum.failed)))
	}
	t.check(counts[0].done, shared[0].done)
	if all := (figure{value: shared[0].done}); t.orders.exceeds(all) || t.end >= t.seconds && all.exceeds(t.orders) {
		t.contradict("the sum of the intervals", t.orders, tpccShared, all)
	}
	t.addIntervals(sbClients, t.intervals, false)
	t.drop("tpcc-mysql's times")
}

// check compares TpmC with the counts.
func (t *tpccMySQL) check(done, shared float64) {
	made := figure{value: shared * 60 / t.seconds}
	if !t.printed {
		t.cut("the output has no TpmC (%s:%d)", t.path, t.lines)
	} else if !t.rate.agrees(made) {
		t.contradict("TpmC", t.rate, tpccShared+" per minute", made)
	}
	if shared > done*(1+slack) {
		t.contradict(tpccShared, figure{value: shared}, tpccSummed, figure{value: done})
	} else if lost := 1 - shared/done; lost > slack {
		t.warn("TpmC lacks %.2g %% of the new orders: the threads share its counter without a lock; the sum of their own "+
			"counts is taken", 100*lost)
	}
}
