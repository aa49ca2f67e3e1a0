package trial

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/run/drive"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// write writes lines of the series. If that fails, the trial ends: most likely
// the disk is full.
func (t *trial) write(lines []result.Line) {
	if err := t.series.Write(lines...); err != nil {
		t.fail(err)
	}
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }

// onInterval writes the clients' work in an interval, and reports progress.
func (t *stepRun) onInterval(iv *drive.Interval) {
	step := t.step
	lines := make([]result.Line, 0, 4)
	length := (iv.To - iv.From).Seconds()
	e := Event{Step: step.Name, Phase: PhaseRun, Elapsed: iv.To.Seconds(), Expected: step.Planned(), CPU: t.live.cpu()}
	for g := range iv.Groups {
		group := &step.Groups[g]
		shown := EventGroup{Name: group.Name, Primary: group.Does(step.Primary), Errors: iv.Groups[g].Errors}
		if slices.ContainsFunc(iv.Groups[g].Clients, func(n int64) bool { return n > 0 }) {
			t.worked.Store(time.Now().UnixNano())
		}
		if shown.Primary && !group.Paced() {
			t.live.count(iv.Groups[g].Clients)
		}
		for k := range iv.Groups[g].Kinds {
			sums := &iv.Groups[g].Kinds[k]
			kind := &group.Ops[k]
			t.latency.add(step.Name, group.Name, kind.Name, sums)
			t.addMinute(iv.To, group, kind, sums)
			l := result.Line{Step: step.Name, Source: "ops", T: iv.To.Seconds(), DT: length,
				Group: group.Name, Op: kind.Name, Upkeep: kind.Upkeep, Event: kind.Event && sums.Ops > 0, Ops: sums.Ops,
				Rows:  sums.Rows,
				Reads: sums.Reads, Writes: sums.Writes, Others: sums.Others, Retries: sums.Retries, GivenUp: sums.GivenUp}
			if k == 0 {
				addGroup(&l, &iv.Groups[g])
			}
			if sums.Ops > 0 {
				addLatencies(&l, sums)
			}
			if !kind.Upkeep {
				shown.PerSec += float64(sums.Rows) / length
				shown.P99 = max(shown.P99, max(l.P99, l.ResponseP99))
				if l.Ops > 0 && l.Ops < metric.LeastSamples(99) {
					shown.Max = max(shown.Max, max(l.Max, l.ResponseMax))
				}
			}
			if sums.Attempts > 0 || !kind.Upkeep {
				lines = append(lines, l)
			}
		}
		for part, d := range iv.Groups[g].Parts {
			t.latency.merge(result.LatencyTag(step.Name, group.Name, group.Parts[part], "statement"), d)
		}
		e.Groups = append(e.Groups, shown)
	}
	t.write(lines)
	if iv.From > 0 && iv.To-iv.From < t.Plan.Interval/2 {
		return // the rest of a step's last operations: its rate would mislead
	}
	e.Stalled, e.Build = t.live.stalled, t.builds.progress()
	if s := t.sample.Load(); s != nil {
		e.Server, e.Written = s.server, s.written
	}
	t.Progress(e)
}

// addGroup adds the values of a whole group to a line.
func addGroup(l *result.Line, g *drive.GroupInterval) {
	l.Errors, l.Clients, l.OldestInFlight, l.Queue = g.Errors, slices.Clone(g.Clients), micros(int64(g.Oldest)), g.Queue
}

func addLatencies(l *result.Line, s *hist.Sums) {
	l.P50, l.P95, l.P99, l.Max = micros(s.Service.Percentile(50)), micros(s.Service.Percentile(95)),
		micros(s.Service.Percentile(99)), micros(s.Service.Max())
	if s.Response != nil {
		l.ResponseP95, l.ResponseP99, l.ResponseMax = micros(s.Response.Percentile(95)), micros(s.Response.Percentile(99)),
			micros(s.Response.Max())
	}
}

// liveFigures holds the figures of a step for the live display alone: rough,
// immediate figures.
type liveFigures struct {
	since   time.Time // of the last call of cpu
	used    time.Duration
	remote  float64 // processors that clients on other machines used in the last interval
	stalled int
}

func newLiveFigures() *liveFigures { return &liveFigures{since: time.Now(), used: observe.OwnCPU()} }

// cpu returns how many processors this process used since the last call.
func (p *liveFigures) cpu() float64 {
	instant, used := p.since, p.used
	p.since, p.used = time.Now(), observe.OwnCPU()
	return p.remote + float64(p.used-used)/float64(max(p.since.Sub(instant), 1))
}

// count counts an interval in which no client completed anything.
func (p *liveFigures) count(clients []int64) {
	if !slices.ContainsFunc(clients, func(n int64) bool { return n > 0 }) {
		p.stalled++
	}
}

// latencyEvery is the interval at which latencies are written to the log: a
// killed trial loses at most that much.
const latencyEvery = 30 * time.Second

// latencyLog collects distributions of the running step and periodically
// appends them to the latency log.
type latencyLog struct {
	f     *os.File
	log   *hist.Log
	since time.Time
	dists []taggedDist
	err   error
}

type taggedDist struct {
	tag string
	d   *hist.Dist
}

func createLatencyLog(dir string, base time.Time) (*latencyLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, result.LatencyFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &latencyLog{f: f, since: base}
	if l.log, err = hist.NewLog(f, base); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

func (l *latencyLog) add(step, group, op string, s *hist.Sums) {
	l.merge(result.LatencyTag(step, group, op, "service"), s.Service)
	l.merge(result.LatencyTag(step, group, op, "response"), s.Response)
	l.merge(result.LatencyTag(step, group, op, "lateness"), s.Lateness)
	l.merge(result.LatencyTag(step, group, op, "attempt"), s.Attempt)
	if time.Since(l.since) > latencyEvery {
		l.flush()
	}
}

func (l *latencyLog) merge(tag string, d *hist.Dist) {
	if d == nil || d.Count() == 0 {
		return
	}
	for i := range l.dists {
		if l.dists[i].tag == tag {
			l.dists[i].d.Merge(d)
			return
		}
	}
	dist := hist.NewDist()
	dist.Merge(d)
	l.dists = append(l.dists, taggedDist{tag, dist})
}

// logUndone adds the ages of a step's operations that were due and not done.
func (l *latencyLog) logUndone(step *workload.Step, groups []hist.Group) {
	for g := range groups {
		group := &step.Groups[g]
		l.merge(result.LatencyTag(step.Name, group.Name, account.UndoneAs(group), "response"), groups[g].Undone)
	}
}

// flush writes the latencies collected since the last flush.
func (l *latencyLog) flush() {
	if l == nil {
		return
	}
	now := time.Now()
	for _, d := range l.dists {
		if l.err == nil {
			l.err = l.log.Write(d.tag, l.since, now, d.d)
		}
	}
	l.since, l.dists = now, nil
}

// Written returns the number of bytes written so far. It is called by the
// goroutine that runs the step, while no interval is taken.
func (l *latencyLog) Written() int64 {
	if l == nil {
		return 0
	}
	offset, err := l.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return offset
}

// Close closes the file. It does nothing on a log that was never opened.
func (l *latencyLog) Close() error {
	if l == nil {
		return nil
	}
	return l.f.Close()
}
