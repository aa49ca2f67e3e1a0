// Package ui shows the progress of a campaign: lines redrawn in place on a
// terminal, plain lines elsewhere. It decides nothing.
package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"rumbench/internal/plain"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
	"rumbench/internal/trial"
)

// Progress prints what happens. On a terminal the state of the running step is
// one line that is redrawn; elsewhere it is a line every Every. A step that has
// ended is shown at once.
type Progress struct {
	Out io.Writer
	// Width is the terminal's width in characters; 0 means that Out is no terminal.
	Width func() int
	// Every is how often a running step is shown where there is no terminal.
	Every time.Duration

	mu      sync.Mutex
	drawn   bool
	current string // the trial, for lines of its steps
	last    trial.Event
	said    time.Time
	ends    int // steps of the trial whose end was shown
	started time.Time
	now     func() time.Time
}

// New makes a progress display. It draws on what is behind a plain.Writer, and
// takes care of the texts itself.
func New(out io.Writer, width func() int) *Progress {
	return &Progress{Out: plain.Raw(out), Width: width, Every: 10 * time.Second, now: time.Now}
}

// Begin prints that a trial begins.
func (p *Progress) Begin(e result.Entry, n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current, p.started, p.last, p.ends = e.Dir, p.now(), trial.Event{}, 0
	p.println(fmt.Sprintf("[%d/%d] %s", n, total, e.Dir))
}

// Note prints a text.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = ""
	p.println(text)
}

// Event shows how far the running step is.
func (p *Progress) Event(e trial.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == "" {
		return // the client's calibration
	}
	changed := e.Step != p.last.Step
	p.last = e
	switch {
	case e.Phase == trial.PhaseBegin:
		p.said = p.now()
		return
	case e.Phase == trial.PhaseEnd && e.Is != nil:
		p.println(StepLine(e.Is))
		p.ends++
		return
	case e.Phase == trial.PhaseFound:
		p.println(FoundLine(e.Is))
		return
	case p.width() > 0:
		p.draw(plain.Clip(Line(e), p.width()-1))
		return
	}
	// A step that rests is shown once; the steps of a duet do not say that they begin.
	if e.Phase == trial.PhaseSettle || changed || p.now().Sub(p.said) >= p.Every {
		p.said = p.now()
		p.println(Line(e))
	}
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
		p.println(StepLine(&t.Steps[i]))
	}
	line := fmt.Sprintf("  %s in %v", t.Status, p.now().Sub(p.started).Round(100*time.Millisecond))
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
	fmt.Fprint(p.Out, "\r\x1b[2K"+plain.Line(line))
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
	fmt.Fprintln(p.Out, plain.Text(line))
}

// Line returns the state of a running step.
func Line(e trial.Event) string {
	at := fmt.Sprintf("%.0f s", e.Elapsed)
	if e.Expected > 0 {
		at = fmt.Sprintf("%.0f of %.0f s", e.Elapsed, e.Expected)
	}
	if e.Phase == trial.PhaseSettle {
		return fmt.Sprintf("  %-8s settling, at least %.0f s", e.Step, e.Expected)
	}
	parts := []string{fmt.Sprintf("  %-8s %s", e.Step, at)}
	for _, g := range e.Groups {
		part := fmt.Sprintf("%s %s/s", g.Name, quantity.Short(g.PerSec))
		switch {
		case g.Max > 0: // of too few operations for a percentile
			part += " max " + quantity.Micros(max(g.Max, g.P99))
		case g.P99 > 0: // else nothing was done
			part += " p99 " + quantity.Micros(g.P99)
		}
		if g.Errors > 0 {
			part += fmt.Sprintf(" %d errors", g.Errors)
		}
		parts = append(parts, part)
	}
	switch {
	case e.Server > 0:
		parts = append(parts, fmt.Sprintf("CPU server %.2f client %.2f", e.Server, e.CPU))
	case e.CPU > 0:
		parts = append(parts, fmt.Sprintf("CPU %.2f", e.CPU))
	}
	if e.Stalled > 0 {
		parts = append(parts, fmt.Sprintf("%d stalled", e.Stalled))
	}
	return strings.Join(parts, " · ")
}

// StepLine sums up a step that has ended.
func StepLine(s *result.Step) string {
	line := fmt.Sprintf("  %-8s %7.1f s", s.Name, s.Seconds)
	if r := s.Find("rows_per_s", s.Primary, ""); s.Primary != "" && r != nil {
		line += fmt.Sprintf("  %12s %s/s", quantity.Short(r.Value), s.Primary)
	}
	if s.Status != result.Complete {
		line += "  " + string(s.Status)
	}
	for _, w := range s.Warnings {
		line += "\n             ! " + w.Text
	}
	return line
}

// FoundLine returns what a search for a rate found in a step, and what is to be
// thought of it.
func FoundLine(s *result.Step) string {
	line := fmt.Sprintf("  %s: %v", s.Name, s.Search)
	if r := s.Find("highest_rate", "", ""); r != nil {
		for _, w := range r.Warnings {
			line += "\n             ! " + w.Text
		}
	}
	return line
}
