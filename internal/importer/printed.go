package importer

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// printedTimes are the figures of a distribution that a tool prints, in µs.
type printedTimes struct {
	count                   int64
	mean, shortest, longest float64             // 0: unknown
	percentiles             map[float64]float64 // by percent
	unit                    float64             // percentiles are rounded to a multiple of it; 0: they are not
	uncounted               bool                // how many there were is not in the log
	rampUp                  bool                // they are also those of the time before the test
}

// timeName matches how tools call the figures of a distribution: Avg(us), 99thPercentileLatency(us), p99_ms, Median
// Latency (microseconds).
var timeName = regexp.MustCompile(`^(?:([Aa]vg|Average)|([Mm]in|Minimum)|([Mm]ax|Maximum)|Median|p?([\d.]+)(?:st|nd|rd|th)?)` +
	`(?: ?Percentile)?(?: ?Latency)?[ _]?\(?(us|ms|microseconds)\)?$`)

// note records a figure of the distribution, if its name is that of one.
func (t *printedTimes) note(name string, us float64) {
	m := timeName.FindStringSubmatch(name)
	if m == nil {
		return
	}
	if m[5] == "ms" {
		us *= 1e3
	}
	switch {
	case m[1] != "":
		t.mean = us
	case m[2] != "":
		t.shortest = us
	case m[3] != "":
		t.longest = us
	default:
		if t.percentiles == nil {
			t.percentiles = map[float64]float64{}
		}
		percent := 50.0
		if m[4] != "" {
			percent, _ = number(m[4])
		}
		t.percentiles[percent] = us
	}
}

// isPossible reports whether the times can be of one distribution, but for rounding; if not, that is said, and none is
// taken.
func (t *printedTimes) isPossible(r *run, op string) bool {
	ok := true
	require := func(condition bool, name string, us float64, bound string, limit float64) {
		r.contradictIf(ok && !condition, name+" of "+op, newFigure(us), bound, newFigure(limit))
		ok = ok && condition
	}
	bounded := func(name string, us float64) {
		require(us == 0 || us >= t.shortest*(1-slack)-t.unit, name, us, "the least", t.shortest)
		require(t.longest == 0 || us*(1-slack)-t.unit <= t.longest, name, us, "the greatest", t.longest)
	}
	bounded("the mean", t.mean)
	bounded("the least", t.shortest)
	for _, percent := range slices.Sorted(maps.Keys(t.percentiles)) {
		us, above := t.percentiles[percent], 1-percent/100
		bounded(fmt.Sprintf("percentile %v", percent), us)
		if highest := us*(1-above) + t.longest*above; t.longest > 0 && t.mean*(1-slack) > highest+t.unit {
			r.contradictIf(true, "the mean of "+op, newFigure(t.mean),
				fmt.Sprintf("the highest that percentile %v allows", percent),
				newFigure(highest))
			return false
		}
	}
	return ok
}

// printedMetrics are the percentiles that metrics have.
var printedMetrics = map[float64]string{50: "_p50_us", 95: "_p95_us", 99: "_p99_us", 99.9: "_p999_us"}

// addPrinted adds the rows and the curve of printed times. A time of 0 is less than its last digit,
// and unknown. measure is the prefix of their metrics' names; only service times have a mean.
func addPrinted(r *run, measure, op string, t *printedTimes, source string) {
	if t.count == 0 && !t.uncounted || !t.isPossible(r, op) {
		return
	}
	worked, time := t.mean/1e6*float64(t.count), float64(r.clients)*(r.step.Seconds+max(t.mean, t.longest)/1e6)
	if measure == "service" && !t.rampUp && r.step.Seconds > 0 && time > 0 &&
		!r.requireWithin("mean × number of "+op, newFigure(worked), "clients × time", newFigure(time)) {
		return
	}
	options := []account.With{account.Of(groupClients, op), account.Source(source)}
	if t.count > 0 {
		options = append(options, account.Count(t.count))
	}
	put := func(name string, us float64) {
		if us > 0 {
			r.put(name, us, options...)
		}
	}
	if measure == "service" {
		put(metric.ServiceMeanUS, t.mean)
	}
	put(measure+"_min_us", t.shortest)
	c := metric.Curve{Group: groupClients, Op: op, Measure: measure, Count: t.count}
	for _, percent := range slices.Sorted(maps.Keys(t.percentiles)) {
		us := t.percentiles[percent]
		if name := printedMetrics[percent]; name != "" {
			put(measure+name, us)
		}
		if t.longest > 0 && us-t.longest < t.unit { // it is no more than the longest, rounded up
			us = min(us, t.longest)
		}
		if us > 0 {
			c.Points = append(c.Points, [2]float64{percent, us})
		}
	}
	if t.longest > 0 {
		put(measure+"_max_us", t.longest)
		c.Points = append(c.Points, [2]float64{100, t.longest})
	}
	slices.SortFunc(c.Points, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	grow := slices.IsSortedFunc(c.Points, func(a, b [2]float64) int { return cmp.Compare(a[1], b[1]) })
	r.warnIf(!grow && !t.uncounted, "the percentiles of %s do not grow: the log contradicts itself", op)
	if grow && !t.uncounted {
		r.step.Curves = append(r.step.Curves, c)
	}
}

// addOperations adds the operations of several kinds done by one group of clients in the step's
// seconds, and their sum. A single kind needs no sum.
func addOperations(r *run, kinds []string, done map[string]int64, total int64, clients int, source string) {
	primary, ops := opOperation, append([]string{opOperation}, kinds...)
	if len(kinds) == 1 && done[kinds[0]] == total { // as rumbench's own workloads name it
		primary, ops, kinds = kinds[0], kinds, nil
	}
	r.about(groupClients, clients, ops...)
	r.step.Primary, r.step.WritesPer, r.clients = primary, primary, clients
	add := func(op string, n int64) float64 {
		rate := account.PerSecond(float64(n), r.step.Seconds)
		r.work(float64(n), rate, account.Of(groupClients, op), account.Count(n), account.Source(source))
		return rate
	}
	r.per(primary, add(primary, total), total)
	for _, kind := range kinds {
		add(kind, done[kind])
	}
	r.lasted(r.step.Seconds)
}

// addArrivals adds the rate that the only group was asked for, and, of a complete run,
// whether it was held. Arrivals are random, and their number is unknown: three standard
// deviations fewer than the rate asks for are allowed.
func addArrivals(r *run, rate, done float64, complete bool) {
	g := &r.step.Groups[0]
	if g.Rate, g.Pace = rate, "poisson"; !complete {
		return
	}
	expected := rate * r.step.Seconds
	p := account.Promise{Target: rate, Done: done, Due: expected - 3*math.Sqrt(expected), Seconds: r.step.Seconds,
		Grain: float64(g.Clients)}
	met, group := 1.0, account.Of(g.Name, "")
	if sla := p.Judge(); !sla.Met {
		met = 0
		r.step.Warnings = append(r.step.Warnings, metric.Warn(remark.SLAMissed,
			metric.Values{"group": g.Name, "target": rate, "achieved": sla.Achieved}))
	}
	r.put(metric.SLATarget, rate, group)
	r.put(metric.SLAMet, met, group)
}

// latencies counts latencies exactly, by µs.
type latencies struct {
	n      int64
	counts map[uint32]int64
}

func (l *latencies) add(us uint32) {
	if l.counts == nil {
		l.counts = map[uint32]int64{}
	}
	l.n++
	l.counts[us]++
}

func (l *latencies) mean() (us float64) {
	for v, n := range l.counts {
		us += float64(v) * float64(n) / float64(l.n)
	}
	return us
}

// times returns the latencies with their maximum and the points of a curve.
func (l *latencies) times() account.Times {
	sorted := slices.Sorted(maps.Keys(l.counts))
	ranked := func(rank int64) float64 {
		for _, us := range sorted {
			if rank -= l.counts[us]; rank <= 0 {
				return float64(us)
			}
		}
		return 0
	}
	t := account.Ranked(l.n, ranked, []float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97, 98, 99, 99.5,
		99.7, 99.9, 99.95, 99.99, 100})
	if l.n > 0 {
		t.Greatest = t.At(100)
	}
	return t
}

func percentileOf(us []uint32, p float64) float64 {
	if len(us) == 0 {
		return 0
	}
	return float64(us[account.Rank(p, int64(len(us)))-1])
}
