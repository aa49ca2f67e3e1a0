package plan

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Rate is the arrival rate of operations for clients without their own rate, in
// steps that are bounded by time. One of At, Ramp and Steps is set.
type Rate struct {
	// At is operations per second; each of several is a separate step.
	At []float64
	// Ramp is the first and the last rate of a linear ramp over the step.
	Ramp []float64
	// Steps are rates one after the other, for equal parts of the step's time.
	Steps []float64
	Like  pace.Arrivals // the kind of arrivals, and how many operations may wait
}

// Find is a search, in each such step, for the highest arrival rate that keeps a
// promise about response times.
type Find struct {
	Promise    string        // "p99_ms < 10", however it was written
	Percentile float64       // of the promise; 100 for the maximum
	Below      time.Duration // the limit, exclusive
	From, To   float64       // bounds of the search; 0: none
	Precision  float64       // of the rate, as a share: 0.05 is 5 %
	Seconds    float64       // length of a probe; 0: the step's. See [Find.Length]
	Credit     float64       // the share of what is written by which put-off work may grow in a probe
	Hold       float64       // seconds for which the answer is held; negative: four probes, see [Find.Holds]
	Like       pace.Arrivals // the kind of arrivals, and how many operations may wait
}

// Words returns the promise in readable form: "p99 < 10 ms".
func (f *Find) Words() string { return (&result.Search{Promise: f.Promise}).Words() }

func rateShape() strictyaml.Shape {
	return rateKeys.Shape().With("oneOf",
		[]strictyaml.Shape{{"required": []string{"at"}}, {"required": []string{"ramp"}}, {"required": []string{"steps"}}})
}

const (
	usualPrecision = 0.05
	usualCredit    = 0.05
	leastPrecision = 0.01
	// usualLeadIn is the lead-in of probes in seconds: the first operations of new
	// connections take longer.
	usualLeadIn = 2
	// lengthened is the greatest factor by which a probe is lengthened.
	lengthened = 10
)

// Length returns the length in seconds of a probe at a rate, after a step of a
// length: the plan's length, or more if that is too short for the percentile.
func (f *Find) Length(rate, step float64) float64 {
	usual := cmp.Or(f.Seconds, step)
	return min(max(usual, math.Ceil(f.operations()/rate)), lengthened*usual)
}

// Holds returns for how many seconds the answer is held, after a step of a length; 0: it is not.
func (f *Find) Holds(step float64) float64 {
	const probes = 4
	if f.Hold < 0 {
		return probes * f.Length(math.Inf(1), step)
	}
	return f.Hold
}

// LeastRate returns the lowest rate that gives a probe enough operations for
// the percentile.
func (f *Find) LeastRate(step float64) float64 {
	return f.operations() / (lengthened * cmp.Or(f.Seconds, step))
}

// operations returns how many operations a probe needs.
func (f *Find) operations() float64 {
	if f.Percentile == 100 {
		return 1
	}
	const chance = 1.1 // the number of random arrivals varies
	return chance * float64(metric.LeastSamples(f.Percentile))
}

const rateHint = "as in rate: 2000, rate: [500, 1000, 2000] for a step each, or rate: {at: 2000, arrivals: poisson, " +
	"queue: 10000}"

// rate reads how operations arrive.
func (b *binder) rate(f strictyaml.Fields, p *Plan) {
	n := f.Value("rate")
	if n == nil {
		return
	}
	before := len(b.Problems)
	r := &Rate{Like: pace.Arrivals{Kind: pace.Poisson}}
	switch n.Kind {
	case strictyaml.Mapping:
		fields := b.Fields(n, "rate", rateKeys.Names())
		forms := 0
		for key, dst := range map[string]*[]float64{"at": &r.At, "ramp": &r.Ramp, "steps": &r.Steps} {
			if v := fields.Value(key); v != nil {
				forms++
				*dst = rates(&b.Document, v, key)
			}
		}
		if forms != 1 {
			b.At(n, "rate has one of at, ramp and steps", rateHint)
		}
		if v := fields.Value("ramp"); v != nil && (v.Kind != strictyaml.List || len(v.Items) != 2) {
			b.At(v, "ramp is from one rate to another", "as in ramp: [500, 4000]")
		}
		rateKeys.Bind(fields, r)
	default:
		r.At = rates(&b.Document, n, "rate")
	}
	if !b.refuse(stepless(n, p, "rate")...) && len(b.Problems) == before {
		p.Rate = r
	}
}

// rates reads a rate, or a list of them.
func rates(d *strictyaml.Document, n *strictyaml.Node, subject string) (out []float64) {
	items := []*strictyaml.Node{n}
	if n.Kind == strictyaml.List {
		if items = n.Items; len(items) == 0 {
			d.At(n, subject+" is empty", rateHint)
		}
	}
	for _, item := range items {
		v, err := perSecond.Read(item)
		switch {
		case item.Kind == strictyaml.Broken:
			continue
		case err != nil:
			d.At(item, subject+": "+err.Error(), rateHint)
			continue
		case slices.Contains(out, v) && subject != "steps" && subject != "ramp":
			d.At(item, fmt.Sprintf("%s: %s is given twice", subject, item.Text), "remove one")
		}
		out = append(out, v)
	}
	return out
}

// find reads the promise that a search is to keep.
func (b *binder) find(f strictyaml.Fields, p *Plan) {
	n := f.Value("find")
	if n == nil {
		return
	}
	d := &Find{Precision: usualPrecision, Credit: usualCredit, Hold: -1,
		Like: pace.Arrivals{Kind: pace.Poisson, LeadIn: usualLeadIn}}
	switch n.Kind {
	case strictyaml.Mapping:
		fields := b.Fields(n, "find", findKeys.Names())
		if n.Get("promise") == nil {
			b.At(n, "find has no promise", promiseHint)
		}
		findKeys.Bind(fields, d)
		if d.To > 0 && d.From >= d.To {
			b.At(fields.Value("from"), fmt.Sprintf("from: %g is not below to, which is %g", d.From, d.To), "")
		}
	default:
		strictyaml.Bind(f, "find", promise, d.keep)
	}
	if b.refuse(findExclusions(n, f, p)...) {
		return
	}
	if bound, problem, hint := d.tooShort(p.Run); bound != "" {
		b.At(n.Get(bound), problem, hint)
	}
	p.Find = d
}

// tooShort returns which bound of a search is too low for its probes in a step of a
// run, the problem and a hint; "" if none is.
func (d *Find) tooShort(run workload.Run) (bound, problem, hint string) {
	for _, s := range run.Steps() {
		lowest := d.LeastRate(s.Seconds)
		rate := d.From
		if bound = "from"; rate == 0 {
			bound, rate = "to", d.To
		}
		if OpenGroup(&s) < 0 || rate == 0 || rate >= lowest {
			continue
		}
		return bound,
			fmt.Sprintf("%s: %g/s is too low for probes of at most %g s: %s needs %.0f operations", bound, rate,
				d.Length(rate, s.Seconds), d.Promise, d.operations()),
			fmt.Sprintf("set seconds to at least %.0f (a probe becomes up to %d times as long), or %s to at least %.0f",
				math.Ceil(d.operations()/rate/lengthened), lengthened, bound, math.Ceil(lowest))
	}
	return "", "", ""
}

const promiseHint = "as in find: p99 < 10ms; of response time there are p50, p95, p99, p99.9 and max"

var (
	promiseText = regexp.MustCompile(`^([a-z0-9.]+)(?:_([a-zµ]+))?\s*<\s*([0-9.]+)\s*([a-zµ]*)$`)
	percentiles = map[string]float64{"p50": 50, "p95": 95, "p99": 99, "p999": 99.9, "max": 100}
)

// kept is a promise that a search keeps.
type kept struct {
	text       string // "p99_ms < 10", however it was written
	percentile float64
	below      time.Duration
}

func (d *Find) keep(k kept) { d.Promise, d.Percentile, d.Below = k.text, k.percentile, k.below }

// promise reads a promise such as p99 < 10ms or p99_ms < 10.
var promise = strictyaml.NewScalar(readPromise, promiseShape())

func promiseShape() strictyaml.Shape {
	var measures []string
	for name := range percentiles {
		var letters []string
		for _, letter := range name {
			letters = append(letters, quantity.AnyCase(string(letter)))
		}
		measures = append(measures, strings.Join(letters, `\.?`)) // p999 and p99.9
	}
	slices.Sort(measures)
	const unit = `[A-Za-zµ]`
	return strictyaml.Shape{"type": "string",
		"pattern": strictyaml.Whole("(" + strings.Join(measures, "|") + ")(_" + unit + `+)?\s*<\s*[0-9.]+\s*` + unit + "*")}
}

func readPromise(n *strictyaml.Node) (out kept, err error) {
	text := strings.ToLower(strings.TrimSpace(n.Text))
	if inclusive := strings.NewReplacer("<=", "<", "≤", "<").Replace(text); inclusive != text {
		return out, hint.Errorf("write "+inclusive, "%q: a promise is kept below its limit, not at it", n.Text)
	}
	m := promiseText.FindStringSubmatch(text)
	if m == nil {
		return out, hint.Errorf(promiseHint, "%q is not a promise", n.Text)
	}
	measure, unit := strings.ReplaceAll(m[1], ".", ""), m[2]+m[4]
	var known bool
	if out.percentile, known = percentiles[measure]; !known {
		return out, hint.Errorf(hint.OneOf(m[1], []string{"p50", "p95", "p99", "p99.9", "max"}), "%q is not a response time",
			m[1])
	}
	if m[2] == m[4] && unit != "" { // of both sides
		unit = m[2]
	}
	if unit == "" {
		return out, hint.Errorf(fmt.Sprintf("write %s < %sms, if milliseconds are meant", m[1], m[3]), "%q has no unit",
			n.Text)
	}
	limit, err := quantity.ParseDuration(m[3] + unit)
	if err != nil || limit <= 0 || limit > time.Hour {
		return out, hint.Errorf("such as 10ms, 500us or 1s, at most an hour", "%q is not a limit", m[3]+m[4])
	}
	out.below = limit
	out.text = measure + "_ms < " + strconv.FormatFloat(float64(limit)/float64(time.Millisecond), 'f', -1, 64)
	return out, nil
}

// perSecond reads a rate: 2000, 2k or 2000/s.
var perSecond = strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
	v, ok := strictyaml.Number(n)
	if !ok {
		count, err := workload.ParseCount(strings.TrimSuffix(n.Text, "/s"))
		v, ok = float64(count), err == nil
	}
	if ok && v > 0 && v <= pace.Fastest {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of operations a second, above 0 and at most %g", n.Text,
		float64(pace.Fastest))
}, strictyaml.NumberOrText(strictyaml.Shape{"exclusiveMinimum": 0, "maximum": float64(pace.Fastest)},
	workload.CountPattern+"(/s)?"))

// OpenGroup returns the group of a step that can be driven by an arrival
// schedule, -1 if there is none: the group of the step's primary operation, if
// its clients have no rate and the step is bounded by time. A step that creates
// tables, or has a fixed amount of work, cannot be repeated, and a warm-up
// needs no schedule.
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

// Steps returns the steps of the run, with the plan's rates and restarts. Those of a search are
// decided while it runs.
func (p *Plan) Steps() []workload.Step { return p.Restart.Within(p.rated(), p.Rate) }

// rated returns the steps of the run, with the plan's rates.
func (p *Plan) rated() (out []workload.Step) {
	steps := p.Run.Steps()
	switch {
	case p.Find != nil:
		return searched(steps)
	case p.Rate == nil:
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
			at := AtRate(s, rate, &p.Rate.Like)
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
	a := r.Like
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
	return &a
}

// AtRate returns a step with this arrival rate, with the kind of arrivals and
// the queue of like, under a separate name.
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

// searched returns the steps; those that a search begins with are judged by its answer.
func searched(steps []workload.Step) []workload.Step {
	out := slices.Clone(steps)
	for i := range out {
		if OpenGroup(&out[i]) >= 0 {
			out[i].Judged = []string{metric.HighestRate}
		}
	}
	return out
}

// promised returns the metrics that judge a step when operations arrive at a rate, which
// is the same for all targets: latency instead of throughput. The probes of a search are
// not judged, only its answer is.
func promised(judged []string) (out []string) {
	for _, name := range judged {
		switch name {
		case metric.RowsPerS:
			name = metric.ResponseP99US
		case metric.HighestRate:
			continue
		}
		if !slices.Contains(out, name) && (name != metric.ServiceP99US || !slices.Contains(out, metric.ResponseP99US)) {
			out = append(out, name)
		}
	}
	return out
}

func rateName(step string, rate float64) string {
	return step + "@" + strconv.FormatFloat(rate, 'f', -1, 64)
}

// WithoutRate returns the name of the plan's step for one that was made of it at a rate, else the name itself.
func WithoutRate(step string) string {
	if i := strings.LastIndex(step, "@"); i >= 0 {
		return step[:i]
	}
	return step
}

func withArrivals(s *workload.Step, a *pace.Arrivals) workload.Step {
	out := *s
	out.Groups, out.Judged = slices.Clone(s.Groups), promised(s.Judged)
	out.Groups[OpenGroup(s)].Arrivals = a
	return out
}
