package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"rumbench/internal/layout"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/trial"
)

// Sysbench is a progress display that prints a campaign's steps as sysbench prints
// its runs: a line for each interval while a step runs, and the figures at its
// end. All else is said by the Progress beside it.
type Sysbench struct {
	*Progress
	Out io.Writer
	Dir string // of the campaign
	// Interval is the length of an interval in seconds.
	Interval float64

	trial  result.Entry
	run    *sysbenchRun // of the step that runs; nil: none
	series tail
	err    error
}

// Begin says that a trial begins.
func (s *Sysbench) Begin(e result.Entry, n, total int) {
	s.series.close()
	s.trial, s.run = e, nil
	s.series = tail{path: filepath.Join(result.TrialPath(s.Dir, e.Dir), result.SeriesFile)}
	s.Progress.Begin(e, n, total)
}

// Event prints what is new of the running step. It reads it where it was written
// to, so that it is the same as what is printed of a result.
func (s *Sysbench) Event(e trial.Event) {
	switch {
	case s.series.path == "": // the client's calibration
	case e.Phase == trial.PhaseBegin && e.Is != nil:
		s.Progress.Clear()
		s.run = newSysbenchRun(s.trial.Target, s.trial.Trial, s.Interval, e.Is)
		s.print(s.run.begin())
	case e.Phase == trial.PhaseRun:
		s.more()
	case e.Phase == trial.PhaseEnd && e.Is != nil:
		s.more()
		s.print(s.run.final(e.Is))
		s.run = nil
	case e.Phase == trial.PhaseSettle || e.Phase == trial.PhaseFound:
		s.Progress.Event(e)
	}
}

// End says how a trial ended.
func (s *Sysbench) End(e result.Entry, t *result.Trial) {
	s.series.close()
	s.series = tail{}
	s.told = math.MaxInt // the steps have been told of
	s.Progress.End(e, t)
}

// Err is the first error in reading what was measured.
func (s *Sysbench) Err() error { return s.err }

// more prints the intervals that have been written since the last time.
func (s *Sysbench) more() {
	err := s.series.read(func(l result.Line) { s.print(s.run.add(&l)) })
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("read the series of the running trial: %w", err)
	}
	s.print(s.run.flush())
}

func (s *Sysbench) print(text string) {
	if text != "" {
		fmt.Fprint(s.Out, text)
	}
}

// WriteSysbench prints steps of a trial as Sysbench does. Series streams the
// trial's series.
func WriteSysbench(w io.Writer, t *result.Trial, wanted func(step string) bool, series func(yield func(result.Line) error) error) error {
	byStep := map[string]*sysbenchRun{}
	lines := map[string]*bytes.Buffer{}
	for i := range t.Steps {
		if s := &t.Steps[i]; wanted(s.Name) {
			byStep[s.Name], lines[s.Name] = newSysbenchRun(t.Target, t.Trial, t.Interval, s), &bytes.Buffer{}
		}
	}
	err := series(func(l result.Line) error {
		if r := byStep[l.Step]; r != nil && l.Source == opsSource {
			lines[l.Step].WriteString(r.add(&l))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range t.Steps {
		if r := byStep[t.Steps[i].Name]; r != nil {
			if _, err := fmt.Fprint(w, lines[r.step.Name].String()+r.flush()+r.final(&t.Steps[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// opsSource is the source of the lines of a series that tell of operations.
const opsSource = "ops"

// sysbenchRun makes a step into a run of sysbench: of the clients that do what
// the step is about, each of whose operations is an event.
type sysbenchRun struct {
	step       *result.Step
	group      *result.Group
	about      func(op string) bool // tells whether the step is about operations of this kind
	head       string               // printed before all else
	interval   float64
	percentile int

	at            layout.SysbenchInterval
	dirty         bool // there is something in at
	kinds         int  // of operation, in at
	total         layout.SysbenchFinal
	done          []float64 // by each client
	counted, told bool
}

// newSysbenchRun is nil for a step that is about no operation.
func newSysbenchRun(target string, n int, interval float64, s *result.Step) *sysbenchRun {
	for i := range s.Groups {
		g := &s.Groups[i]
		about := func(op string) bool { return op == s.Primary || g.Of[op] == s.Primary || g.Name == s.Primary }
		if s.Primary == "" || !slices.ContainsFunc(g.Ops, about) {
			continue
		}
		tool := fmt.Sprintf("rumbench: step %q of %q, trial %d, as sysbench 1.0.20 prints it", s.Name, target, n)
		return &sysbenchRun{step: s, group: g, about: about, interval: interval, done: make([]float64, g.Clients),
			head: layout.SysbenchRun{Tool: tool, Threads: g.Clients, Rate: g.Rate, Interval: interval}.String()}
	}
	return nil
}

// add adds a line of the series, and returns what is to be printed of the
// intervals before.
func (r *sysbenchRun) add(l *result.Line) (text string) {
	if r == nil || l.Source != opsSource || l.Step != r.step.Name || l.Group != r.group.Name || l.Upkeep {
		return ""
	}
	if r.dirty && l.T != r.at.End {
		text = r.flush()
	}
	if !r.dirty {
		r.dirty, r.kinds = true, 0
		r.at = layout.SysbenchInterval{End: l.T, Seconds: l.DT, Threads: r.group.Clients, Percentile: 95, Latency: math.NaN()}
	}
	if q := l.Queue; q != nil {
		r.at.Paced, r.at.QueueLength, r.at.Concurrency = true, float64(q.Waiting), math.NaN()
		r.at.Shed += float64(q.Shed)
	}
	r.at.Errors += float64(l.Errors) // of the whole group: its first line has them
	for i, n := range l.Clients {
		if i < len(r.done) {
			r.done[i] += float64(n)
			r.told = true
		}
	}
	if r.about(l.Op) && l.Ops > 0 {
		r.at.Events += float64(l.Ops)
		r.at.Reads += float64(l.Reads)
		r.at.Writes += float64(l.Writes)
		r.at.Others += float64(l.Others)
		r.kinds++
		r.latency(l)
	}
	return text
}

// latency takes a line's percentile: sysbench's latency of an event that had to
// wait for its turn is the response time. Percentiles of several kinds of
// operation together are not known.
func (r *sysbenchRun) latency(l *result.Line) {
	us := l.P95
	if l.ResponseMx > 0 {
		us = l.ResponseP5
	}
	if us == 0 { // of a rumbench that did not write it
		r.at.Percentile = 99
		if us = l.P99; l.ResponseMx > 0 {
			us = l.ResponseP9
		}
	}
	r.percentile = r.at.Percentile
	if r.at.Latency = us / 1e3; r.kinds > 1 || us == 0 {
		r.at.Latency = math.NaN()
	}
}

// flush ends the interval, and returns its line. A rest at the end that is
// shorter than the others has none, as sysbench has it; it counts all the same.
func (r *sysbenchRun) flush() string {
	if r == nil || !r.dirty {
		return ""
	}
	r.dirty = false
	t := &r.total
	t.Events, t.Errors = t.Events+r.at.Events, t.Errors+r.at.Errors
	t.Reads, t.Writes, t.Others = t.Reads+r.at.Reads, t.Writes+r.at.Writes, t.Others+r.at.Others
	r.counted = true
	r.interval = max(r.interval, r.at.Seconds)
	if r.at.Seconds < 0.9*r.interval {
		return r.begin()
	}
	if r.at.Events > 0 && r.at.Reads+r.at.Writes+r.at.Others == 0 {
		r.at.Reads, r.at.Writes, r.at.Others = math.NaN(), math.NaN(), math.NaN() // not counted
	}
	return r.begin() + r.at.String()
}

// begin is the head, once.
func (r *sysbenchRun) begin() (head string) {
	if r == nil {
		return ""
	}
	head, r.head = r.head, ""
	return head
}

// final are the figures at the end of the step.
func (r *sysbenchRun) final(s *result.Step) string {
	if r == nil {
		return ""
	}
	unknown := math.NaN()
	f := r.total
	f.Seconds, f.Threads, f.Percentile = s.Seconds, r.group.Clients, cmp.Or(r.percentile, 95)
	if !r.counted {
		f.Events, f.Errors = unknown, unknown
	}
	if f.Events > 0 && f.Reads+f.Writes+f.Others == 0 || !r.counted {
		f.Reads, f.Writes, f.Others = unknown, unknown, unknown
	}
	find := func(name string) metric.Row {
		for i := range s.Rows {
			if row := &s.Rows[i]; row.Metric == name && row.Group == r.group.Name && row.Op == s.Primary {
				return *row
			}
		}
		return metric.Row{Value: unknown}
	}
	number := func(metric string) float64 { return find(metric).Value }
	measure := "service"
	if !math.IsNaN(number("response_max_us")) {
		measure = "response"
	}
	f.Min, f.Max = number(measure+"_min_us")/1e3, number(measure+"_max_us")/1e3
	f.Latency = number(fmt.Sprintf("%s_p%d_us", measure, f.Percentile)) / 1e3
	total := find(measure + "_total_s")
	f.Sum = total.Value * 1e3
	f.Avg = f.Sum / float64(total.N) // response times are also of operations that were not done
	f.EventsSD, f.BusySD = r.deviation(), unknown
	if f.Threads == 1 {
		f.BusySD = 0
	}
	if r.group.Open {
		about := func(name string) *metric.Row {
			for i := range s.Rows {
				if row := &s.Rows[i]; row.Metric == name && row.Group == r.group.Name {
					return row
				}
			}
			return &metric.Row{Value: unknown}
		}
		f.Arrivals = &layout.SysbenchArrivals{Offered: unknown, Shed: about("shed").Value, Abandoned: about("abandoned").Value}
		if offered := about("offered_per_s"); !math.IsNaN(offered.Value) {
			f.Arrivals.Offered = float64(offered.N)
		}
	}
	return r.begin() + f.String()
}

// deviation is the standard deviation of the clients' numbers of operations.
func (r *sysbenchRun) deviation() float64 {
	if !r.told {
		return math.NaN()
	}
	mean, squares := 0.0, 0.0
	for _, n := range r.done {
		mean += n / float64(len(r.done))
	}
	for _, n := range r.done {
		squares += (n - mean) * (n - mean)
	}
	return math.Sqrt(squares / float64(len(r.done)))
}

// tail reads a series that is being written, whole line by whole line.
type tail struct {
	path string
	f    *os.File
	rest []byte
}

// read reads the lines of operations that are new.
func (t *tail) read(yield func(result.Line)) error {
	if t.f == nil {
		f, err := os.Open(t.path)
		if err != nil {
			return err
		}
		t.f = f
	}
	b, err := io.ReadAll(t.f)
	if err != nil {
		return err
	}
	t.rest = append(t.rest, b...)
	for {
		line, rest, whole := bytes.Cut(t.rest, []byte{'\n'})
		if !whole {
			return nil
		}
		t.rest = rest
		if !bytes.Contains(line, []byte(`"src":"`+opsSource+`"`)) {
			continue
		}
		var l result.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		yield(l)
	}
}

func (t *tail) close() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}
