package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// maxLineWidth is the maximum length in characters of a running step's line on a
// terminal.
const maxLineWidth = 100

// maxName is the maximum length in characters of a name in a terminal's line.
const maxName = 24

// piece is a part of the line of a running step.
type piece struct {
	weight int      // if not all fit, the heaviest stays
	forms  []string // the longest first
}

// form returns the text in form n, or in the shortest form.
func (p piece) form(n int) string { return p.forms[min(n, len(p.forms)-1)] }

// single returns a piece with a single form.
func single(weight int, text string) piece { return piece{weight, []string{text}} }

// shortest is the number of the shortest form.
const shortest = 2

// The weights of pieces.
const (
	weightOthers = iota // groups that the step is not about
	weightWrites
	weightCPU
	weightStalls
	weightTrial
	weightPercentile
	weightTime
	weightErrors
	weightRate
	weightStep
)

// fit joins the pieces into a line of at most width characters; a width of 0 is
// unlimited. If they do not fit, it drops other groups first, then shortens the
// form, which later lines keep, and finally drops the lightest pieces.
func fit(pieces []piece, width int, form *int) string {
	for {
		texts := quantity.Texts(pieces, func(p piece) string { return p.form(*form) })
		line := strings.Join(texts, " · ")
		switch {
		case width == 0 || utf8.RuneCountInString(line) <= width:
			return line
		case len(pieces) < 2:
			return escape.Clip(line, width)
		}
		index := lightest(pieces)
		if *form < shortest && pieces[index].weight > weightOthers {
			*form++
			continue
		}
		pieces = slices.Delete(slices.Clone(pieces), index, index+1)
	}
}

// lightest returns the index of the lightest piece, the last one if several are
// equal.
func lightest(pieces []piece) (index int) {
	for i, p := range pieces {
		if p.weight <= pieces[index].weight {
			index = i
		}
	}
	return index
}

// position is the running step's place in the campaign.
type position struct {
	forecast.Place
	target string
	step   string
	phase  string // of the step's last event
	part   int    // the step's place in the plan, from 0; -1 if it has none
	probe  int    // the number of the probe, from 1; 0: no probe
	late   bool   // the step overruns
}

func (w *position) trial() piece {
	if w.Duet {
		return piece{weightTrial, []string{fmt.Sprintf("trials %d and %d of %d", w.Number-1, w.Number, w.Of),
			fmt.Sprintf("trials %d+%d/%d", w.Number-1, w.Number, w.Of)}}
	}
	return numbered(weightTrial, "trial", w.Number, w.Of, w.target)
}

// numbered returns a piece about something that has a number and a name.
func numbered(weight int, subject string, n, whole int, name string) piece {
	short := fmt.Sprintf("%d/%d %s", n, whole, escape.Clip(name, maxName))
	return piece{weight, []string{fmt.Sprintf("%s %d of %d %s", subject, n, whole, name), subject + " " + short, short}}
}

func (w *position) stepPiece() piece {
	name := escape.Clip(w.step, maxName)
	switch {
	case w.part < 0:
		return piece{weightStep, []string{"step " + w.step, name}}
	case w.probe == 0:
		return numbered(weightStep, "step", w.part+1, len(w.Trial.Parts), w.step)
	}
	probe := fmt.Sprintf("probe %d", w.probe)
	limit := w.Trial.Parts[w.part].Probes
	if w.probe > limit {
		return piece{weightStep, []string{probe + " " + w.step, probe + " " + name}}
	}
	return piece{weightStep, []string{fmt.Sprintf("%s of at most %d %s", probe, limit, w.step),
		fmt.Sprintf("%s of ≤%d %s", probe, limit, name), probe + " " + name}}
}

// leftPiece returns the piece about the remaining time; false if it is unknown.
func leftPiece(s forecast.Span) (piece, bool) {
	if !s.Bounded() {
		return piece{}, false
	}
	limit := s.Most.Round(10 * time.Second)
	if s.Most >= time.Minute {
		limit = s.Most.Round(time.Minute)
	}
	text := quantity.Length(max(limit, 10*time.Second)) + " left"
	if s.Least < s.Most*9/10 {
		return piece{weightTime, []string{"at most " + text, "≤ " + text}}, true
	}
	return single(weightTime, text), true
}

func elapsed(e *trial.Event) piece {
	switch {
	case overruns(e) && e.Phase != trial.PhaseSettle: // whose planned time is only the least
		return single(weightTime, fmt.Sprintf("overruns its %.0f s by %.0f s", e.Expected, e.Elapsed-e.Expected))
	case e.Expected > 0 && !overruns(e):
		return single(weightTime, fmt.Sprintf("%.0f of %.0f s", e.Elapsed, e.Expected))
	}
	return single(weightTime, fmt.Sprintf("%.0f s", e.Elapsed))
}

func overruns(e *trial.Event) bool { return e.Expected > 0 && e.Elapsed >= e.Expected+minOverrun }

// minOverrun is the least time in seconds by which a step overruns: operations in progress
// are completed when its time is over.
const minOverrun = 5

// pieces returns the pieces that an event adds to the line of its step.
func (w *position) pieces(e *trial.Event) []piece {
	switch e.Phase {
	case trial.PhaseBegin:
		return nil
	case trial.PhaseSettle:
		return []piece{elapsed(e), single(weightRate, "settling")}
	case trial.PhaseRestart:
		return []piece{elapsed(e), single(weightRate, "restarting")}
	}
	return append([]piece{elapsed(e)}, w.done(e)...)
}

// done returns the pieces about the work done in the last interval.
func (w *position) done(e *trial.Event) (out []piece) {
	primary := func(g trial.EventGroup) bool { return g.Primary }
	about := slices.DeleteFunc(slices.Clone(e.Groups), func(g trial.EventGroup) bool { return !primary(g) })
	others := slices.DeleteFunc(slices.Clone(e.Groups), primary)
	if len(about) == 0 {
		about, others = others, nil
	}
	if e.Build != nil { // rows count when an index is complete
		out, about = append(out, single(weightRate, builds(e.Build))), nil
	}
	for _, g := range about {
		name := ""
		if len(about) > 1 || w.Duet {
			name = g.Name + " "
		}
		out = append(out, single(weightRate, name+rate(&g)))
		if p := percentile(&g); p != "" {
			out = append(out, single(weightPercentile, p))
		}
	}
	var errors int64
	for _, g := range e.Groups {
		errors += g.Errors
	}
	if errors > 0 {
		out = append(out, single(weightErrors, quantity.Count(int(errors), "error")))
	}
	if e.Stalled > 0 && slices.ContainsFunc(about, func(g trial.EventGroup) bool { return g.PerSec > 0 }) {
		out = append(out, single(weightStalls, fmt.Sprintf("%d stalled", e.Stalled)))
	}
	switch {
	case e.Server > 0:
		out = append(out, single(weightCPU, fmt.Sprintf("server %.1f cores", e.Server)))
	case e.CPU > 0:
		out = append(out, single(weightCPU, fmt.Sprintf("%.1f cores", e.CPU)))
	}
	if e.Written > 0 {
		out = append(out, single(weightWrites, megabytes(e.Written)+" written"))
	}
	for _, g := range others {
		if g.PerSec > 0 {
			out = append(out, single(weightOthers, g.Name+" "+rate(&g)))
		}
	}
	return out
}

// builds returns how far the builds of indexes are.
func builds(b *trial.EventBuild) string {
	switch b.Begun - b.Done {
	case 0:
		return fmt.Sprintf("%d of %d indexes built", b.Done, b.All)
	case 1:
		return fmt.Sprintf("building index %d of %d, %.0f s", b.Begun, b.All, b.Seconds)
	}
	return fmt.Sprintf("building indexes %d to %d of %d, %.0f s", b.Done+1, b.Begun, b.All, b.Seconds)
}

func rate(g *trial.EventGroup) string {
	switch {
	case g.PerSec == 0 && percentile(g) == "":
		return "nothing done"
	case g.PerSec < 999_950:
		return quantity.Digits(g.PerSec) + "/s"
	}
	return quantity.Short(g.PerSec) + "/s"
}

// percentile returns the p99 of a group, or the maximum if there are too few
// operations for a p99; "" if there were none.
func percentile(g *trial.EventGroup) string {
	switch {
	case g.Max > 0:
		return "max " + quantity.MicrosAs(max(g.Max, g.P99), tenths)
	case g.P99 > 0:
		return "p99 " + quantity.MicrosAs(g.P99, tenths)
	}
	return ""
}

func megabytes(v float64) string {
	if v < 50e3 {
		return "<0.1 MB/s"
	}
	return tenths(v/1e6) + " MB/s"
}

// tenths formats a small number with one decimal.
func tenths(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
