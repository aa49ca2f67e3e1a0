package importer

import (
	"fmt"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// run is one step of one trial, read from a log.
type run struct {
	outcome
	origin
	naming
	database
	workload string
	series   section
	plan     []param // the requested parameters
	params   map[string]string
	interval float64 // seconds; 0 is unknown
	cpus     int     // of the host; 0 is unknown
	// processes is the number of client processes, if several.
	processes int
	warnings  []metric.Warning
	host      observe.Facts
}

// outcome is what came out of a run.
type outcome struct {
	step   result.Step
	costs  []account.Denominator // units per second
	reason string                // why it is not complete
}

type origin struct {
	file *file
	tool string // with its version, if known
	// files are the files that the run was read from, next to their companions.
	files      []*file
	companions []string
	guesses    []string // assumptions
	dropped    []string // figures of the log that no metric takes
}

// database is the database that a run used; "" is unknown.
type database struct {
	engine  string
	version string
	storage string // its storage engine
}

// naming holds the parts that form the names of a run's target and step, and the
// number of its trial.
type naming struct {
	// byFile is the part of the step's name that comes from the file's name.
	byFile string
	// base is the step's name without the parts that distinguish runs of the same
	// test: the key pk, and the clients, 0 if unknown. It is "" if the step has a
	// name.
	base, pk string
	clients  int
	test     string // of the suite; "" if none
	target   string // if the log itself names it; else by its path
	home     string // the path that names the target; "" if the log does
	trial    int    // if the log itself gives it; 0: by its path
	client   int    // the number of the client process; 0: it is the only one
	numbered bool   // the number is a guess: nothing but the order of runs says it
}

// The operations that logs of several formats have: a transaction has one or more queries.
const (
	opOperation   = "operation"
	opQuery       = "query"
	opTransaction = "transaction"
	opNewOrder    = "new_order"
	opInsert      = "insert"
)

// groupClients is the name of the only group of clients, as in runs of rumbench.
const groupClients = "clients"

// param is a parameter that runs must share to be compared, with its origin.
type param struct {
	name, value string
	line        int // 0: from the file's name
}

func newRun(f *file, workload string) *run {
	return &run{outcome: outcome{step: result.Step{Status: result.Complete}}, origin: origin{file: f},
		workload: workload, params: map[string]string{}}
}

// build adds to the step the rows that f builds.
func (r *outcome) build(f func(*account.Builder)) {
	var b account.Builder
	f(&b)
	r.step.Take(&b.Sheet)
}

// put adds a row, unless its value is unknown.
func (r *outcome) put(name string, value float64, options ...account.With) {
	r.build(func(b *account.Builder) { b.Put(name, value, options...) })
}

// about sets the operations of the only group of clients, the first of which the step is about.
func (r *outcome) about(group string, clients int, ops ...string) {
	r.step.Primary, r.step.WritesPer = ops[0], ops[0]
	r.step.Groups = []result.Group{{Name: group, Clients: clients, Ops: ops}}
}

func (r *outcome) lasted(seconds float64) {
	r.step.Seconds = seconds
	r.put(metric.DurationS, seconds)
}

// per adds a denominator of costs: the rate of an operation, and its number, 0 if that is unknown.
func (r *outcome) per(op string, rate float64, n int64) {
	r.costs = append(r.costs, account.Denominator{Per: op, Units: rate, N: n})
}

func (r *outcome) rate(name string, n float64, options ...account.With) {
	r.build(func(b *account.Builder) { b.Rate(name, n, r.step.Seconds, options...) })
}

// work adds the number of operations on one row each, and their rate.
func (r *outcome) work(rows, rate float64, options ...account.With) {
	r.put(metric.Rows, rows, options...)
	r.addRates(rate, options...)
}

// addKind adds operations of a kind to those of the step's group.
func (r *outcome) addKind(op string, n int64, seconds float64, source string) {
	g := &r.step.Groups[0]
	g.Ops = append(g.Ops, op)
	r.work(float64(n), float64(n)/seconds, account.Of(g.Name, op), account.Count(n), account.Source(source))
}

// addRates adds the rate of operations on one row each.
func (r *outcome) addRates(rate float64, options ...account.With) {
	r.put(metric.OpsPerS, rate, options...)
	r.put(metric.RowsPerS, rate, options...)
}

// failures adds the number of operations that failed, if any did.
func (r *outcome) failures(name string, failed, tried int64) {
	if failed > 0 {
		r.put(metric.Errors, float64(failed), account.Of(groupClients, ""), account.Count(tried))
		r.warn("%d %s failed", failed, name)
	}
}

// noted returns a warning that only imported numbers have.
func noted(text string, args ...any) metric.Warning {
	return metric.Warn(remark.Imported, metric.Values{"what": fmt.Sprintf(text, args...)})
}

// warned returns the option that adds such warnings to a row.
func warned(texts ...string) account.With {
	var warnings []metric.Warning
	for _, text := range texts {
		warnings = append(warnings, noted("%s", text))
	}
	return account.Warned(warnings...)
}

// partial returns the warnings about the numbers of a run: they cover only a part
// of it if the log is cut off.
func (r *outcome) partial() []metric.Warning {
	if r.reason == "" {
		return nil
	}
	return []metric.Warning{metric.Warn(remark.PartialLog, nil)}
}

// ask records a parameter that runs of one step must share.
func (r *run) ask(line int, name, value string) {
	if value == "" {
		return
	}
	r.plan = slices.DeleteFunc(r.plan, func(p param) bool { return p.name == name }) // the last one counts
	r.plan = append(r.plan, param{name, value, line})
	r.params[name] = value
}

func (r *origin) guess(text string, args ...any) {
	r.guesses = append(r.guesses, fmt.Sprintf(text, args...))
}

// mostDropped is the greatest number of figures that are listed of a log.
const mostDropped = 20

// drop lists a figure of the log that no metric takes.
func (r *origin) drop(name string) { r.dropIf(true, name) }

func (r *origin) dropIf(condition bool, name string) {
	if name = clip(name); condition && len(r.dropped) < mostDropped && !slices.Contains(r.dropped, name) {
		r.dropped = append(r.dropped, name)
	}
}

// warn adds a warning to the step.
func (r *outcome) warn(text string, args ...any) { r.warnIf(true, text, args...) }

func (r *outcome) warnIf(condition bool, text string, args ...any) {
	if condition {
		r.step.Warnings = append(r.step.Warnings, noted(text, args...))
	}
}

// cut marks a run that is incomplete.
func (r *outcome) cut(reason string, args ...any) { r.cutIf(true, reason, args...) }

func (r *outcome) cutIf(condition bool, reason string, args ...any) {
	if condition {
		r.step.Status, r.reason = result.Partial, fmt.Sprintf(reason, args...)
	}
}

// note adds a note to the step.
func (r *outcome) note(text string, args ...any) { r.noteIf(true, text, args...) }

func (r *outcome) noteIf(condition bool, text string, args ...any) {
	if condition {
		r.step.Note(fmt.Sprintf(text, args...))
	}
}

// counted adds an interval of the group of clients to the series, and returns it.
func (r *run) counted(op string, end, length, n float64) account.Interval {
	return r.emitInterval(result.Line{T: end, DT: length, Group: groupClients, Op: op, Ops: int64(n)})
}

// emitInterval adds a line of operations to the series, and returns its interval.
func (r *run) emitInterval(l result.Line) account.Interval {
	l.Source = "ops"
	r.emit(l)
	return account.NewInterval(l.T, l.DT, float64(l.Ops))
}

// addIntervals adds the steadiness of a group by the rules for measured runs.
// Intervals shorter than half of the usual length do not count as rates.
func (r *run) addIntervals(group string, intervals []account.Interval, rated bool, options ...account.With) {
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
	r.build(func(b *account.Builder) {
		marks := b.Logged(group, intervals, rated, options...)
		for i := range r.step.Rows {
			if row := &r.step.Rows[i]; row.Group == group {
				row.Warnings = append(row.Warnings, marks...)
			}
		}
	})
}

// addCosts adds the figures divided by each denominator.
func (r *outcome) addCosts(figures []account.Cost) {
	for _, d := range r.costs {
		if d.Units > 0 {
			r.build(func(b *account.Builder) { b.Costs(figures, d) })
		}
	}
}

// section is the part of a spool with the lines of one run.
type section struct{ start, end int64 }

// emit adds a line, without a step, to the series.
func (r *run) emit(l result.Line) {
	s := r.file.spool
	if s == nil {
		return
	}
	if s.enc == nil {
		s.open()
	}
	if r.series.end == 0 {
		r.series.start = s.size
	}
	if s.err == nil {
		s.err = s.enc.Encode(&l)
	}
	r.series.end = s.size
}

func stepsOf(runs []*run) []string {
	names, _ := groups(runs, func(r *run) string { return r.step.Name })
	return names
}
