package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/hint"
)

// pgLog holds the logs of pgbench's option -l: each transaction, or, with
// --aggregate-interval, sums over intervals.
type pgLog struct {
	in      *input
	columns []string  // those beyond the sixth; nil: unknown
	lags    bool      // lines have a lag: a rate was set
	latency latencies // from the intended start, if a rate was set
	service latencies // from the actual start; none without a rate
	lag     latencies // none without a rate
	last    *pgSecond // that of the previous line
	by      map[int64]*pgSecond
	seconds []*pgSecond      // by time
	clients map[string]int64 // the number of the last transaction of each
	lines   int64
	newest  int64 // the last interval of sums in the file
	started time.Time
	grouped bool // it holds sums, not transactions
}

// pgSecond is an interval. Latencies in µs.
type pgSecond struct {
	epoch   int64
	n       int64
	highest float64
	us      []uint32 // none in sums; sorted on demand
}

// longestGap is the longest pause within a run, in seconds, and mostSeconds the
// greatest number of intervals of a log.
const (
	longestGap  = 24 * 3600
	mostSeconds = 1e6
)

// Plausible epochs in seconds: the years 2001 to 2096.
const (
	epoch2001 = 1e9
	epoch2096 = 4e9
)

func isPgLog(head []string) bool {
	return len(head) > 0 && (pgTransaction(strings.Fields(head[0])) || pgSums(strings.Fields(head[0])))
}

// pgTransaction recognises a line of one transaction: client, number, latency in µs
// or a word for a failure, script, epoch in s, µs within the second.
func pgTransaction(w []string) bool {
	if len(w) < 6 || len(w) > 8 {
		return false
	}
	_, latency := wholeNumber(w[2])
	failure := w[2] == "skipped" || w[2] == "failed" || w[2] == "serialization" || w[2] == "deadlock"
	micros, microsOK := wholeNumber(w[5])
	return (latency || failure) && isEpoch(w[4]) && microsOK && micros < 1e6 && digits(w[0]) && digits(w[1])
}

// pgSums recognises a line of sums: epoch of the interval's start, transactions, sum
// of latencies, of their squares, minimum, maximum; then fields that releases add.
func pgSums(w []string) bool {
	bad := func(s string) bool { _, ok := positiveNumber(s); return !ok }
	return len(w) >= 6 && isEpoch(w[0]) && !slices.ContainsFunc(w, bad)
}

func isEpoch(s string) bool {
	v, ok := wholeNumber(s)
	return ok && v >= epoch2001 && v < epoch2096
}

// columns returns the meaning of the seventh and eighth column, by the output: "lag",
// "retries" or both.
func (p *pgbench) columns() []string {
	out := []string{}
	if p.paced() {
		out = append(out, "lag")
	}
	if v := p.values["maximum number of tries"]; v != "" && v != "1" {
		out = append(out, "retries")
	}
	return out
}

// readPgLogs reads the logs of a run's threads; nil if there are none. columns are
// those beyond the sixth; nil if unknown.
func readPgLogs(files []*file, columns []string, ps *hint.Problems) *pgLog {
	if len(files) == 0 {
		return nil
	}
	l := &pgLog{columns: columns, clients: map[string]int64{}, by: map[int64]*pgSecond{}}
	l.lags = len(columns) > 0 && columns[0] == "lag"
	words := make([]string, 0, 16)
	for _, f := range files {
		l.in, l.newest = &input{file: f, ps: ps}, 0
		l.in.each(func(line string) {
			words = slices.AppendSeq(words[:0], strings.FieldsSeq(line))
			if !l.in.torn && len(words) > 0 {
				l.add(words, line)
			}
		})
	}
	l.seconds = slices.SortedFunc(maps.Values(l.by), func(a, b *pgSecond) int { return cmp.Compare(a.epoch, b.epoch) })
	in := input{file: files[0], ps: ps}
	for i := 1; i < len(l.seconds); i++ {
		gap := l.seconds[i].epoch - l.seconds[i-1].epoch
		in.refuseIf(gap > longestGap, "give each run its own log",
			"between two transactions lie %d s: these are logs of several runs", gap)
	}
	return l
}

func (l *pgLog) add(w []string, line string) {
	require := func(condition bool, reason string, args ...any) {
		if condition {
			return
		}
		hint := ""
		if l.columns == nil && len(w) == 7 {
			hint = "put pgbench's output next to the log: it names the seventh column"
		}
		l.in.refuse(hint, "%q: "+reason, append([]any{clip(line)}, args...)...)
	}
	switch {
	case pgTransaction(w) && !l.grouped:
		l.transaction(w, require)
	case pgSums(w) && l.latency.n == 0:
		l.grouped = true
		l.sums(w, require)
	default:
		require(false, "a transaction was expected: client, number, latency in µs, script, epoch, µs; "+
			"or sums: epoch, transactions, sum, sum of squares, least, greatest latency")
	}
}

func (l *pgLog) transaction(w []string, require func(condition bool, reason string, args ...any)) {
	require(len(w) == 6+len(l.columns), "%d columns: the meaning of those beyond the sixth is unknown", len(w))
	n, _ := wholeNumber(w[1])
	previous, seen := l.clients[w[0]]
	require(!seen || n > previous,
		"the client's transaction before has the number %d: it is another run's, or not in order", previous)
	if !seen {
		w[0] = strings.Clone(w[0])
	}
	l.clients[w[0]] = n
	l.lines++
	us, ok := wholeNumber(w[2])
	if !ok {
		return // it failed, or was skipped
	}
	require(us <= math.MaxUint32, "a latency of more than an hour: µs were expected")
	l.latency.add(uint32(us))
	if l.lags {
		lag, ok := wholeNumber(w[6])
		require(ok && lag <= us, "the seventh column, the lag in µs, is no part of the latency")
		l.lag.add(uint32(lag))
		l.service.add(uint32(us - lag))
	}
	epoch, _ := wholeNumber(w[4])
	micros, _ := wholeNumber(w[5])
	begun := time.Unix(epoch, micros*1e3).Add(-time.Duration(us) * time.Microsecond)
	if l.started.IsZero() || begun.Before(l.started) {
		l.started = begun
	}
	s := l.second(epoch)
	s.n++
	s.highest = max(s.highest, float64(us))
	s.us = append(s.us, uint32(us))
}

func (l *pgLog) second(epoch int64) *pgSecond {
	if l.last == nil || l.last.epoch != epoch {
		if l.by[epoch] == nil {
			l.by[epoch] = &pgSecond{epoch: epoch}
		}
		l.last = l.by[epoch]
	}
	return l.last
}

// sums adds a line of sums. Only the first six columns are the same in all releases.
func (l *pgLog) sums(w []string, require func(condition bool, reason string, args ...any)) {
	epoch, _ := wholeNumber(w[0])
	n, ok := wholeNumber(w[1])
	greatest, greatestOK := positiveNumber(w[5])
	require(ok && greatestOK, "sums were expected: epoch, transactions, sum, sum of squares, least, greatest latency")
	require(epoch > l.newest, "its interval does not begin after the one before")
	l.newest = epoch
	s := l.second(epoch)
	s.n += n
	s.highest = max(s.highest, greatest)
}

// hasTransactions reports whether the log has every transaction separately.
func (l *pgLog) hasTransactions() bool { return !l.grouped && l.latency.n > 0 }

func (l *pgLog) total() (n int64) {
	for _, s := range l.seconds {
		n += s.n
	}
	return n
}

// sampled reports whether the log holds only a sample of the transactions.
func (l *pgLog) sampled(done float64) bool { return float64(l.total()) < done }

// complete reports whether the log has all transactions from the first one of each client
// to its last one: they are numbered.
func (l *pgLog) complete() bool {
	var last int64
	for _, n := range l.clients {
		last += n
	}
	return l.hasTransactions() && l.lines == last
}

// span returns the time between the log's first and last interval, in seconds.
func (l *pgLog) span() int64 { return l.seconds[len(l.seconds)-1].epoch - l.seconds[0].epoch }

// width returns the length of the log's intervals in seconds: the most frequent
// distance of sums; one second for transactions.
func (l *pgLog) width() int64 {
	if !l.grouped || len(l.seconds) < 2 {
		return 1
	}
	var apart []float64
	for i := 1; i < len(l.seconds); i++ {
		apart = append(apart, float64(l.seconds[i].epoch-l.seconds[i-1].epoch))
	}
	return max(1, int64(stat.Median(apart)))
}

// parsePgLog reads logs without the output of their run.
func parsePgLog(files []*file, _ *Options, ps *hint.Problems) []*run {
	l := readPgLogs(files, nil, ps)
	p := newPgbench(files, ps)
	p.base, p.trial = repetition(files[0].key())
	p.byFile, p.clients, p.client = p.base, len(l.clients), 0
	p.about(opTransaction, p.clients, opTransaction)
	p.warn("there is a log of transactions, but not what pgbench printed: whether the log is whole, or a sample, is " +
		"not known, and its rate is left out")
	p.put(metric.Rows, float64(l.total()), p.options(float64(l.total()), "log of transactions")...)
	p.fromLog(l)
	return []*run{p.run}
}

// fromLog adds the rows that the log has in addition to the summary.
func (p *pgbench) fromLog(l *pgLog) {
	options := []account.With{account.Of(opTransaction, opTransaction), account.Source("log of transactions")}
	sampled := l.sampled(p.rows())
	if sampled {
		options = append(options, warned("of a sample of the transactions"))
		p.note("The log holds %d of the transactions: a sample.", l.total())
	}
	add := func(measure string, times *latencies) {
		t := times.times()
		p.build(func(b *account.Builder) { b.Latency(measure, opTransaction, opTransaction, t, options...) })
	}
	switch {
	case !l.hasTransactions():
		measure, greatest := "service", 0.0
		if p.paced() {
			measure = "response"
		}
		for _, s := range l.seconds {
			greatest = max(greatest, s.highest)
		}
		p.put(measure+"_max_us", greatest, append(options, account.Count(l.total()), account.Source("log of sums"))...)
	case l.lags:
		add("response", &l.latency)
		add("service", &l.service)
		late := l.lag.times()
		p.put(metric.LatenessP99US, late.At(99), append(options, account.Count(late.N))...)
		p.put(metric.LatenessMaxUS, late.Greatest, append(options, account.Count(late.N))...)
	default:
		add("service", &l.latency)
	}
	if l.hasTransactions() {
		p.step.Started = l.started.UTC()
	}
	if !sampled && len(l.seconds) > 0 {
		p.addSeconds(l)
	}
}

// addSeconds adds the log's intervals. The first and the last are partial and give
// no rate.
func (p *pgbench) addSeconds(l *pgLog) {
	width, first := l.width(), l.seconds[0].epoch
	if l.span() > width*mostSeconds {
		p.note("The log is too long for intervals: they are left out.")
		return
	}
	begin := float64(first)
	if !l.started.IsZero() {
		begin = float64(l.started.UnixMicro()) / 1e6
	}
	var intervals []account.Interval
	i := 0
	for epoch := first; epoch <= first+l.span(); epoch += width {
		s := &pgSecond{epoch: epoch} // a stall leaves no line
		if i < len(l.seconds) && l.seconds[i].epoch < epoch+width {
			s = l.seconds[i]
			i++
		}
		start, until := max(float64(epoch), begin), float64(epoch+width)
		if end := begin + p.step.Seconds; end > start {
			until = min(until, end) // the run ends within the last second
		}
		line := result.Line{T: until - begin, DT: until - start,
			Group: opTransaction, Op: opTransaction, Ops: s.n, Rows: s.n}
		if l.lags || p.paced() {
			line.ResponseMax = s.highest
		} else {
			line.Max = s.highest
		}
		slices.Sort(s.us)
		if l.lags {
			line.ResponseP99 = percentileOf(s.us, 99)
		} else {
			line.P50, line.P99 = percentileOf(s.us, 50), percentileOf(s.us, 99)
		}
		intervals = append(intervals, p.emitInterval(line))
	}
	if len(intervals) > 2 {
		p.addIntervals(opTransaction, intervals[1:len(intervals)-1], p.paced())
	}
	p.interval = float64(width)
}

// processes sorts logs by the process of pgbench that wrote them, as PREFIX.PID and,
// by its other threads, PREFIX.PID.1 and so on.
func processes(logs []*file) (out [][]*file) {
	names, members := groups(logs, func(f *file) string {
		name := stem(f.path)
		m := pgLogFile.FindStringSubmatch(name)
		if m == nil {
			return name
		}
		if thread, _ := strconv.Atoi(m[3]); thread > len(logs) {
			return name // PREFIX has a number, too
		}
		return m[1]
	})
	for _, name := range names {
		out = append(out, members[name])
	}
	return out
}

// ownLogs returns the logs of this run: those of the only process that logged, or of
// the one that logged as many transactions as the run has.
func (p *pgbench) ownLogs(logs []*file) []*file {
	byProcess := processes(logs)
	matching := slices.DeleteFunc(slices.Clone(byProcess), func(files []*file) bool {
		return len(byProcess) > 1 && float64(logged(files)) != p.rows()
	})
	if len(matching) == 1 {
		return matching[0]
	}
	if len(byProcess) > 1 {
		p.warn("the logs of %d processes, such as %s, are left out: %d of them hold as many transactions as this run "+
			"has", len(byProcess), logs[0].path, len(matching))
	}
	return nil
}

// logged counts the transactions in logs, those that were done.
func logged(logs []*file) (n int64) {
	for _, f := range logs {
		if f.logged == 0 {
			_ = f.read(func(_ int, line string, _ bool) bool { // an unreadable log belongs to no run
				f.logged += doneIn(strings.Fields(line))
				return true
			})
		}
		n += f.logged
	}
	return n
}

// doneIn returns the number of transactions that a line of a log counts as done.
func doneIn(w []string) (n int64) {
	if pgTransaction(w) {
		if _, ok := wholeNumber(w[2]); ok {
			n = 1
		}
	} else if pgSums(w) {
		n, _ = wholeNumber(w[1])
	}
	return n
}

// misfit returns the reason why a log cannot be that of this run, "" if it can.
func (p *pgbench) misfit(l *pgLog) string {
	done := p.rows()
	switch {
	case l == nil || len(l.seconds) == 0 || done == 0:
		return ""
	case float64(l.total()) > done, l.sampled(done) && l.complete():
		return fmt.Sprintf("it holds %d transactions, and pgbench counted %.0f", l.total(), done)
	case p.clients > 0 && len(l.clients) > p.clients:
		return fmt.Sprintf("it has %d clients, and the run has %d", len(l.clients), p.clients)
	case float64(l.span()) > p.step.Seconds*(1+slack)+float64(l.width())+1:
		return fmt.Sprintf("it covers %d s, and the run took %.0f", l.span(), p.step.Seconds)
	}
	// A mean that was computed from the run's time has also pauses between transactions.
	mean, printed := p.value("latency average")
	measured := p.values["latency stddev"] != ""
	logged := newFigure(l.latency.mean() / 1e3)
	comparable := printed && l.hasTransactions() && !l.sampled(done) && (measured || p.computed) && !p.allAttempts()
	if comparable && (logged.exceeds(mean) || measured && mean.exceeds(logged)) {
		return fmt.Sprintf("its mean latency is %v ms, and that of the run %v", logged, mean)
	}
	return ""
}
