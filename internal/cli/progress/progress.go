// Package progress shows the progress of a campaign: lines redrawn in place on a
// terminal, plain lines elsewhere. It decides nothing.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// Progress prints the progress of a campaign. On a terminal the state of the running
// step is one line that is redrawn; elsewhere it is a line every Every. A step that
// has ended is shown at once.
type Progress struct {
	Out io.Writer
	// Width is the terminal's width in characters; 0 means that Out is no terminal.
	Width func() int
	// Every is the interval at which a running step is shown if there is no terminal.
	Every time.Duration

	mu        sync.Mutex
	drawn     bool
	form      int  // of the redrawn line, see fit
	runs      bool // a trial runs
	at        position
	ends      int             // steps of the trial whose end was shown
	began     time.Time       // the trial
	since     time.Time       // the step, including the probes that follow it, has been running
	lastShown time.Time       // the last line of a running step, if there is no terminal
	shown     map[string]bool // kinds of remarks already shown
	now       func() time.Time
}

// New returns a progress display. It draws on the writer behind a plain.Writer, and
// escapes the texts itself.
func New(out io.Writer, width func() int) *Progress {
	return &Progress{Out: escape.Raw(out), Width: width, Every: 10 * time.Second, shown: map[string]bool{}, now: time.Now}
}

// Begin prints that a trial begins.
func (p *Progress) Begin(e result.Entry, at forecast.Place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.ends = true, 0
	p.at = position{Place: at, target: e.Target, part: -1}
	p.began = p.now()
	p.since = p.began
	p.println(fmt.Sprintf("[%d/%d] %s", at.Number, at.Of, e.Dir))
	if p.width() > 0 {
		p.draw(p.line(single(weightStep, "starting")))
	}
}

func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = false
	p.println(text)
}

// Event shows the progress of the running step.
func (p *Progress) Event(e trial.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.runs: // the client's calibration
		return
	case e.Phase == trial.PhaseEnd && e.Is != nil:
		p.println(p.stepLine(e.Is))
		p.ends++
		return
	case e.Phase == trial.PhaseProbed && e.Is != nil && len(e.Is.Notes) > 0:
		p.println("  " + e.Is.Notes[len(e.Is.Notes)-1].Text)
		return
	case e.Phase == trial.PhaseFound:
		p.println(FoundLine(e.Is))
		return
	}
	// The steps of a duet do not announce their beginning.
	begins := e.Step != p.at.step || e.Phase == trial.PhaseBegin
	if begins {
		p.enter(e.Step)
	}
	rests := (e.Phase == trial.PhaseSettle || e.Phase == trial.PhaseRestart) && p.at.phase != e.Phase
	p.at.phase, p.at.late = e.Phase, overruns(&e)
	switch {
	case p.width() > 0:
		p.draw(p.line(p.at.pieces(&e)...))
	case e.Phase == trial.PhaseBegin:
		p.lastShown = p.now()
	case begins || rests || e.Phase == trial.PhaseRun && p.now().Sub(p.lastShown) >= p.Every:
		p.lastShown = p.now()
		p.println(p.line(p.at.pieces(&e)...))
	}
}

// enter records that a step begins.
func (p *Progress) enter(step string) {
	part := p.at.Trial.Part(step)
	if part != p.at.part {
		p.since, p.at.probe = p.now(), 0
	}
	if part >= 0 && p.at.Trial.Parts[part].Name != step {
		p.at.probe++
	}
	p.at.step, p.at.part = step, part
}

// line returns the line of a running step: the position in the campaign, the remaining
// time, and more. If the remaining time is unknown, the line shows the step's elapsed
// time instead.
func (p *Progress) line(extra ...piece) string {
	pieces := []piece{p.at.trial()}
	remaining := forecast.AtLeast(0)
	switch {
	case p.at.step == "":
		remaining = p.at.Left(-1, p.now().Sub(p.began))
	case p.at.part >= 0:
		remaining = p.at.Left(p.at.part, p.now().Sub(p.since))
	}
	if p.at.step != "" {
		pieces = append(pieces, p.at.stepPiece())
	}
	if left, found := leftPiece(remaining); found && !p.at.late {
		extra = slices.DeleteFunc(extra, func(o piece) bool { return o.weight == weightTime })
		pieces = append(pieces, left)
	}
	if p.width() == 0 {
		return "  " + fit(append(pieces, extra...), 0, new(int))
	}
	return fit(append(pieces, extra...), min(p.width()-1, maxLineWidth), &p.form)
}

// End prints how a trial ended, with a line for every step whose end was not shown.
func (p *Progress) End(e result.Entry, t *result.Trial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t == nil {
		p.println("  no result")
		return
	}
	for i := min(p.ends, len(t.Steps)); i < len(t.Steps); i++ {
		p.println(p.stepLine(&t.Steps[i]))
	}
	took := p.now().Sub(p.began)
	if t.Machine != "" && t.Ended != nil { // it is shown when it is over
		took = t.Ended.Sub(t.Started)
	}
	line := fmt.Sprintf("  %s in %v", t.Status, took.Round(100*time.Millisecond))
	if n := countRemarked(t.Steps); n > 0 {
		line += fmt.Sprintf(", with remarks on %d of %s", n, quantity.Count(len(t.Steps), "step"))
	}
	if t.Reason != "" {
		line += ": " + t.Reason
	}
	p.println(line)
	if t.Hint != "" {
		p.println("  hint: " + t.Hint)
	}
}

// Clear removes the line that is redrawn.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Progress) width() int {
	if p.Width == nil {
		return 0
	}
	return p.Width()
}

func (p *Progress) draw(line string) {
	fmt.Fprint(p.Out, "\r\x1b[2K"+escape.Line(line))
	p.drawn = true
}

func (p *Progress) clear() {
	if p.drawn {
		fmt.Fprint(p.Out, "\r\x1b[2K")
		p.drawn = false
	}
}

func (p *Progress) println(line string) {
	p.clear()
	fmt.Fprintln(p.Out, escape.Text(line))
}

// stepLine sums up a step that has ended. A second line shows the weightiest remark of
// a kind not shown before: later steps' remarks of that kind are in the report.
func (p *Progress) stepLine(s *result.Step) string {
	line := fmt.Sprintf("  %-8s %7.1f s", s.Name, s.Seconds)
	if r := s.Find(metric.RowsPerS, s.Primary, ""); s.Primary != "" && r != nil && r.Value > 0 {
		line += fmt.Sprintf("  %12s %s/s", quantity.Short(r.Value), s.Counts())
	}
	parts := [][2]string{{metric.StopS, "stopped in"}, {metric.StartS, "started in"}, {metric.WarmS, "warm after"}}
	for _, part := range parts {
		if r := s.Find(part[0], "", ""); r != nil {
			line += fmt.Sprintf("  %s %.1f s", part[1], r.Value)
		}
	}
	if s.Status != result.Complete {
		line += "  " + string(s.Status)
	}
	fresh := slices.DeleteFunc(slices.Clone(s.Warnings), func(w metric.Warning) bool { return p.shown[kind(w)] })
	if len(fresh) > 0 {
		w := metric.Weightiest(fresh)
		p.shown[kind(w)] = true
		line += "\n    remark: " + escape.Clip(w.Short(), maxRemark)
	}
	return line
}

const maxRemark = 80

// kind returns the kind of a warning; of several warnings of a kind only one need be
// shown.
func kind(w metric.Warning) string { return cmp.Or(string(w.Code), w.Text) }

func countRemarked(steps []result.Step) (n int) {
	for i := range steps {
		if len(steps[i].Warnings) > 0 {
			n++
		}
	}
	return n
}

// FoundLine returns the result of a step's search for a rate, with its warnings.
func FoundLine(s *result.Step) string {
	line := fmt.Sprintf("  %s: %v", s.Name, s.Search)
	if r := s.Find(metric.HighestRate, "", ""); r != nil {
		for _, w := range r.Warnings {
			line += "\n             ! " + w.Text
		}
	}
	return line
}
