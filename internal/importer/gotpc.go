package importer

import (
	"maps"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/text/hint"
)

// goTPC reads the output of go-tpc's TPC-C.
type goTPC struct {
	*log
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
const goTPCFigures = `^(?P<scope>\[Current\] |\[Summary\] |)(?P<name>[A-Z_]+?)(?P<failed>_ERR)? *- (?P<figures>Takes\(s\): .*, TPM: .*)$`

var isGoTPC = anyLine(goTPCFigures)

var goTPCGrammar = grammar[*goTPC]{
	on(`^Finished$`, func(g *goTPC, _ match) { g.ended = true }),
	on(goTPCFigures, (*goTPC).figures),
}

func parseGoTPC(files []*file, _ *Options, ps *hint.Problems) []*run {
	g := &goTPC{log: newLog(files, fmtGoTPC, "go-tpc", ps), kinds: map[string]*goTPCOp{},
		current: map[string]*goTPCOp{}}
	return g.result(func(line string) { goTPCGrammar.read(g, strings.TrimSpace(line)) }, g.finish)
}

func (g *goTPC) figures(m match) {
	if g.torn {
		return
	}
	now := &goTPCOp{}
	for p, ok := range printedFigures(m.text("figures")) {
		switch v := p.figure.value; {
		case !ok:
			g.refuse("run go-tpc with its plain output", "%q: NAME: NUMBER, … was expected", clip(m.text("figures")))
		case p.name == "Takes(s)":
			now.seconds = v
		case p.name == "Count":
			now.count = int64(v)
		case p.name == "TPM" && v > 0: // it has more digits than the seconds
			now.seconds = 60 * float64(now.count) / v
		default:
			now.note(p.name, v)
		}
	}
	kinds, name, scope := g.kinds, strings.ToLower(m.text("name")), m.text("scope")
	if scope == "[Current] " {
		kinds = g.current
	}
	previous := kinds[name]
	if previous == nil {
		previous = &goTPCOp{}
	}
	switch {
	case m.text("failed") != "":
		now.printedTimes, now.seconds, now.failed = previous.printedTimes, previous.seconds, now.count
	case scope == "[Summary] " && previous.count > 0:
		g.secondRun(true, "%s has final figures twice: a second run ends here", m.text("name"))
	case scope == "[Current] " && name == opNewOrder:
		g.interval(float64(now.count), now.seconds)
	case scope == "" && name == opNewOrder:
		g.interval(float64(now.count-previous.count), now.seconds-previous.seconds)
	}
	if scope == "[Current] " {
		now = &goTPCOp{printedTimes{count: previous.count + now.count}, previous.seconds + now.seconds,
			previous.failed + now.failed}
	}
	kinds[name] = now
}

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
	g.cutIf(!g.ended && len(g.current) > 0, "the output has no line “Finished” (%s:%d)", g.path, g.lines)
	orders := g.kinds[opNewOrder]
	g.refuseIf(orders == nil || orders.count == 0 || orders.seconds <= 0, "",
		"no new order succeeded: there is no rate")
	g.about(groupClients, 0, opNewOrder)
	g.step.Doc, g.step.Groups[0].Ops = "go-tpc, TPC-C", nil
	g.lasted(orders.seconds)
	failed, tried := int64(0), int64(0)
	for _, name := range slices.Sorted(maps.Keys(g.kinds)) {
		o := g.kinds[name]
		failed, tried = failed+o.failed, tried+o.count+o.failed
		if o.count > 0 && o.seconds > 0 {
			g.addKind(name, o.count, o.seconds, "final figures")
			o.unit = o.longest / 10 // a histogram of one digit
			addPrinted(g.run, "service", name, &o.printedTimes, g.tool)
		}
	}
	g.failures("transactions", failed, tried)
	g.warnIf(len(orders.percentiles) > 0, "go-tpc's percentiles have one digit or two, rounded up")
	g.per(opNewOrder, float64(orders.count)/orders.seconds, orders.count)
	g.addIntervals(groupClients, g.intervals, false, account.Warned(g.partial()...))
}
