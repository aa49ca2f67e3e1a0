package importer

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/text/hint"
)

// ibench holds the output of one client of the insert benchmark in Python.
type ibench struct {
	*input
	thinned[ibRow]
	options  map[string]string // of the command in the first line
	optionAt int               // its line
	layout   header
	ended    bool
	// The figures at the end; 0: not printed. Releases without deletes print the
	// rows that were asked for, not those that were inserted.
	totalSeconds, totalRows figure
	indexed                 float64 // seconds that building the indexes took; 0: none were built
	shares                  map[string]ibShares
}

// ibRow is an interval line. Times in s, latencies in µs. A column that the layout
// lacks is -1.
type ibRow struct {
	line                    int
	length, end, cumulative float64
	kinds                   [len(ibKinds)]ibCounts
}

// ibCounts are the columns of one kind of operation. Totals and retries are since
// the client's start.
type ibCounts struct{ rate, total, highest, retries float64 }

// ibShares is a histogram of response times: counts of ten buckets, and the maximum
// in µs.
type ibShares struct {
	counts  []int64
	highest float64
}

// The operations of the insert benchmark besides inserts and queries.
const (
	opDelete = "delete"
	opIndex  = "index"
)

// The kinds of operations that interval lines count.
const (
	ibInserts = iota
	ibDeletes
	ibQueries
)

// ibKinds are the operations, the denominators of their costs, and their columns.
var ibKinds = [...]struct{ op, per, rate, total, highest, retries string }{
	ibInserts: {opInsert, "insert row", "i_ips", "t_ins", "max_i", "retry_i"},
	ibDeletes: {opDelete, "delete row", "i_dps", "t_del", "max_d", "retry_d"},
	ibQueries: {opQuery, opQuery, "i_qps", "t_query", "max_q", "retry_q"},
}

// ibLayouts are the columns of interval lines by the number of fields. The
// layout with nine fields, of 2016, was printed once every n rows.
var ibLayouts = map[int]header{
	17: strings.Fields("i_sec t_sec i_ips t_ips i_dps t_dps i_qps t_qps max_i max_d max_q t_ins t_del t_query " +
		"retry_i retry_d " +
		"retry_q"),
	12: strings.Fields("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query retry_i retry_q"),
	10: strings.Fields("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query"),
	9:  strings.Fields("t_ins i_sec t_sec t_ips size i_ips t_query t_qps i_qps"),
}

// ibBounds are the upper bounds of the histogram's buckets in µs; the last
// bucket has none.
var ibBounds = []float64{256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6}

var hasIBHead = anyLine(`^i_sec\tt_sec\t|iibench\.py`)

func isIBench(head []string) bool {
	return hasIBHead(head) || slices.ContainsFunc(head, func(l string) bool {
		r, ok := ibLine(ibLayouts[9], strings.Fields(l))
		return ok && r.plausible()
	})
}

// plausible reports whether the rates of a line fit its counts, so that nine
// arbitrary numbers are not taken for the layout of 2016.
func (r ibRow) plausible() bool {
	inserted := r.kinds[ibInserts].total
	return r.end > 0 && inserted > 0 && math.Abs(r.cumulative-inserted/r.end) <= 1+0.02*r.cumulative
}

func ibLine(layout header, words []string) (r ibRow, ok bool) {
	if len(words) != len(layout) || len(layout) == 0 {
		return r, false
	}
	ok = true
	column := func(name string) float64 {
		word := layout.text(words, name)
		if word == "" {
			return -1
		}
		v, parsed := number(word)
		ok = ok && parsed && (v >= 0 || strings.HasPrefix(name, "max_")) // older releases: -1 for none
		return v
	}
	r.length, r.end, r.cumulative = column("i_sec"), column("t_sec"), column("t_ips")
	for i, k := range ibKinds {
		r.kinds[i] = ibCounts{column(k.rate), column(k.total), column(k.highest), column(k.retries)}
	}
	return r, ok
}

var ibGrammar = grammar[*ibench]{
	on(`iibench\.py`, (*ibench).command),
	on(`^\s*i_sec(\s|$)`, func(b *ibench, m match) {
		b.layout = strings.Fields(m.line)
		for _, column := range []string{"t_ins", "i_ips", "t_sec"} {
			b.refuseIf(!slices.Contains(b.layout, column), "",
				"the columns t_sec, i_ips and t_ins were expected, not %q",
				clip(m.line))
		}
	}),
	on(`^Totals: (?P<seconds>\d+\.\d+) secs, \S+ rows/sec, (?:(?P<rows>\d+) rows, .* insert-delete-query retry)?`,
		func(b *ibench, m match) {
			b.ended, b.totalSeconds, b.totalRows = true, m.figure("seconds"), m.figure("rows")
		}),
	on(`^Totals:|^Done$`, func(b *ibench, _ match) { b.ended = true }),
	on(`^Created secondary indexes in (?P<seconds>\d+(?:\.\d+)?) seconds`,
		func(b *ibench, m match) { b.indexed = m.number("seconds") }),
	on(`^\s*(?P<kind>Insert|Delete|Query) rt:\s+(?P<counts>.*)$`, (*ibench).share),
	on(`^\s*\d\S*(\s+\S+){8}`, (*ibench).interval),
}

// ibPrivate matches the options that are not kept.
var ibPrivate = regexp.MustCompile(`password|user|host`)

// readIBench reads a client's output and keeps at most limit intervals.
func readIBench(f *file, limit int, ps *hint.Problems) *ibench {
	b := &ibench{input: &input{file: f, ps: ps}, thinned: thinned[ibRow]{limit: limit &^ 1},
		options: map[string]string{}, shares: map[string]ibShares{}}
	b.each(func(line string) { ibGrammar.read(b, line) })
	return b
}

func (b *ibench) command(m match) {
	b.optionAt = b.lineNumber
	for _, w := range strings.Fields(m.line) {
		option, ok := strings.CutPrefix(w, "--")
		name, value, assigned := strings.Cut(option, "=")
		if !assigned {
			value = "on"
		}
		if ok && !ibPrivate.MatchString(name) {
			b.options[name] = value
		}
	}
}

// interval adds an interval line, unless it is cut off at the end of the file.
func (b *ibench) interval(m match) {
	words, layout := strings.Fields(m.line), b.layout
	if layout == nil {
		layout = ibLayouts[len(words)]
	}
	r, ok := ibLine(layout, words)
	if b.torn || b.last && !ok {
		return
	}
	b.refuseIf(!ok, "", "%q is not an interval of the insert benchmark: %d numbers were expected (%s)",
		clip(strings.Join(words, " ")), len(layout), strings.Join(layout, " "))
	if previous := b.end(); previous != nil {
		b.secondRun(r.end < previous.end || r.kinds[ibInserts].total < previous.kinds[ibInserts].total ||
			r.kinds[ibQueries].total < previous.kinds[ibQueries].total,
			"counts or times are lower than in line %d: a second run begins here", previous.line)
		r.line = previous.line
		b.refuseIf(r == *previous && r.length > 0, "", "it is the same as line %d", previous.line)
	}
	r.line = b.lineNumber
	b.add(r)
}

// end returns the last interval; nil if there is none.
func (b *ibench) end() *ibRow {
	if len(b.items) == 0 {
		return nil
	}
	return &b.items[len(b.items)-1]
}

// mostRows is the greatest number of intervals kept of all clients of a step: six
// days of seconds for one client, seven hours for twenty.
const mostRows = 1 << 19

// join merges an interval with the next one. Totals are since the start, so those of
// the later one cover both.
func (r ibRow) join(next ibRow) ibRow {
	out := next
	out.length = r.length + next.length
	for k := range out.kinds {
		a, b := &r.kinds[k], &next.kinds[k]
		if a.rate >= 0 && b.rate >= 0 && out.length != 0 {
			out.kinds[k].rate = (a.rate*r.length + b.rate*next.length) / out.length
		}
		out.kinds[k].highest = max(a.highest, b.highest)
	}
	return out
}

// share takes a line of a histogram. The line above it has the bounds.
func (b *ibench) share(m match) {
	words := strings.Fields(m.text("counts"))
	last := len(words) - 1
	if last != len(ibBounds)+1 {
		return
	}
	seconds, ok := positiveNumber(words[last])
	s := ibShares{highest: account.MicrosOfSeconds(seconds)}
	for _, w := range words[:last] {
		n, counted := wholeNumber(w)
		s.counts, ok = append(s.counts, n), ok && counted
	}
	if ok {
		b.shares[strings.ToLower(m.text("kind"))] = s
	}
}
