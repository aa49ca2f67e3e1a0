package importer

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// run is one step of one trial, as a log tells it.
type run struct {
	file     *file
	tool     string // with its version, as far as it is told
	workload string
	engine   string // the database; "" is unknown
	version  string // of the database; "" is unknown
	step     result.Step
	lines    []result.Line // of its series, where the file is not read again for it
	plan     []param       // what was asked for
	params   map[string]string
	storage  string // the database's storage engine; "" is unknown
	costs    []denominator
	interval float64 // seconds; 0 is unknown
	cpus     int     // of the host; 0 is unknown
	// processes is how many the clients are, where they are several.
	processes int
	reason    string // why it is not complete
	warnings  []string
	host      []observe.Fact
	// files are those that it was read from, and beside those that stand beside it.
	files  []*file
	beside []string
	// derived is whether it was read from a table that was made of logs.
	derived bool
	guesses []string // what was assumed, as nothing says it

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
	return &run{file: f, workload: workload, step: result.Step{Status: result.Complete}, params: map[string]string{}}
}

// put adds a row, unless the number is not known.
func (r *run) put(name string, value float64, more ...func(*metric.Row)) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	m := metric.ByName(name)
	if m == nil {
		panic("metric " + name + " is not in the list of metrics") // a bug that any test finds
	}
	row := metric.Row{Metric: name, Value: value, Unit: m.Unit}
	for _, f := range more {
		f(&row)
	}
	r.step.Rows = append(r.step.Rows, row)
}

func of(group, op string) func(*metric.Row) {
	return func(row *metric.Row) { row.Group, row.Op = group, op }
}

func count(n int64) func(*metric.Row) { return func(row *metric.Row) { row.N = n } }

func source(s string) func(*metric.Row) { return func(row *metric.Row) { row.Source = s } }

func doubts(texts ...string) func(*metric.Row) {
	return func(row *metric.Row) {
		for _, text := range texts {
			row.Warnings = append(row.Warnings, metric.Untyped(text))
		}
	}
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
	r.step.Warnings = append(r.step.Warnings, metric.Untyped(fmt.Sprintf(text, args...)))
}

// cut marks a run that did not come to its end.
func (r *run) cut(reason string, args ...any) {
	r.step.Status = result.Partial
	r.reason = fmt.Sprintf(reason, args...)
}

// partial is in the warnings of numbers that are made of a part of a run.
const partial = "the log has no final figures: the number is made of the intervals that it has"

// slice is one interval of a group: units done in it, and its length.
type slice struct {
	end, length float64 // seconds
	units       float64
}

// addIntervals adds what the intervals of a group without a rate tell about its
// steadiness, by the rules that hold for measured runs. Intervals shorter than
// half the usual are no rate.
func (r *run) addIntervals(group string, slices []slice, rated bool, more ...func(*metric.Row)) {
	lengths := make([]float64, len(slices))
	units := make([]float64, len(slices))
	for i, s := range slices {
		lengths[i], units[i] = s.length, s.units
	}
	if len(slices) > 0 {
		r.interval = stat.Median(lengths)
	}
	for n := len(slices); n > 0 && slices[n-1].length < r.interval/2; n-- {
		slices, units = slices[:n-1], units[:n-1]
	}
	if stat.Median(units) < fewest && !rated || len(slices) == 0 {
		return // the percentiles would show the grain of the operations
	}
	rates := make([]float64, len(slices))
	for i, s := range slices {
		rates[i] = s.units / s.length
	}
	n := count(int64(len(rates)))
	at := append(more, of(group, ""), n)
	for _, p := range []float64{50, 95, 99} {
		if v, ok := stat.Reached(rates, p); ok {
			r.put(fmt.Sprintf("interval_ops_p%.0f", p), v, at...)
		}
	}
	if !rated {
		r.addStalls(group, slices, rates, at)
	}
}

// fewest is how many operations a usual interval must hold to tell of stalls.
const fewest = 3

func (r *run) addStalls(group string, slices []slice, rates []float64, at []func(*metric.Row)) {
	var total, longest float64
	stalls := stat.Stalls(rates)
	for _, s := range stalls {
		from := slices[s.From].end - slices[s.From].length
		to := slices[s.To-1].end
		total += to - from
		longest = max(longest, to-from)
		r.step.Stalls = append(r.step.Stalls, metric.Span{Group: group, From: from, To: to})
	}
	r.put("stalls", float64(len(stalls)), at...)
	r.put("stall_s", total, at...)
	r.put("stall_longest_s", longest, at...)
}

// addCosts divides figures by all denominators.
func (r *run) addCosts(figures []figure) {
	for _, d := range r.costs {
		if d.rate <= 0 {
			continue
		}
		for _, f := range figures {
			r.put(f.metric, f.perSecond/d.rate, count(d.n), source(f.source), doubts(f.doubts...), func(row *metric.Row) { row.Per = d.per })
		}
	}
}
