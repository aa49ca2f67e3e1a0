package importer

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// ibench reads the output of one client of the insert benchmark in Python.
type ibench struct {
	f        *file
	options  map[string]string // of the command in the first line
	optionAt int               // its line
	layout   []string
	rows     []ibRow
	most     int // how many rows are kept
	stride   int // how many lines of the log are put together in each row
	joined   int // how many are in the last one
	ended    bool
	indexed  float64 // seconds that building the indexes took; 0: none were built
	shares   map[string]ibShares
}

// ibRow is an interval line. Counts are since the client's start; times in s,
// latencies in µs. What a layout does not have is -1. It has many fields because
// they are the columns of the log.
type ibRow struct {
	line                                                   int
	length, end                                            float64
	insertRate, deleteRate, queryRate                      float64
	inserts, deletes, queries                              float64
	insertMax, deleteMax, queryMax                         float64
	insertRetries, deleteRetries, queryRetries, cumulative float64
}

// ibShares is a histogram of response times: counts of ten buckets, and the
// greatest time in µs.
type ibShares struct {
	counts []int64
	max    float64
}

// ibLayouts are the columns of interval lines by the number of fields. The one
// of nine fields, of 2016, was printed per number of rows.
func ibLayouts() map[int][]string {
	split := strings.Fields
	return map[int][]string{
		17: split("i_sec t_sec i_ips t_ips i_dps t_dps i_qps t_qps max_i max_d max_q t_ins t_del t_query retry_i retry_d retry_q"),
		12: split("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query retry_i retry_q"),
		10: split("i_sec t_sec i_ips t_ips i_qps t_qps max_i max_q t_ins t_query"),
		9:  split("t_ins i_sec t_sec t_ips size i_ips t_query t_qps i_qps"),
	}
}

// ibBounds are the upper bounds of the histogram's buckets in µs; the last one
// has none.
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

// plausible tells whether the rates of a line fit its counts. It keeps nine
// numbers of anything else from being taken for the layout of 2016.
func (r ibRow) plausible() bool {
	return r.end > 0 && r.inserts > 0 && math.Abs(r.cumulative-r.inserts/r.end) <= 1+0.02*r.cumulative
}

// ibLine reads an interval line.
func ibLine(layout, words []string) (r ibRow, ok bool) {
	if len(words) != len(layout) || len(layout) == 0 {
		return r, false
	}
	at := func(name string) float64 {
		i := slices.Index(layout, name)
		if i < 0 {
			return -1
		}
		v, good := number(words[i])
		ok = ok && good && (v >= 0 || strings.HasPrefix(name, "max_")) // older releases: -1 for none
		return v
	}
	ok = true
	r = ibRow{
		length: at("i_sec"), end: at("t_sec"), insertRate: at("i_ips"), deleteRate: at("i_dps"), queryRate: at("i_qps"), cumulative: at("t_ips"),
		inserts: at("t_ins"), deletes: at("t_del"), queries: at("t_query"), insertMax: at("max_i"), deleteMax: at("max_d"), queryMax: at("max_q"),
		insertRetries: at("retry_i"), deleteRetries: at("retry_d"), queryRetries: at("retry_q"),
	}
	return r, ok
}

var (
	ibCreated = regexp.MustCompile(`^Created secondary indexes in (\d+(?:\.\d+)?) seconds`)
	ibShare   = regexp.MustCompile(`^\s*(Insert|Delete|Query) rt:\s+(.*)$`)
)

// readIBench reads a client's output, of which most intervals are kept; nil: it is of no use, and the problems
// tell why.
func readIBench(f *file, most int, ps *Problems) *ibench {
	b := &ibench{f: f, most: most &^ 1, options: map[string]string{}, shares: map[string]ibShares{}}
	good := true
	ok := f.each(ps, func(n int, line string, last bool) bool {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case strings.Contains(line, "iibench.py"):
			b.command(n, words)
		case words[0] == "i_sec":
			b.layout = words
			if !slices.Contains(words, "t_ins") || !slices.Contains(words, "i_ips") || !slices.Contains(words, "t_sec") {
				ps.add(f.path, n, "", "the columns t_sec, i_ips and t_ins were expected, not %q", clip(line))
				good = false
			}
		case strings.HasPrefix(line, "Totals:"), line == "Done":
			b.ended = true
		case ibCreated.MatchString(line):
			b.indexed, _ = number(ibCreated.FindStringSubmatch(line)[1])
		case ibShare.MatchString(line):
			b.share(ibShare.FindStringSubmatch(line))
		case digits(words[0]) > 0 && len(words) >= 9:
			good = b.add(n, last, words, ps)
		}
		return good
	})
	if !ok || !good {
		return nil
	}
	return b
}

func (b *ibench) command(line int, words []string) {
	b.optionAt = line
	for _, w := range words {
		name, value, has := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		if !strings.HasPrefix(w, "--") || strings.Contains(name, "password") || strings.Contains(name, "user") || strings.Contains(name, "host") {
			continue
		}
		if !has {
			value = "on"
		}
		b.options[name] = value
	}
}

// add adds an interval line; false: the file is wrong.
func (b *ibench) add(n int, last bool, words []string, ps *Problems) bool {
	layout := b.layout
	if layout == nil {
		layout = ibLayouts()[len(words)]
	}
	r, ok := ibLine(layout, words)
	if !ok {
		if !last {
			ps.add(b.f.path, n, "", "%q is no interval of the insert benchmark: %d numbers were expected (%s)",
				clip(strings.Join(words, " ")), len(layout), strings.Join(layout, " "))
		}
		return last // it was ended in the middle of a line
	}
	if last && b.f.cut {
		return true // its last number may be cut off
	}
	if k := len(b.rows); k > 0 && (r.end < b.rows[k-1].end || r.inserts < b.rows[k-1].inserts || r.queries < b.rows[k-1].queries) {
		ps.add(b.f.path, n, "split the file: one run each", "counts or times are lower than in line %d: a second run begins here", b.rows[k-1].line)
		return false
	}
	r.line = n
	b.keep(r)
	return true
}

// mostRows is how many intervals are kept of all clients of a step: six days of
// seconds of one, seven hours of twenty. Of longer logs neighbours are put
// together, so that they fit into memory.
const mostRows = 1 << 19

func (b *ibench) keep(r ibRow) {
	n := len(b.rows)
	if b.stride == 0 {
		b.stride = 1
	}
	if n > 0 && b.joined < b.stride {
		b.rows[n-1] = b.rows[n-1].with(&r)
		b.joined++
		return
	}
	if n >= b.most {
		b.halve()
	}
	b.rows, b.joined = append(b.rows, r), 1
}

// halve puts each two neighbours together.
func (b *ibench) halve() {
	half := b.rows[:0]
	for i := 0; i < len(b.rows); i += 2 {
		r := b.rows[i]
		if i+1 < len(b.rows) {
			r = r.with(&b.rows[i+1])
		}
		half = append(half, r)
	}
	b.rows, b.stride = half, 2*b.stride
}

// with is an interval and the one after it. Counts are since the start, so those
// of the later one are of both.
func (r ibRow) with(next *ibRow) ibRow {
	out := *next
	out.length = r.length + next.length
	mean := func(a, b float64) float64 {
		if a < 0 || b < 0 || out.length == 0 {
			return b
		}
		return (a*r.length + b*next.length) / out.length
	}
	out.insertRate, out.deleteRate, out.queryRate = mean(r.insertRate, next.insertRate), mean(r.deleteRate, next.deleteRate), mean(r.queryRate, next.queryRate)
	out.insertMax, out.deleteMax, out.queryMax = max(r.insertMax, next.insertMax), max(r.deleteMax, next.deleteMax), max(r.queryMax, next.queryMax)
	return out
}

// share reads a line of a histogram. The line above it has the bounds.
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
	s.max = seconds * 1e6
	b.shares[strings.ToLower(m[1])] = s
}
