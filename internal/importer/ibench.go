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
	totals   ibTotals
	indexed  float64 // seconds that building the indexes took; 0: none were built
	shares   map[string]ibShares
}

// ibTotals are the figures at the end; 0: not printed. Releases without deletes print the
// rows that were asked for, not those that were inserted.
type ibTotals struct{ seconds, rows figure }

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

// ibKind is a kind of operation, with its columns.
type ibKind struct {
	op, unit                      string
	rate, total, highest, retries string
}

// The operations of the insert benchmark.
const (
	opInsert = "insert"
	opDelete = "delete"
	opIndex  = "index"
)

// The kinds of operations that interval lines count.
const (
	ibInserts = iota
	ibDeletes
	ibQueries
)

var ibKinds = [...]ibKind{
	ibInserts: {opInsert, "row", "i_ips", "t_ins", "max_i", "retry_i"},
	ibDeletes: {opDelete, "row", "i_dps", "t_del", "max_d", "retry_d"},
	ibQueries: {opQuery, "query", "i_qps", "t_query", "max_q", "retry_q"},
}

// per returns the denominator of costs.
func (k *ibKind) per() string {
	if k.op == k.unit {
		return k.op
	}
	return k.op + " " + k.unit
}

// ibShares is a histogram of response times: counts of ten buckets, and the maximum
// in µs.
type ibShares struct {
	counts  []int64
	highest float64
}

// ibLayouts returns the columns of interval lines by the number of fields. The
// layout with nine fields, of 2016, was printed once every n rows.
func ibLayouts() map[int]header {
	split := strings.Fields
	return map[int]header{
		17: split("i_sec t_sec i_ips t_ips i_dps t_dps i_qps t_qps max_i max_d max_q t_ins t_del t_query retry_i " +
			"retry_d " +
			"retry_q"),
		12: split("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query retry_i retry_q"),
		10: split("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query"),
		9:  split("t_ins i_sec t_sec t_ips size i_ips t_query t_qps i_qps"),
	}
}

// ibBounds returns the upper bounds of the histogram's buckets in µs; the last
// bucket has none.
func ibBounds() []float64 { return []float64{256, 1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6} }

func isIBench(head []string) bool {
	for _, l := range head {
		if strings.HasPrefix(l, "i_sec\tt_sec\t") || strings.Contains(l, "iibench.py") {
			return true
		}
		if words := strings.Fields(l); len(words) == 9 {
			if r, ok := ibLine(ibLayouts()[9], words); ok && r.plausible() {
				return true
			}
		}
	}
	return false
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
	at := func(name string) float64 {
		word := layout.text(words, name)
		if word == "" {
			return -1
		}
		v, good := number(word)
		ok = ok && good && (v >= 0 || strings.HasPrefix(name, "max_")) // older releases: -1 for none
		return v
	}
	r.length, r.end, r.cumulative = at("i_sec"), at("t_sec"), at("t_ips")
	for i, k := range ibKinds {
		r.kinds[i] = ibCounts{at(k.rate), at(k.total), at(k.highest), at(k.retries)}
	}
	return r, ok
}

var (
	ibTotal   = regexp.MustCompile(`^Totals: (\d+\.\d+) secs, \S+ rows/sec, (?:(\d+) rows, .* insert-delete-query retry)?`)
	ibCreated = regexp.MustCompile(`^Created secondary indexes in (\d+(?:\.\d+)?) seconds`)
	ibShare   = regexp.MustCompile(`^\s*(Insert|Delete|Query) rt:\s+(.*)$`)
)

// readIBench reads a client's output and keeps at most limit intervals. It returns
// nil if the output is unusable.
func readIBench(f *file, limit int, ps *hint.Problems) *ibench {
	b := &ibench{input: &input{file: f, ps: ps}, thinned: thinned[ibRow]{limit: limit &^ 1},
		options: map[string]string{},
		shares:  map[string]ibShares{}}
	b.each(b.parse)
	return b
}

func (b *ibench) parse(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
	case strings.Contains(line, "iibench.py"):
		b.command(words)
	case words[0] == "i_sec":
		b.layout = words
		b.refuseIf(!slices.Contains(words, "t_ins") || !slices.Contains(words, "i_ips") || !slices.Contains(words,
			"t_sec"), "", "the columns t_sec, i_ips and t_ins were expected, not %q", clip(line))
	case strings.HasPrefix(line, "Totals:"), line == "Done":
		b.ended = true
		if m := ibTotal.FindStringSubmatch(line); m != nil {
			b.totals.seconds, _ = figureOf(m[1])
			b.totals.rows, _ = figureOf(m[2])
		}
	case ibCreated.MatchString(line):
		b.indexed, _ = number(ibCreated.FindStringSubmatch(line)[1])
	case ibShare.MatchString(line):
		b.share(ibShare.FindStringSubmatch(line))
	case digits(words[0][:1]) && len(words) >= 9:
		b.interval(words)
	}
}

func (b *ibench) command(words []string) {
	b.optionAt = b.at
	for _, w := range words {
		name, value, has := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		if !strings.HasPrefix(w, "--") || strings.Contains(name, "password") || strings.Contains(name, "user") ||
			strings.Contains(name, "host") {
			continue
		}
		if !has {
			value = "on"
		}
		b.options[name] = value
	}
}

// interval adds an interval line, unless it is cut off at the end of the file.
func (b *ibench) interval(words []string) {
	layout := b.layout
	if layout == nil {
		layout = ibLayouts()[len(words)]
	}
	r, ok := ibLine(layout, words)
	if b.last && (!ok || b.cut) {
		return
	}
	b.refuseIf(!ok, "", "%q is not an interval of the insert benchmark: %d numbers were expected (%s)",
		clip(strings.Join(words, " ")), len(layout), strings.Join(layout, " "))
	if k := len(b.items); k > 0 {
		if before := &b.items[k-1]; r.end < before.end || r.kinds[ibInserts].total < before.kinds[ibInserts].total ||
			r.kinds[ibQueries].total < before.kinds[ibQueries].total {
			b.refuse("split the file: one run each", "counts or times are lower than in line %d: a second run "+
				"begins here",
				before.line)
		} else if r.line = before.line; r == *before && r.length > 0 {
			b.refuse("", "it is the same as line %d", before.line)
		}
	}
	r.line = b.at
	b.add(r)
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

// share parses a line of a histogram. The line above it has the bounds.
func (b *ibench) share(m []string) {
	words := strings.Fields(m[2])
	if len(words) != len(ibBounds())+2 || words[0] == "256us" {
		return
	}
	s := ibShares{}
	for _, w := range words[:len(words)-1] {
		n, ok := whole(w)
		if !ok {
			return
		}
		s.counts = append(s.counts, n)
	}
	seconds, ok := positive(words[len(words)-1])
	if !ok {
		return
	}
	s.highest = account.MicrosOfSeconds(seconds)
	b.shares[strings.ToLower(m[1])] = s
}
