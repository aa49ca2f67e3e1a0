package importer

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// goTPC parses the output of go-tpc's TPC-C.
type goTPC struct {
	*run
	*input
	ended     bool                // it has printed that its run ended
	kinds     map[string]*goTPCOp // figures since the beginning, by the name of the transaction
	current   map[string]*goTPCOp // sums of those of intervals
	intervals []account.Interval  // of new orders
}

// goTPCOp is a kind of transaction.
type goTPCOp struct {
	printedTimes
	seconds float64
	failed  int64
}

// Releases before 2020-04 print the figures since the beginning every ten seconds, without a word before them.
var goTPCLine = regexp.MustCompile(`^(\[Current\] |\[Summary\] |)([A-Z_]+?)(_ERR)? *- (Takes\(s\): .*, TPM: .*)$`)

func isGoTPC(head []string) bool { return slices.ContainsFunc(head, goTPCLine.MatchString) }

func parseGoTPC(files []*file, _ *Options, ps *hint.Problems) []*run {
	g := &goTPC{run: newFileRun(files[0], fmtGoTPC, "go-tpc"), input: &input{file: files[0], ps: ps},
		kinds: map[string]*goTPCOp{}, current: map[string]*goTPCOp{}}
	return g.single(g.run, g.line, g.finish)
}

func (g *goTPC) line(line string) {
	m := goTPCLine.FindStringSubmatch(strings.TrimSpace(line))
	switch {
	case strings.TrimSpace(line) == "Finished":
		g.ended = true
		return
	case m == nil || g.last && g.input.file.cut:
		return
	}
	now, ok := goTPCFigures(m[4])
	if !ok {
		g.refuse("run go-tpc with its plain output", "%q: NAME: NUMBER, … was expected", clip(m[4]))
		return
	}
	kinds, name := g.kinds, strings.ToLower(m[2])
	if m[1] == "[Current] " {
		kinds = g.current
	}
	before := kinds[name]
	if before == nil {
		before = &goTPCOp{}
	}
	switch {
	case m[3] != "":
		now.printedTimes, now.seconds, now.failed = before.printedTimes, before.seconds, now.count
	case m[1] == "[Summary] " && before.count > 0:
		g.refuse("split the file: one run each", "%s has final figures twice: a second run ends here", m[2])
	case m[1] != "" && name == opNewOrder && m[1] == "[Current] ":
		g.interval(float64(now.count), now.seconds)
	case m[1] == "" && name == opNewOrder:
		g.interval(float64(now.count-before.count), now.seconds-before.seconds)
	}
	if m[1] == "[Current] " {
		now = &goTPCOp{printedTimes{count: before.count + now.count}, before.seconds + now.seconds,
			before.failed + now.failed}
	}
	kinds[name] = now
}

// goTPCFigures reads NAME: NUMBER, separated by commas.
func goTPCFigures(text string) (*goTPCOp, bool) {
	o := &goTPCOp{}
	for part := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(part, ": ")
		v, ok := positive(value)
		kind, ms := strings.CutSuffix(name, "(ms)")
		rank, isRank := strings.CutSuffix(kind, "th")
		switch {
		case !ok:
			return nil, false
		case name == "Takes(s)":
			o.seconds = v
		case name == "Count":
			o.count = int64(v)
		case name == "TPM" && v > 0: // it has more digits than the seconds
			o.seconds = 60 * float64(o.count) / v
		case kind == "Avg" && ms:
			o.note("mean", 0, 1e3*v)
		case kind == "Max" && ms:
			o.note("max", 0, 1e3*v)
		case isRank && ms:
			percent, _ := number(rank)
			o.note("percentile", percent, 1e3*v)
		}
	}
	return o, true
}

// interval notes the new orders of an interval.
func (g *goTPC) interval(n, seconds float64) {
	end := seconds
	if len(g.intervals) > 0 {
		end += g.intervals[len(g.intervals)-1].To
	}
	if n >= 0 && seconds > 0 {
		g.intervals = append(g.intervals, g.counted(opNewOrder, end, seconds, n))
	}
}

func (g *goTPC) finish() {
	if len(g.kinds) == 0 {
		g.kinds = g.current
	}
	if !g.ended && len(g.current) > 0 { // old releases do not say it
		g.cut("the output has no line “Finished” (%s:%d)", g.path, g.lines)
	}
	orders := g.kinds[opNewOrder]
	if orders == nil || orders.count == 0 || orders.seconds <= 0 {
		g.refuse("", "no new order succeeded: there is no rate")
		return
	}
	g.about(opNewOrder, 0)
	g.step.Doc, g.step.Seconds = "go-tpc, TPC-C", orders.seconds
	g.step.Groups[0].Name, g.step.Groups[0].Ops = sbClients, nil
	g.put(metric.DurationS, g.step.Seconds)
	failed, all := int64(0), int64(0)
	for _, name := range slices.Sorted(maps.Keys(g.kinds)) {
		o := g.kinds[name]
		failed, all = failed+o.failed, all+o.count+o.failed
		if o.count == 0 || o.seconds <= 0 {
			continue
		}
		g.step.Groups[0].Ops = append(g.step.Groups[0].Ops, name)
		g.work(float64(o.count), float64(o.count)/o.seconds, account.Of(sbClients, name), account.Count(o.count),
			account.Source("final figures"))
		o.unit = o.longest / 10 // a histogram of one digit
		addPrinted(g.run, "service", name, &o.printedTimes, g.tool)
	}
	if failed > 0 {
		g.put(metric.Errors, float64(failed), account.Of(sbClients, ""), account.Count(all))
		g.warn("%d transactions failed", failed)
	}
	if len(orders.percentiles) > 0 {
		g.warn("go-tpc's percentiles have one digit or two, rounded up")
	}
	g.costs = append(g.costs, account.Denominator{Per: opNewOrder, Units: float64(orders.count) / orders.seconds,
		N: orders.count})
	g.addIntervals(sbClients, g.intervals, false, account.Warned(g.partial()...))
}
