package published

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/result/layout"
	"rumbench/internal/text/quantity"
)

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
func (c *sysbenchCounts) add(more sysbenchCounts) {
	c.Events, c.Errors = c.Events+more.Events, c.Errors+more.Errors
	c.Reads, c.Writes, c.Others = c.Reads+more.Reads, c.Writes+more.Writes, c.Others+more.Others
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
