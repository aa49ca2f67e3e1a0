package progress

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
)

var update = flag.Bool("update", false, "write the golden files")

// place is where a campaign of two trials is, of which the first is expected to
// take some time.
func place(n int, rest time.Duration) forecast.Place {
	return forecast.Place{Number: n, Of: 2, After: forecast.Exactly(rest), Trial: forecast.Trial{Parts: []forecast.Part{
		{Name: "l.i0", Length: forecast.Exactly(40 * time.Second)},
		{Name: "settle", Length: forecast.Exactly(time.Minute)},
		{Name: "qr100", Length: forecast.Exactly(30 * time.Second)}}}}
}

// script plays a campaign of two trials; a second passes before every call.
func script(p *Progress) {
	at := time.Unix(0, 0)
	p.now = func() time.Time { return at }
	tick := func(d time.Duration) { at = at.Add(d) }

	p.Note("measuring the client on the null engine")
	p.Event(trial.Event{Step: "l.i0", Phase: "run", Elapsed: 1}) // of the calibration: not shown
	p.Begin(result.Entry{Dir: "pebble.1", Target: "pebble", Trial: 1}, place(1, 90*time.Second))
	p.Event(trial.Event{Step: "l.i0", Phase: trial.PhaseBegin, Is: &result.Step{Name: "l.i0"}})
	for i := range 12 {
		tick(time.Second)
		p.Event(trial.Event{Step: "l.i0", Phase: "run", Elapsed: float64(i + 1), CPU: 1.25,
			Written: 38.2e6,
			Groups:  []trial.EventGroup{{Name: "insert", Primary: true, PerSec: 1234567, P99: 987}}})
	}
	tick(time.Second)
	p.Event(trial.Event{Step: "l.i0", Phase: trial.PhaseEnd, Is: &result.Step{Name: "l.i0", Status: result.Complete, Seconds: 12, Primary: "insert", Rows: []metric.Row{{Op: "insert", Metric: "rows_per_s", Value: 1234567}}}})
	p.Event(trial.Event{Step: "settle", Phase: trial.PhaseBegin, Is: &result.Step{Name: "settle"}})
	p.Event(trial.Event{Step: "settle", Phase: "settle", Expected: 60})
	tick(time.Second)
	p.Event(trial.Event{Step: "qr100", Phase: "run", Elapsed: 1, Expected: 30, CPU: 0.5, Stalled: 3, Groups: []trial.EventGroup{
		{Name: "insert", PerSec: 100, P99: 2.5e6, Errors: 7}, {Name: "query", Primary: true, PerSec: 23456, P99: 0.5}}})
	tick(time.Second)
	p.End(result.Entry{Dir: "pebble.1"}, &result.Trial{Status: result.Complete, Steps: []result.Step{
		{Name: "l.i0", Status: result.Complete, Seconds: 12, Primary: "insert", Rows: []metric.Row{{Op: "insert", Metric: "rows_per_s", Value: 1234567}}},
		{Name: "settle", Status: result.Complete, Seconds: 60},
		{Name: "qr100", Status: result.Complete, Seconds: 30, Primary: "query", Warnings: []metric.Warning{metric.Untyped("something small"), {Code: remark.Disturbed, Text: "disturbed: …"}, {Code: remark.LowerBound, Text: "lower bound: …"}},
			Rows: []metric.Row{{Op: "insert", Metric: "rows_per_s", Value: 90}, {Op: "query", Metric: "rows_per_s", Value: 23456}}},
	}})
	p.Begin(result.Entry{Dir: "sqlite.1", Target: "sqlite", Trial: 1}, forecast.Place{Number: 2, Of: 2, After: forecast.AtLeast(0)})
	tick(time.Second)
	p.Event(trial.Event{Step: "l.i0", Phase: "run", Elapsed: 0.25, Groups: []trial.EventGroup{{Name: "insert", PerSec: 12, P99: 1500}}})
	tick(1500 * time.Millisecond)
	p.End(result.Entry{Dir: "sqlite.1"}, &result.Trial{Status: result.Failed, Reason: "the disk is gone", Hint: "find it", Steps: []result.Step{
		{Name: "l.i0", Status: result.Partial, Seconds: 0.25, Primary: "insert"},
	}})
	p.End(result.Entry{Dir: "sqlite.2"}, nil)
	p.Clear()
}

func TestPlainLines(t *testing.T) {
	for name, width := range map[string]func() int{"none": nil, "zero": func() int { return 0 }} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			script(New(&b, width))
			expect.Golden(t, *update, "plain.txt", b.String())
		})
	}
}

// On a terminal the running step is one line that is redrawn; in the file ESC
// is written as ␛ and a return to the begin of the line as ␍.
func TestTerminal(t *testing.T) {
	var b strings.Builder
	script(New(&b, func() int { return 60 }))
	visible := strings.NewReplacer("\x1b", "␛", "\r", "␍").Replace(b.String())
	expect.Golden(t, *update, "terminal.txt", visible)
	// What is redrawn never wraps: it could not be removed then.
	for _, drawn := range strings.Split(b.String(), "\r\x1b[2K")[1:] {
		line, _, ended := strings.Cut(drawn, "\n")
		if n := utf8.RuneCountInString(line); !ended && n >= 60 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	expect.Equal(t, screen(b.String()), plainWithoutRunning(t), "what stays on the screen")
}

// screen is what a terminal shows in the end.
func screen(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		all := strings.Split(line, "\r\x1b[2K")
		lines[i] = all[len(all)-1]
	}
	return strings.Join(lines, "\n")
}

// plainWithoutRunning are the plain lines but for those of running steps.
func plainWithoutRunning(t *testing.T) string {
	t.Helper()
	b := expect.Value(os.ReadFile("testdata/plain.txt"))(t)
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, " · ") && !strings.Contains(line, "settling") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// The first line of a step is shown at once, also where the trial before ended
// in a step of the same name.
func TestSameStepAgain(t *testing.T) {
	var b strings.Builder
	p := New(&b, nil)
	for n := range 2 {
		p.Begin(result.Entry{Dir: "x.1", Target: "x"}, forecast.Place{Number: n + 1, Of: 2, After: forecast.AtLeast(0)})
		p.Event(trial.Event{Step: "l.i0", Phase: "run", Elapsed: 1})
	}
	expect.Equal(t, strings.Count(b.String(), " of 2 x · step l.i0 · 1 s\n"), 2, "lines of steps", b.String())
}

// A kind of remark is shown once; a trial's last line counts the steps with any.
func TestRemarks(t *testing.T) {
	var b strings.Builder
	p := New(&b, nil)
	p.now = func() time.Time { return time.Unix(0, 0) }
	value := func(name string, warnings ...metric.Warning) result.Step {
		return result.Step{Name: name, Status: result.Complete, Warnings: warnings}
	}
	disturbed, bound := metric.Warning{Code: remark.Disturbed, Text: "one"}, metric.Warning{Code: remark.LowerBound, Text: "two"}
	for range 2 {
		p.Begin(result.Entry{Dir: "x.1", Target: "x"}, forecast.Place{Number: 1, Of: 2, After: forecast.AtLeast(0)})
		p.End(result.Entry{}, &result.Trial{Status: result.Complete, Steps: []result.Step{value("a", disturbed), value("b", disturbed, bound), value("c", bound, disturbed), value("d")}})
	}
	expect.Equal(t, strings.Count(b.String(), "remark: "), 2, "remarks")
	expect.Equal(t, strings.Count(b.String(), "with remarks on 3 of 4 steps\n"), 2, "counts")
	if t.Failed() {
		t.Log(b.String())
	}
}

// A step that takes longer than planned says so, and not that little is left.
func TestOverrun(t *testing.T) {
	at := func(phase string, elapsed float64) string {
		return session(0, parts()...)(trial.Event{Step: "qr500", Phase: phase, Elapsed: elapsed, Expected: 60})
	}
	for _, c := range []struct {
		phase   string
		elapsed float64
		want    string
		left    bool
	}{
		{trial.PhaseRun, 12, "", true}, {trial.PhaseRun, 62, "", true}, {trial.PhaseRun, 100, " · overruns its 60 s by 40 s", false},
		{trial.PhaseSettle, 100, " · 100 s · settling", false},
	} {
		got := at(c.phase, c.elapsed)
		expect.True(t, strings.Contains(got, c.want) && strings.Contains(got, " left") == c.left,
			c.phase, c.elapsed, "s", got)
	}
}
