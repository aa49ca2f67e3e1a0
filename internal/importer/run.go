package importer

import (
	"fmt"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// run is one step of one trial, as a log tells it.
type run struct {
	origin
	naming
	database
	workload string
	step     result.Step
	lines    []result.Line // of its series, where the file is not read again for it
	plan     []param       // what was asked for
	params   map[string]string
	costs    []denominator
	interval float64 // seconds; 0 is unknown
	cpus     int     // of the host; 0 is unknown
	// processes is how many the clients are, where they are several.
	processes int
	reason    string // why it is not complete
	warnings  []string
	host      []observe.Fact
}

// origin is what a run was read from.
type origin struct {
	file *file
	tool string // with its version, as far as it is told
	// files are those that it was read from, and beside those that stand beside it.
	files  []*file
	beside []string
	// derived is whether it was read from a table that was made of logs.
	derived bool
	guesses []string // what was assumed, as nothing says it
}

// database is what a run was done on; "" is unknown.
type database struct {
	engine  string
	version string
	storage string // its storage engine
}

// naming is what the names of a run's target and step, and the number of its
// trial, are made of.
type naming struct {
	// byFile is the part of the step's name that is the file's; "" if none is.
	byFile string
	// base is the step's name without what may distinguish it from other runs of
	// its test: the key, and the clients, 0 if unknown. "" where it has a name.
	base, pk string
	clients  int
	test     string // of the suite; "" if it is none
	target   string // where the log itself names it; else by its place
	home     string // the place that names the target; "" if the log does
	trial    int    // likewise; 0: by its place
}

// param is something that runs must agree in to be compared, with its place.
type param struct {
	name, value string
	line        int // 0: by the file's name
}

// denominator is what costs are given per.
type denominator struct {
	per  string
	rate float64 // units a second
	n    int64   // units in the window; 0 is unknown
}

// emit adds a line to the series.
func (r *run) emit(l result.Line) {
	switch {
	case r.file.sink != nil:
		r.file.sink(l)
	case r.file.whole:
		r.lines = append(r.lines, l)
	}
}

func newRun(f *file, workload string) *run {
	return &run{origin: origin{file: f}, workload: workload, step: result.Step{Status: result.Complete}, params: map[string]string{}}
}

// build adds to the step what is derived by f.
func (r *run) build(f func(*account.Builder)) {
	var b account.Builder
	f(&b)
	r.step.Take(&b.Sheet)
}

// put adds a row, unless the number is not known.
func (r *run) put(name string, value float64, more ...account.With) {
	r.build(func(b *account.Builder) { b.Put(name, value, more...) })
}

func of(group, op string) account.With { return account.Of(group, op) }

func count(n int64) account.With { return account.Count(n) }

func source(s string) account.With { return account.Source(s) }

// doubts are warnings about a number.
func doubts(texts ...string) account.With { return account.Warned(limits(texts)...) }

func limits(texts []string) (out []metric.Warning) {
	for _, text := range texts {
		if text == partial {
			out = append(out, metric.Warn(metric.PartialLog, nil))
		} else {
			out = append(out, metric.Warn(metric.Imported, metric.Values{"what": text}))
		}
	}
	return out
}

// ask notes something that runs of one step must agree in.
func (r *run) ask(line int, name, value string) {
	if value == "" {
		return
	}
	r.plan = slices.DeleteFunc(r.plan, func(p param) bool { return p.name == name }) // the last one counts
	r.plan = append(r.plan, param{name, value, line})
	r.params[name] = value
}

// guess notes what was assumed.
func (r *run) guess(text string, args ...any) {
	r.guesses = append(r.guesses, fmt.Sprintf(text, args...))
}

func (r *run) warn(text string, args ...any) {
	r.step.Warnings = append(r.step.Warnings, metric.Warn(metric.Imported, metric.Values{"what": fmt.Sprintf(text, args...)}))
}

// cut marks a run that did not come to its end.
func (r *run) cut(reason string, args ...any) {
	r.step.Status = result.Partial
	r.reason = fmt.Sprintf(reason, args...)
}

// partial is in the warnings of numbers that are made of a part of a run.
const partial = "the log has no final figures: the number is made of the intervals that it has"

// addIntervals adds what the intervals of a group show of its steadiness, by the
// rules that hold for measured runs. Intervals shorter than half the usual are no
// rate.
func (r *run) addIntervals(group string, intervals []account.Interval, rated bool, more ...account.With) {
	if len(intervals) == 0 {
		return
	}
	lengths := make([]float64, len(intervals))
	for i := range intervals {
		lengths[i] = intervals[i].Length
	}
	r.interval = stat.Median(lengths)
	for n := len(intervals); n > 0 && intervals[n-1].Length < r.interval/2; n-- {
		intervals = intervals[:n-1]
	}
	r.build(func(b *account.Builder) { b.Logged(group, intervals, rated, more...) })
}

// addCosts divides figures by all denominators.
func (r *run) addCosts(figures []figure) {
	var costs []account.Cost
	for _, f := range figures {
		costs = append(costs, account.Cost{Metric: f.metric, Value: f.perSecond, Source: f.source, Warnings: limits(f.doubts)})
	}
	for _, d := range r.costs {
		if d.rate > 0 {
			r.build(func(b *account.Builder) { b.Costs(costs, account.Denominator{Per: d.per, Units: d.rate, N: d.n}) })
		}
	}
}
