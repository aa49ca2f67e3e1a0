package progress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
)

// Sysbench is a progress display that prints a campaign's steps as sysbench prints
// its runs: a line for each interval while a step runs, and the figures at its
// end. The embedded Progress prints everything else.
type Sysbench struct {
	*Progress
	Out io.Writer
	Dir string // of the campaign
	// Interval is the length of an interval in seconds.
	Interval float64

	trial  result.Entry
	run    *published.SysbenchRun // the running step; nil: none
	series tail
	unread []result.Line // written, but of later than the last event: the trial is ahead of its events
	err    error
}

// Begin prints that a trial begins.
func (s *Sysbench) Begin(e result.Entry, at forecast.Place) {
	s.series.close()
	s.trial, s.run, s.unread = e, nil, nil
	s.series = tail{path: filepath.Join(result.TrialPath(s.Dir, e.Dir), result.SeriesFile)}
	s.Progress.Begin(e, at)
}

// Event prints the new intervals of the running step. It reads them from the file
// they were written to, so that it prints the same as for a finished result.
func (s *Sysbench) Event(e trial.Event) {
	switch {
	case s.series.path == "": // the client's calibration
	case e.Phase == trial.PhaseBegin && e.Is != nil:
		s.Progress.Clear()
		s.run = published.NewSysbenchRun(s.trial.Target, s.trial.Trial, s.Interval, e.Is)
		s.print(s.run.Head())
	case e.Phase == trial.PhaseRun:
		s.printIntervals(e.Step, e.Elapsed)
	case e.Phase == trial.PhaseEnd && e.Is != nil:
		s.printIntervals(e.Step, math.Inf(1))
		s.print(s.run.End(e.Is))
		s.run = nil
	case slices.Contains(passedOn, e.Phase):
		s.Progress.Event(e)
	}
}

// passedOn are the phases that are shown as in other campaigns.
var passedOn = []string{trial.PhaseSettle, trial.PhaseRestart, trial.PhaseProbed, trial.PhaseFound}

// End prints how a trial ended.
func (s *Sysbench) End(e result.Entry, t *result.Trial) {
	s.series.close()
	s.series = tail{}
	s.ends = math.MaxInt // the steps have been shown
	s.Progress.End(e, t)
}

// Err returns the first error in reading the measurements.
func (s *Sysbench) Err() error { return s.err }

// printIntervals prints the intervals of a step that had ended at an event, elapsed seconds after its start.
func (s *Sysbench) printIntervals(step string, elapsed float64) {
	err := s.series.read(func(l result.Line) { s.unread = append(s.unread, l) })
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("read the series of the running trial: %w", err)
	}
	s.unread = slices.DeleteFunc(s.unread, func(l result.Line) bool {
		due := l.Step == step && l.T-l.DT/2 < elapsed
		if due {
			s.print(s.run.Add(&l))
		}
		return due
	})
	s.print(s.run.Flush())
}

func (s *Sysbench) print(text string) { io.WriteString(s.Out, text) }

// maxSeries is more than a running trial writes between two calls.
const maxSeries = 64 << 20

// tail reads a series that is still being written, one complete line at a time.
type tail struct {
	path string
	f    *os.File
	rest []byte
}

// read reads the new lines of operations.
func (t *tail) read(yield func(result.Line)) error {
	if t.f == nil {
		f, err := regular.Open(t.path)
		if err != nil {
			return err
		}
		t.f = f
	}
	b, err := regular.ReadAll(t.f, maxSeries)
	if err != nil {
		return err
	}
	t.rest = append(t.rest, b...)
	for {
		line, remaining, complete := bytes.Cut(t.rest, []byte{'\n'})
		if !complete {
			return nil
		}
		t.rest = remaining
		if !bytes.Contains(line, []byte(`"src":"`+published.OpsSource+`"`)) {
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
