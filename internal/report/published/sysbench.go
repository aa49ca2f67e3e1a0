package published

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/quantity"
)

// sysbenchGroup is the group of clients of the tests of workload sysbench.
const sysbenchGroup = "clients"

// OpsSource is the source of a series' lines about operations.
const OpsSource = "ops"

// WriteSysbench writes steps of a trial as sysbench prints its runs. Series
// streams the trial's series.
func WriteSysbench(w io.Writer, t *result.Trial, wanted func(step string) bool,
	series func(yield func(result.Line) error) error) error {
	runs := map[string]*SysbenchRun{}
	texts := map[string]*strings.Builder{}
	for i := range t.Steps {
		if s := &t.Steps[i]; wanted(s.Name) {
			runs[s.Name], texts[s.Name] = NewSysbenchRun(t.Target, t.Trial, t.Interval, s), &strings.Builder{}
		}
	}
	err := series(func(l result.Line) error {
		if r := runs[l.Step]; r != nil {
			texts[l.Step].WriteString(r.Add(&l))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if r := runs[s.Name]; r != nil {
			if _, err := io.WriteString(w, texts[s.Name].String()+r.Flush()+r.End(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// SysbenchRun converts a step to a run of sysbench: of the group with the
// primary operation, each operation being an event. It is nil for a step
// without a primary operation; then nothing is printed.
type SysbenchRun struct {
	step       *result.Step
	group      *result.Group
	about      func(op string) bool // reports whether an operation kind is the primary one or a variant of it
	head       string               // printed before all else
	interval   float64
	percentile int

	at       sysbenchInterval
	dirty    bool // at is not empty
	kinds    int  // operation kinds in at
	total    sysbenchCounts
	counted  bool      // total is not empty
	byClient []float64 // events
	clients  bool      // byClient is known
}

// NewSysbenchRun begins the n-th trial's run of a step; of a running step only
// its groups need to be known.
func NewSysbenchRun(target string, n int, interval float64, s *result.Step) *SysbenchRun {
	for i := range s.Groups {
		g := &s.Groups[i]
		about := func(op string) bool { return op == s.Primary || g.Of[op] == s.Primary || g.Name == s.Primary }
		if s.Primary == "" || !slices.ContainsFunc(g.Ops, about) {
			continue
		}
		tool := fmt.Sprintf("rumbench: step %q of %q, trial %d,", s.Name, target, n)
		if g.Name != sysbenchGroup || s.Primary != opQuery && s.Primary != opTransaction {
			tool += fmt.Sprintf(" operation %q of %q,", s.Primary, g.Name) // it is no event of sysbench
		}
		tool += " as sysbench 1.0.20 prints it"
		return &SysbenchRun{step: s, group: g, about: about, interval: interval, byClient: make([]float64, g.Clients),
			head: sysbenchHead(tool, g.Clients, g.Rate, interval)}
	}
	return nil
}

// Add adds a line of the series, and returns the text of completed intervals.
func (r *SysbenchRun) Add(l *result.Line) (text string) {
	if r == nil || l.Source != OpsSource || l.Step != r.step.Name || l.Group != r.group.Name || l.Upkeep {
		return ""
	}
	if r.dirty && l.T != r.at.End {
		text = r.Flush()
	}
	if !r.dirty {
		r.dirty, r.kinds = true, 0
		r.at = sysbenchInterval{End: l.T, Seconds: l.DT, Threads: r.group.Clients, Percentile: 95, Latency: math.NaN()}
	}
	if q := l.Queue; q != nil {
		r.at.Paced, r.at.QueueLength = true, float64(q.Waiting)
		r.at.Shed += float64(q.Shed)
	}
	r.at.Errors += float64(l.Errors) // of the whole group, in its first line
	for i, n := range l.Clients {
		if i < len(r.byClient) {
			r.byClient[i] += float64(n)
			r.clients = true
		}
	}
	if r.about(l.Op) && l.Ops > 0 {
		r.at.add(sysbenchCounts{Events: float64(l.Ops), Reads: float64(l.Reads), Writes: float64(l.Writes),
			Others: float64(l.Others)})
		r.kinds++
		r.latency(l)
	}
	return text
}

// latency takes a line's percentile: sysbench's latency of an event that waited
// in its queue is the response time. Percentiles over several operation kinds
// are unknown.
func (r *SysbenchRun) latency(l *result.Line) {
	us := l.P95
	if l.ResponseMax > 0 {
		us = l.ResponseP95
	}
	r.percentile = r.at.Percentile
	if r.at.Latency = us / 1e3; r.kinds > 1 || us == 0 {
		r.at.Latency = math.NaN()
	}
}

// Flush ends the interval and returns its line. A shorter last interval has no
// line, as in sysbench, but is counted.
func (r *SysbenchRun) Flush() string {
	if r == nil || !r.dirty {
		return ""
	}
	r.dirty, r.counted = false, true
	r.total.add(r.at.sysbenchCounts)
	r.interval = max(r.interval, r.at.Seconds)
	if r.at.Seconds < 0.9*r.interval {
		return r.Head()
	}
	r.at.sysbenchCounts = r.at.known()
	return r.Head() + r.at.String()
}

// Head returns the heading on the first call, later "".
func (r *SysbenchRun) Head() (head string) {
	if r == nil {
		return ""
	}
	head, r.head = r.head, ""
	return head
}

// End returns the figures at the end of the step.
func (r *SysbenchRun) End(s *result.Step) string {
	if r == nil {
		return ""
	}
	unknown := math.NaN()
	f := sysbenchFinal{sysbenchCounts: r.total.known(), Seconds: s.Seconds, Threads: r.group.Clients,
		Percentile: cmp.Or(r.percentile, 95)}
	if !r.counted {
		f.sysbenchCounts = sysbenchCounts{Events: unknown, Errors: unknown, Reads: unknown, Writes: unknown, Others: unknown}
	}
	// row returns a number of the group; op is "" for any kind of operation.
	row := func(metric, op string) (value float64, n int64) {
		for i := range s.Rows {
			if is := &s.Rows[i]; is.Metric == metric && is.Group == r.group.Name && (op == "" || is.Op == op) {
				return is.Value, is.N
			}
		}
		return unknown, 0
	}
	ms := func(metric string) float64 { us, _ := row(metric, s.Primary); return us / 1e3 }
	measure := "service"
	if !math.IsNaN(ms(metric.ResponseMaxUS)) {
		measure = "response"
	}
	f.Min, f.Max = ms(measure+"_min_us"), ms(measure+"_max_us")
	f.Latency = ms(fmt.Sprintf("%s_p%d_us", measure, f.Percentile))
	total, n := row(measure+"_total_s", s.Primary)
	f.Sum = total * 1e3
	f.Avg = f.Sum / float64(n) // response times include operations that were not done
	f.EventsSD, f.BusySD = r.deviation(), unknown
	if f.Threads == 1 {
		f.BusySD = 0
	}
	if rows, ops := row("rows", s.Primary); rows != float64(ops) {
		f.Rows = rows
	}
	if r.group.Open {
		f.Arrivals = &sysbenchArrivals{Offered: unknown}
		f.Arrivals.Shed, _ = row("shed", "")
		f.Arrivals.Abandoned, _ = row("abandoned", "")
		if rate, n := row(metric.OfferedPerS, ""); !math.IsNaN(rate) {
			f.Arrivals.Offered = float64(n)
		}
	}
	return r.Head() + f.String()
}

// deviation returns the standard deviation of the clients' numbers of operations: of
// all of them, not of a sample.
func (r *SysbenchRun) deviation() float64 {
	if !r.clients {
		return math.NaN()
	}
	mean, squares := 0.0, 0.0
	for _, n := range r.byClient {
		mean += n / float64(len(r.byClient))
	}
	for _, n := range r.byClient {
		squares += (n - mean) * (n - mean)
	}
	return math.Sqrt(squares / float64(len(r.byClient)))
}

// sysbenchHead returns the heading of sysbench's output, as release 1.0.20 prints it:
// the program, the clients, the events per second that arrive, 0 for a closed loop,
// and the seconds from line to line.
func sysbenchHead(tool string, threads int, rate, interval float64) string {
	head := fmt.Sprintf("%s\n\nRunning the test with following options:\nNumber of threads: %d\n", tool, threads)
	if rate > 0 {
		head += fmt.Sprintf("Target transaction rate: %.0f/sec\n", rate)
	}
	if interval > 0 {
		head += fmt.Sprintf("Report intermediate results every %g second(s)\n", interval)
	}
	return head + "\n\nInitializing worker threads...\n\nThreads started!\n\n"
}

// sysbenchCounts are the completed events and statements; NaN is unknown, which
// sysbench itself would print as 0.00.
type sysbenchCounts struct {
	Events                float64 // completed
	Reads, Writes, Others float64 // statements
	Errors                float64
}

// add adds further counts.
func (c *sysbenchCounts) add(extra sysbenchCounts) {
	c.Events, c.Errors = c.Events+extra.Events, c.Errors+extra.Errors
	c.Reads, c.Writes, c.Others = c.Reads+extra.Reads, c.Writes+extra.Writes, c.Others+extra.Others
}

// known returns the counts with statements unknown if there are events but no
// statements: then they were not counted.
func (c sysbenchCounts) known() sysbenchCounts {
	if c.Events > 0 && c.queries() == 0 {
		c.Reads, c.Writes, c.Others = math.NaN(), math.NaN(), math.NaN()
	}
	return c
}

func (c sysbenchCounts) queries() float64 { return c.Reads + c.Writes + c.Others }

// sysbenchInterval is an interval of a run.
type sysbenchInterval struct {
	sysbenchCounts
	End, Seconds float64 // since the start, and long
	Threads      int
	Percentile   int
	Latency      float64 // ms, at the percentile
	Paced        bool    // there is a queue
	QueueLength  float64 // events waiting; how many are being executed is unknown
	Shed         float64 // events dropped because too many waited
}

// String returns the line of the interval, with a second one if events have a
// queue, and a third, unknown to sysbench, if events were shed. Rates are per
// second.
func (i sysbenchInterval) String() string {
	at := fmt.Sprintf("[ %.0fs ]", i.End)
	if i.End != math.Round(i.End) && i.Seconds < 0.95 { // sysbench prints whole seconds only
		at = fmt.Sprintf("[ %.2fs ]", i.End)
	}
	rate := func(n float64) string { return figure(n/i.Seconds, 2) }
	line := fmt.Sprintf("%s thds: %d tps: %s qps: %s (r/w/o: %s/%s/%s) lat (ms,%d%%): %s err/s: %s reconn/s: 0.00\n", at,
		i.Threads, rate(i.Events),
		rate(i.queries()), rate(i.Reads), rate(i.Writes), rate(i.Others), i.Percentile, figure(i.Latency, 2), rate(i.Errors))
	if i.Paced {
		line += fmt.Sprintf("%s queue length: %s, concurrency: -\n", at, figure(i.QueueLength, 0))
	}
	if i.Shed > 0 {
		line += fmt.Sprintf("%s shed: %s\n", at, figure(i.Shed, 0))
	}
	return line
}

// sysbenchFinal are the figures at the end of a run; NaN is unknown.
type sysbenchFinal struct {
	sysbenchCounts
	Seconds            float64
	Min, Avg, Max, Sum float64 // of latencies, ms
	Percentile         int
	Latency            float64 // ms, at the percentile
	Threads            int
	EventsSD           float64 // standard deviation over the threads
	BusySD             float64 // the same for the seconds that each was busy
	// of the events, if these are not of one row each; else 0. sysbench does not print them
	Rows     float64
	Arrivals *sysbenchArrivals // nil: a closed loop
}

// sysbenchArrivals is the outcome of events that arrive by a schedule; sysbench does not
// print it. NaN is unknown.
type sysbenchArrivals struct{ Offered, Shed, Abandoned float64 }

func (f sysbenchFinal) String() string {
	var b strings.Builder
	count := func(name string, n float64) { fmt.Fprintf(&b, "        %-33s%s\n", name+":", figure(n, 0)) }
	rate := func(name string, n float64) {
		fmt.Fprintf(&b, "    %-37s%-6s (%s per sec.)\n", name+":", figure(n, 0), figure(n/f.Seconds, 2))
	}
	latency := func(name string, ms float64) { fmt.Fprintf(&b, "         %-34s%10s\n", name+":", figure(ms, 2)) }
	b.WriteString("SQL statistics:\n    queries performed:\n")
	count("read", f.Reads)
	count("write", f.Writes)
	count("other", f.Others)
	count("total", f.queries())
	rate("transactions", f.Events)
	rate("queries", f.queries())
	rate("ignored errors", f.Errors)
	rate("reconnects", 0)
	b.WriteString("\nGeneral statistics:\n")
	fmt.Fprintf(&b, "    total time:                          %.4fs\n", f.Seconds)
	fmt.Fprintf(&b, "    total number of events:              %s\n", figure(f.Events, 0))
	b.WriteString("\nLatency (ms):\n")
	latency("min", f.Min)
	latency("avg", f.Avg)
	latency("max", f.Max)
	fmt.Fprintf(&b, "        %3dth percentile:                  %10s\n", f.Percentile, figure(f.Latency, 2))
	latency("sum", f.Sum)
	threads := float64(f.Threads)
	fmt.Fprintf(&b, "\nThreads fairness:\n    events (avg/stddev):           %s/%s\n    execution time (avg/stddev):   "+
		"%s/%s\n\n", figure(f.Events/threads, 4), figure(f.EventsSD, 2), figure(f.Sum/1e3/threads, 4), figure(f.BusySD, 2))
	if f.Rows > 0 {
		b.WriteString("Rows (rumbench):\n")
		rate("rows", f.Rows)
		b.WriteString("\n")
	}
	if a := f.Arrivals; a != nil {
		b.WriteString("Arrivals (rumbench):\n")
		rate("offered", a.Offered)
		rate("shed", a.Shed)
		rate("not done at the end", a.Abandoned)
		b.WriteString("\n")
	}
	return b.String()
}

// figure returns a number with the given decimals, or - if it is unknown: 0 would be a
// number.
func figure(v float64, decimals int) string {
	if !quantity.Finite(v) {
		return "-"
	}
	return layout.Fixed(v, decimals).Text
}
