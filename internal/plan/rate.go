package plan

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/hint"
	"rumbench/internal/pace"
	"rumbench/workload"
)

// Rate is the arrival rate of operations for clients without a rate of their own,
// in steps that are bounded by time. One of At, Ramp and Steps is set.
type Rate struct {
	// At is operations per second; each of several is a step of its own.
	At []float64
	// Ramp is the first and the last rate of a linear ramp over the step.
	Ramp []float64
	// Steps are rates one after the other, for equal parts of the step's time.
	Steps    []float64
	Arrivals pace.Kind
	Queue    int64 // how many operations may wait; 0: no limit
}

// Find is a search, in each such step, for the highest arrival rate that keeps a
// promise about response times.
type Find struct {
	Promise    string        // as written: "p99_ms < 10"
	Percentile float64       // of the promise; 100 for the maximum
	Below      time.Duration // the limit, exclusive
	From, To   float64       // bounds of the search; 0: a thousandth of, and the whole of, the unlimited rate
	Precision  float64       // of the rate, as a share: 0.05 is 5 %
	Seconds    float64       // length of a probe; 0: the step's
	Arrivals   pace.Kind
	Queue      int64
}

var (
	rateKeys = []string{"at", "ramp", "steps", "arrivals", "queue"}
	findKeys = []string{"promise", "from", "to", "precision", "seconds", "arrivals", "queue"}
)

const (
	greatestRate   = 1e9
	usualPrecision = 0.05
	leastPrecision = 0.01
	// halvings is how often a search without a lower bound halves the rate
	// before it gives up.
	halvings = 10
)

const rateHint = "as in rate: 2000, rate: [500, 1000, 2000] for a step each, or rate: {at: 2000, arrivals: poisson, queue: 10000}"

// rate reads how operations arrive.
func (b *binder) rate(f fields, p *Plan) {
	n := f.value("rate")
	if n == nil {
		return
	}
	before := len(b.problems)
	r := &Rate{Arrivals: pace.Poisson}
	switch n.kind {
	case mapping:
		of := b.fields(n, "rate", rateKeys)
		forms := 0
		for key, to := range map[string]*[]float64{"at": &r.At, "ramp": &r.Ramp, "steps": &r.Steps} {
			if v := of.value(key); v != nil {
				forms++
				*to = b.rates(v, key)
			}
		}
		if forms != 1 {
			b.at(n, "rate has one of at, ramp and steps", rateHint)
		}
		if v := of.value("ramp"); v != nil && (v.kind != list || len(v.items) != 2) {
			b.at(v, "ramp is from one rate to another", "as in ramp: [500, 4000]")
		}
		of.arrivals(&r.Arrivals, &r.Queue)
	default:
		r.At = b.rates(n, "rate")
	}
	if !b.noStep(n, p, "rate") && len(b.problems) == before {
		p.Rate = r
	}
}

// rates reads a rate, or a list of them.
func (d *document) rates(n *node, what string) (out []float64) {
	items := []*node{n}
	if n.kind == list {
		if items = n.items; len(items) == 0 {
			d.at(n, what+" is empty", rateHint)
		}
	}
	for _, item := range items {
		v, ok := number(item)
		switch {
		case item.kind == broken:
			continue
		case item.kind != scalar || !ok || !(v > 0 && v <= greatestRate):
			d.at(item, fmt.Sprintf("%s: %q is not a number of operations a second, above 0", what, item.text), rateHint)
			continue
		case slices.Contains(out, v) && what != "steps" && what != "ramp":
			d.at(item, fmt.Sprintf("%s: %s is given twice", what, item.text), "remove one")
		}
		out = append(out, v)
	}
	return out
}

func (f fields) arrivals(kind *pace.Kind, queue *int64) {
	bind(f, "arrivals", kind, oneOf(pace.Poisson, pace.Even, pace.Burst))
	bind(f, "queue", queue, func(n *node) (int64, error) {
		v, err := integer(1, math.MaxInt32)(n)
		return int64(v), err
	})
}

// noStep reports a run without a step to which a schedule could apply.
func (b *binder) noStep(n *node, p *Plan, what string) bool {
	if p.Run == nil {
		return true // already reported
	}
	for _, s := range p.Run.Steps() {
		if OpenGroup(&s) >= 0 {
			return false
		}
	}
	b.at(n, what+" has no step to apply to: it is for steps that are bounded by time, create no tables, and have clients without a rate of their own",
		"rumbench run --dry-run shows the steps; choose others with params, or remove "+what)
	return true
}

// find reads the promise that a search is to keep.
func (b *binder) find(f fields, p *Plan) {
	n := f.value("find")
	if n == nil {
		return
	}
	d := &Find{Precision: usualPrecision, Arrivals: pace.Poisson}
	switch n.kind {
	case mapping:
		of := b.fields(n, "find", findKeys)
		if n.get("promise") == nil {
			b.at(n, "find has no promise", promiseHint)
		}
		bind(of, "promise", d, d.promise)
		bind(of, "from", &d.From, perSecond)
		bind(of, "to", &d.To, perSecond)
		bind(of, "precision", &d.Precision, share(leastPrecision))
		var length time.Duration
		bind(of, "seconds", &length, duration(time.Second, maxBudget))
		d.Seconds = length.Seconds()
		of.arrivals(&d.Arrivals, &d.Queue)
		if d.To > 0 && d.From >= d.To {
			b.at(of.value("from"), fmt.Sprintf("from: %g is not below to, which is %g", d.From, d.To), "")
		}
	default:
		bind(f, "find", d, d.promise)
	}
	switch {
	case f.of.get("rate") != nil:
		b.at(n, "a plan has either rate or find: find tries rates of its own", "remove one")
	case p.Order == Duet:
		b.at(n, "the two of a duet would try different rates, and cannot wait for each other",
			"set order: interleaved, or give a list of rates instead, as rate: [500, 1000]")
	case p.Stop.Precision > 0:
		b.at(n, "stop: precision asks for every step to be compared, and a search makes steps of its own", "remove precision from stop; a budget can stay")
	case b.noStep(n, p, "find"):
	default:
		p.Find = d
	}
}

const promiseHint = "as in find: p99_ms < 10; of response time there are p50_ms, p95_ms, p99_ms, p999_ms and max_ms"

var (
	promiseText = regexp.MustCompile(`^([a-z0-9_]+)\s*<\s*([0-9.]+)$`)
	promises    = []struct {
		name       string
		percentile float64
	}{{"p50_ms", 50}, {"p95_ms", 95}, {"p99_ms", 99}, {"p999_ms", 99.9}, {"max_ms", 100}}
)

func (d *Find) promise(n *node) (Find, error) {
	m := promiseText.FindStringSubmatch(strings.TrimSpace(n.text))
	if m == nil {
		return *d, hint.Errorf(promiseHint, "%q is not a promise", n.text)
	}
	limit, err := strconv.ParseFloat(m[2], 64)
	if err != nil || limit <= 0 || limit > float64(time.Hour/time.Millisecond) {
		return *d, hint.Errorf("a number of milliseconds, at most an hour", "%q is not a limit", m[2])
	}
	out := *d
	out.Below = time.Duration(math.Round(limit * float64(time.Millisecond)))
	out.Promise = m[1] + " < " + m[2]
	var names []string
	for _, p := range promises {
		if names = append(names, p.name); p.name == m[1] {
			out.Percentile = p.percentile
			return out, nil
		}
	}
	return *d, hint.Errorf(hint.OneOf(m[1], names), "%q is not a response time", m[1])
}

func perSecond(n *node) (float64, error) {
	if v, ok := number(n); ok && v > 0 && v <= greatestRate {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of operations a second, above 0", n.text)
}

// OpenGroup returns the group of a step that can be driven by an arrival schedule,
// -1 if there is none: the group of the step's primary operation, if its clients
// have no rate of their own and the step is bounded by time. A step that creates
// tables, or has a fixed amount of work, cannot be repeated, and a warm-up needs
// no schedule.
func OpenGroup(s *workload.Step) int {
	if s.Settle != nil || s.Creates || s.Warmup || s.Seconds <= 0 {
		return -1
	}
	for g := range s.Groups {
		group := &s.Groups[g]
		if group.Work > 0 {
			return -1
		}
		if group.Rate > 0 || group.Arrivals != nil {
			continue
		}
		about := slices.ContainsFunc(group.Ops, func(k workload.OpKind) bool { return k.Whole() == s.Primary })
		if about || s.Primary == "" {
			return g
		}
	}
	return -1
}

// Steps returns the steps of the run, with the plan's rates. Those of a search are
// decided while it runs.
func (p *Plan) Steps() (out []workload.Step) {
	steps := p.Run.Steps()
	if p.Rate == nil {
		return steps
	}
	several := map[string]bool{} // the names of steps that are repeated per rate
	for i := range steps {
		s := &steps[i]
		if OpenGroup(s) < 0 {
			out = append(out, *s)
			continue
		}
		if len(p.Rate.At) < 2 {
			out = append(out, withArrivals(s, p.Rate.schedule(s.Seconds)))
			continue
		}
		several[s.Name] = true
		for _, rate := range p.Rate.At {
			at := AtRate(s, rate, &pace.Arrivals{Kind: p.Rate.Arrivals, Queue: p.Rate.Queue})
			if several[s.Before] {
				at.Before = rateName(s.Before, rate)
			}
			out = append(out, at)
		}
	}
	return out
}

// schedule returns the arrivals of a step of the given length.
func (r *Rate) schedule(seconds float64) *pace.Arrivals {
	a := &pace.Arrivals{Kind: r.Arrivals, Queue: r.Queue}
	switch {
	case len(r.Ramp) == 2:
		a.Segments = []pace.Segment{{Seconds: seconds, From: r.Ramp[0], To: r.Ramp[1]}}
	case len(r.Steps) > 0:
		for _, v := range r.Steps {
			a.Segments = append(a.Segments, pace.Segment{Seconds: seconds / float64(len(r.Steps)), From: v, To: v})
		}
	default:
		a.Segments = []pace.Segment{{Seconds: seconds, From: r.At[0], To: r.At[0]}}
	}
	return a
}

// AtRate returns a step with this arrival rate, with the kind of arrivals and the
// queue of like, under a name of its own.
func AtRate(s *workload.Step, rate float64, like *pace.Arrivals) workload.Step {
	a := *like
	a.Segments = []pace.Segment{{Seconds: s.Seconds, From: rate, To: rate}}
	out := withArrivals(s, &a)
	out.Name, out.Before = rateName(s.Name, rate), ""
	if out.Base == "" {
		out.Base = s.Name
	}
	out.Axes = append(slices.Clone(s.Axes), workload.Axis{Name: "rate", Value: rate})
	return out
}

func rateName(step string, rate float64) string {
	return step + "@" + strconv.FormatFloat(rate, 'f', -1, 64)
}

func withArrivals(s *workload.Step, a *pace.Arrivals) workload.Step {
	out := *s
	out.Groups = slices.Clone(s.Groups)
	out.Groups[OpenGroup(s)].Arrivals = a
	return out
}

// Rate returns rate k of those that a search may try: of the grid, clamped to From
// and To.
func (d *Find) Rate(k int) float64 {
	v := max(d.grid(k), d.From)
	if d.To > 0 {
		v = min(v, d.To)
	}
	return v
}

// grid returns rate k of the grid, of three digits. All searches with the same
// precision try the same rates, so that their steps can be compared.
func (d *Find) grid(k int) float64 {
	text := strconv.FormatFloat(math.Pow(1+d.Precision, float64(k)), 'g', 3, 64)
	v, _ := strconv.ParseFloat(text, 64) // just formatted
	return v
}

// Nearest returns the number of the grid rate nearest to a rate.
func (d *Find) Nearest(rate float64) int {
	return int(math.Round(math.Log(rate) / math.Log1p(d.Precision)))
}

// Last returns the number of the rate To.
func (d *Find) Last() int {
	k := d.Nearest(d.To) - 1
	for d.grid(k) < d.To {
		k++
	}
	return k
}

// first returns the number of the rate From.
func (d *Find) first() int {
	k := d.Nearest(d.From) + 1
	for d.grid(k) > d.From {
		k--
	}
	return k
}

// Halving returns the number of grid steps from a rate to half of it.
func (d *Find) Halving() int { return max(1, int(math.Round(math.Ln2/math.Log1p(d.Precision)))) }

// Least returns the lowest rate that is tried below one that is known to break the
// promise.
func (d *Find) Least(k int) int {
	if d.From > 0 {
		return d.first()
	}
	return k - halvings*d.Halving()
}

// Most returns the greatest number of probes of a search.
func (d *Find) Most() int {
	bisect := func(steps int) int { return int(math.Ceil(math.Log2(float64(max(1, steps))))) }
	switch {
	case d.From > 0 && d.To > 0:
		return 2 + bisect(d.Last()-d.first())
	case d.From > 0:
		return 1 + bisect(d.Nearest(greatestRate)-d.first())
	case d.To > 0:
		return 1 + halvings + bisect(d.Halving())
	}
	return halvings + bisect(d.Halving())
}
