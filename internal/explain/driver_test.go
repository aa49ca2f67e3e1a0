package explain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

func counter(name string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) {
		s.Counters = append(s.Counters, observe.Change{Name: name, Kind: engine.Counter, Value: v * queries})
	}
}

func kilobytes(name string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) { counter(name)(s, v*1024) }
}

func row(name, op, per string) func(*result.Step, float64) {
	return func(s *result.Step, v float64) {
		s.Rows = append(s.Rows, metric.Row{Step: "read", Op: op, Metric: name, Per: per, Value: v, N: queries, Unit: metric.ByName(name).Unit})
	}
}

// driver is a count, and an item that it drives.
type driver struct {
	says   string // by which its sentences are known
	device bool   // other programs may be in it
	item   string // a subsystem, or “commit”
	set    func(s *result.Step, v float64)
}

var drivers = []driver{
	{"text log grows", false, "text log", kilobytes(account.GrownBytes(engine.MessageFile))},
	{"binary log grows", false, "log", kilobytes(account.GrownBytes(engine.BinlogFile))},
	{"connections", false, "network", counter(engine.Connects)},
	{"it prepares", false, "parse and plan", counter(engine.Prepares)},
	{"sorts or temporary tables", false, "kernel: file system", counter(engine.Spills)},
	{"waits for rows", false, "row locks", counter(engine.LockWaits)},
	{"attempts are repeated", false, "row locks", func(s *result.Step, v float64) { row("retries", "query", "")(s, v*queries) }},
	{"it executes", false, "network", func(s *result.Step, v float64) { row("queries_per_s", "query", "")(s, v*queries/s.Seconds) }},
	{"it commits", false, "transactions", counter(engine.Commits)},
	{"compactions write", false, "compaction", kilobytes(engine.CompactedBytes)},
	{"flushes write", false, "flush", kilobytes(engine.FlushBytes)},
	{"it syncs its log", false, "commit", counter(engine.LogSyncs)},
	{"it looks up", false, "index search", counter(engine.CacheLookups)},
	{"its commits write", false, "page allocation", counter(engine.PageWrites)},
	{"entries of deleted", false, "index search", counter(engine.DeadEntries)},
	{"besides what changed", false, "page allocation", func(s *result.Step, v float64) {
		s.Structure.Commit = 1024
		counter(engine.WriteCommits)(s, v)
	}},
	{"it logs", false, "log", kilobytes(engine.LogBytes)},
	{"whole pages take", false, "log", kilobytes(engine.FullPageBytes)},
	{"are in progress", false, "latches", func(s *result.Step, v float64) {
		s.Groups = append(s.Groups, result.Group{Name: "beside", Clients: 1, Rate: 10, Ops: []string{"other"}, Units: map[string]string{"other": "operation"}})
		s.Rows = append(s.Rows, metric.Row{Step: "read", Group: "beside", Op: "other", Metric: "service_total_s", Value: v * s.Seconds, N: 10, Unit: "s"})
	}},
	{"it examines", false, "row format", row("rows_examined", "", "query")},
	{"cache misses", false, "kernel: page copy", row("cache_misses", "", "query")},
	{"old row versions", false, "transactions", func(s *result.Step, v float64) {
		s.Counters = append(s.Counters, observe.Change{Name: engine.DeadRows, Kind: engine.Gauge, Value: v})
	}},
	{"device flushes", true, "commit", counter("device.flushes")},
	{"a request to the device", true, "commit", func(s *result.Step, v float64) {
		counter("device.read_ns")(s, v*1e3)
		counter("device.reads")(s, 1)
		counter("device.writes")(s, 0)
		counter("device.write_ns")(s, 0)
	}},
}

// grown returns the trials of two targets of which b takes three times as much of an item, where each query does factor
// times as many of a driver; a change may be made to the steps of a.
func grown(d *driver, factor float64, change func(*result.Step)) (trials []*result.Trial) {
	r := rand.New(rand.NewPCG(1, 7))
	for n := range 4 {
		for side, times := range []float64{1, 3} {
			s := usual()
			s.server, s.sampled = 150, map[string]float64{"execution": 100}
			if d.item == "commit" {
				s.commit, s.in, s.idle = 40*times, 160, 50+40*times
			} else {
				s.server = 100 + 50*times
				s.in = s.server + 20
				s.sampled[d.item] = 50 * times
			}
			for _, v := range []*float64{&s.server, &s.commit, &s.idle} {
				*v *= math.Exp(0.005 * r.NormFloat64())
			}
			tr := s.trial([]string{"a", "b"}[side], n+1)
			step := &tr.Steps[1]
			step.Counters = step.Counters[:len(step.Counters)-1] // its flushes are a driver
			v := 4 * math.Exp(0.005*r.NormFloat64())
			if side == 1 {
				v *= factor
			}
			d.set(step, v)
			if side == 0 && change != nil {
				change(step)
			}
			trials = append(trials, tr)
		}
	}
	return trials
}

// A count is the reason of an item if it moved by as much, and goes with it if it moved in its direction; never if it is
// unknown on a side, equal, moved the other way, or may be other programs'.
func TestDrivers(t *testing.T) {
	for i := range drivers {
		d := &drivers[i]
		for name, c := range map[string]struct {
			factor        float64
			change        func(*result.Step)
			reason, along bool
		}{
			"as much": {2.5, nil, true, true}, "half": {1.6, nil, true, true}, "a little": {1.2, nil, false, true},
			"too much": {60, nil, false, true}, "equal": {1, nil, false, false}, "the other way": {0.4, nil, false, false},
			"unknown": {3, func(s *result.Step) {
				fresh := usual().trial("a", 1).Steps[1]
				s.Counters, s.Structure = s.Counters[:len(fresh.Counters)-1], fresh.Structure
				s.Groups = s.Groups[:1]
				s.Rows = slices.DeleteFunc(s.Rows, func(r metric.Row) bool {
					return slices.Contains([]string{"retries", "queries_per_s", "rows_examined", "cache_misses"}, r.Metric)
				})
			}, false, false},
			"disturbed": {3, func(s *result.Step) { s.Find("write_kb", "", "").Disturbed = true }, !d.device, !d.device},
		} {
			if name == "unknown" && d.says == "attempts are repeated" {
				continue // none is recorded where nothing failed
			}
			text := said(explainedOf(grown(d, c.factor, c.change)))
			expect.Equal(t, strings.Contains(text, d.says), c.along, d.says, name, text)
			reason := false
			for _, r := range explainedOf(grown(d, c.factor, c.change)).Records() {
				reason = reason || r.Proven && strings.Contains(r.Sentence, ", because ") && strings.Contains(r.Sentence, d.says)
			}
			expect.Equal(t, reason, c.reason, "a reason", d.says, name, text)
		}
	}
}

// said returns all that is said of two targets.
func said(e *explain.Explanation) string {
	var text strings.Builder
	for _, r := range e.Records() {
		if r.Proven || r.Metric == "" {
			fmt.Fprintln(&text, r.Sentence)
		}
	}
	groups, _ := e.Paragraphs()
	for _, p := range groups {
		for _, l := range p.Lines {
			fmt.Fprintln(&text, l.Causes)
		}
	}
	return text.String()
}

// Of KB written that are lower bounds it says that they are not compared, and what is known of them.
func TestLowerBoundsAreSaid(t *testing.T) {
	base := state{server: 100, idle: 20, commit: 50, in: 80, pages: 5, twice: 5, redo: 1}
	for _, bound := range []bool{true, false} {
		more := base
		more.pages = 40
		trials := noisy(base, more, 4, 3, 0.01)
		for _, tr := range trials {
			row("deferred_kb", "", "query")(&tr.Steps[1], 0.5)
			tr.Steps[1].Find("write_kb", "", "").AtLeast = bound
		}
		text := said(explainedOf(trials))
		expect.Equal(t, strings.Contains(text, "the KB written are not compared, as more writes follow the step: "), bound, text)
		expect.True(t, !(bound && !strings.Contains(text, " KB per query and deferred 0.500 KB")), text)
		for _, tr := range trials { // other programs used the device: the KB of the processes replace its own
			step := &tr.Steps[1]
			row("process_write_kb", "", "query")(step, step.Find("write_kb", "", "").Value)
			step.Rows[len(step.Rows)-1].AtLeast = bound
			step.Find("write_kb", "", "").Disturbed = true
		}
		if text := said(explainedOf(trials)); strings.Contains(text, "NaN") || bound && !strings.Contains(text, " KB per query and") {
			t.Error(text)
		}
	}
}

// held returns trials of two targets of servers, whose sessions sleep less than samples say: of b each query waits 300 µs
// more, for a processor or asleep.
func held(queue, asleep float64, change func(tr *result.Trial, step *result.Step, b float64)) string {
	var trials []*result.Trial
	r := rand.New(rand.NewPCG(3, 3))
	for n := range 4 {
		for side, name := range []string{"a", "b"} {
			s, b := usual(), float64(side)
			s.commit, s.idle = 0, 20+150*b
			for _, v := range []*float64{&s.server, &s.in} {
				*v *= math.Exp(0.01 * r.NormFloat64())
			}
			tr := s.trial(name, n+1)
			step := &tr.Steps[1]
			row("thread_us", account.ThreadCPU, "query")(step, 95)
			row("thread_us", account.ThreadQueue, "query")(step, 40+queue*b)
			change(tr, step, b+asleep*b)
			trials = append(trials, tr)
		}
	}
	return said(explainedOf(trials))
}

// Sessions that are ready to run, and cannot, look as if they waited for their clients: the kernel's account of their
// threads counts. Under a quota that is the reason.
func TestThrottled(t *testing.T) {
	text := held(300, 0, func(_ *result.Trial, step *result.Step, b float64) {
		counter("process.throttled_ns")(step, 150e3*b) // of two processors, which four sessions wait for
	})
	expect.All(t, text, "Because a quota keeps sessions off the processors for 300 µs instead of 0 µs", "sessions wait 340 µs instead of 40.0 µs for a processor")
	expect.True(t, !strings.Contains(text, "for their clients"), text)
}

// A round trip without load that takes as much longer as clients do is the reason.
func TestRoundTrips(t *testing.T) {
	for name, c := range map[string]struct {
		more   float64
		reason bool
	}{"as much": {250, true}, "little": {20, false}} {
		text := held(0, 1, func(tr *result.Trial, step *result.Step, b float64) {
			tr.RoundTrip = 30 + c.more*min(b, 1)
			row("queries_per_s", "query", "")(step, queries/step.Seconds)
		})
		expect.Equal(t, strings.Contains(text, "Because round trips take"), c.reason, name, text)
		expect.Contains(t, text, "for their clients")
	}
}

// Reads that a limit holds up before the device gets them are seen by the processors that wait for them.
func TestHeldUp(t *testing.T) {
	var trials []*result.Trial
	for n := range 4 {
		for side, name := range []string{"a", "b"} {
			s, b := usual(), float64(side)
			s.commit, s.in, s.idle = 0, 120+600*b+float64(n), 20+320*b+float64(n)
			tr := s.trial(name, n+1)
			step := &tr.Steps[1]
			counter("device.reads")(step, 1)
			counter("device.read_ns")(step, 10e3)
			counter("device.writes")(step, 0)
			counter("host.cpu.iowait_ns")(step, 300e3*b)
			row("cache_misses", "", "query")(step, 1)
			trials = append(trials, tr)
		}
	}
	expect.Contains(t, said(explainedOf(trials)), "reads of the device take 291 µs instead of 10.0 µs")
}

// What happens once in a hundred units is not the reason of much CPU, however much its count moved.
func TestRareCounts(t *testing.T) {
	d := drivers[slices.IndexFunc(drivers, func(d driver) bool { return d.says == "cache misses" })]
	set := d.set
	for each, reason := range map[float64]bool{1: true, 1. / 400: false} {
		d.set = func(s *result.Step, v float64) { set(s, v*each) }
		text := said(explainedOf(grown(&d, 3, nil)))
		expect.Equal(t, strings.Contains(text, "Because its cache misses"), reason, each, text)
	}
}
