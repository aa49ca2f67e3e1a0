package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
)

// session is a display of a terminal of some width in the third of nine trials.
func session(width int, parts ...forecast.Part) (line func(e trial.Event) string) {
	var out strings.Builder
	p := New(&out, func() int { return width })
	at := time.Unix(0, 0)
	p.now = func() time.Time { return at }
	p.Begin(result.Entry{Dir: "innodb.3", Target: "innodb"}, forecast.Place{Number: 3, Of: 9,
		Trial: forecast.Trial{Parts: parts}, After: forecast.Exactly(10 * time.Minute)})
	return func(e trial.Event) string {
		out.Reset()
		p.Event(e)
		return strings.TrimPrefix(out.String(), "\r\x1b[2K")
	}
}

// parts are eleven steps of a minute.
func parts() (out []forecast.Part) {
	for _, name := range strings.Fields("l.i0 l.x l.i1 l.i2 settle qr100 qr500 qp100 qp500 w1 w2") {
		out = append(out, forecast.Part{Name: name, Length: forecast.Exactly(time.Minute)})
	}
	return out
}

// measured is an interval of the seventh step.
var measured = trial.Event{Step: "qr500", Phase: trial.PhaseRun, Elapsed: 12, Expected: 60, CPU: 0.5, Server: 1.41, Written: 38.2e6,
	Groups: []trial.EventGroup{{Name: "insert", PerSec: 500, P99: 900}, {Name: "query", Primary: true, PerSec: 8420, P99: 4100}}}

// Where the terminal is narrow, the least important pieces are left out.
func TestWidths(t *testing.T) {
	for width, want := range map[int]string{
		24:  "7/11 qr500 · 8,420/s",
		40:  "7/11 qr500 · 15 min left · 8,420/s",
		60:  "7/11 qr500 · 15 min left · 8,420/s · p99 4.1 ms",
		70:  "3/9 innodb · 7/11 qr500 · 15 min left · 8,420/s · p99 4.1 ms",
		80:  "3/9 innodb · 7/11 qr500 · 15 min left · 8,420/s · p99 4.1 ms · server 1.4 cores",
		100: "3/9 innodb · 7/11 qr500 · 15 min left · 8,420/s · p99 4.1 ms · server 1.4 cores · 38 MB/s written",
		120: "3/9 innodb · 7/11 qr500 · 15 min left · 8,420/s · p99 4.1 ms · server 1.4 cores · 38 MB/s written",
	} {
		line := session(width, parts()...)
		got := line(measured)
		expect.Equal(t, got, want, width, "columns")
		if n := utf8.RuneCountInString(got); n >= width || n > 100 {
			t.Errorf("%d columns: a line of %d", width, n)
		}
	}
	line := session(0, parts()...)
	want := "  trial 3 of 9 innodb · step 7 of 11 qr500 · 15 min left · 8,420/s · p99 4.1 ms · server 1.4 cores · 38 MB/s written · insert 500/s\n"
	expect.Equal(t, line(measured), want, "no terminal")
}

// Nothing is shown of what was not done, or is not known.
func TestLine(t *testing.T) {
	one := []forecast.Part{{Name: "l.x", Length: forecast.AtLeast(0)}}
	for name, c := range map[string]struct {
		parts []forecast.Part
		event trial.Event
		want  string
	}{
		"few operations": {one, trial.Event{Step: "l.x", Elapsed: 1, Groups: []trial.EventGroup{{Name: "index", PerSec: 1, P99: 900, Max: 1100}}},
			"step 1 of 1 l.x · 1 s · 1.00/s · max 1.1 ms"},
		"nothing done": {one, trial.Event{Step: "l.x", Elapsed: 3, Stalled: 2, Groups: []trial.EventGroup{{Name: "index", Primary: true}, {Name: "delete"}}},
			"step 1 of 1 l.x · 3 s · nothing done"},
		"stalled before": {one, trial.Event{Step: "l.x", Elapsed: 3, Stalled: 2, Groups: []trial.EventGroup{{Name: "index", Primary: true, PerSec: 5, P99: 1}}},
			"step 1 of 1 l.x · 3 s · 5.00/s · p99 1.0 µs · 2 stalled"},
		"errors of any group": {one, trial.Event{Step: "l.x", Elapsed: 3, Groups: []trial.EventGroup{{Name: "a", Primary: true, PerSec: 5, Errors: 2}, {Name: "b", Errors: 1}}},
			"step 1 of 1 l.x · 3 s · 5.00/s · 3 errors"},
		"building": {one, trial.Event{Step: "l.x", Elapsed: 9, Stalled: 2, CPU: 1, Build: &trial.EventBuild{Done: 1, Begun: 2, All: 3, Seconds: 7.1}, Groups: []trial.EventGroup{{Name: "index", Primary: true}, {Name: "readers", PerSec: 7}}},
			"step 1 of 1 l.x · 9 s · building index 2 of 3, 7 s · 1.0 cores · readers 7.00/s"},
		"building several": {one, trial.Event{Step: "l.x", Elapsed: 9, Build: &trial.EventBuild{Done: 1, Begun: 3, All: 3, Seconds: 7.1}},
			"step 1 of 1 l.x · 9 s · building indexes 2 to 3 of 3, 7 s"},
		"built": {one, trial.Event{Step: "l.x", Elapsed: 9, Build: &trial.EventBuild{Done: 3, Begun: 3, All: 3}, Groups: []trial.EventGroup{{Name: "index", Primary: true, PerSec: 5e6, Errors: 1}}},
			"step 1 of 1 l.x · 9 s · 3 of 3 indexes built · 1 error"},
		"at most": {[]forecast.Part{{Name: "l.x", Length: forecast.Span{Least: time.Second, Most: 20 * time.Minute}}}, trial.Event{Step: "l.x", Elapsed: 3},
			"step 1 of 1 l.x · at most 30 min left"},
		"a step that is not in the plan": {one, trial.Event{Step: "other", Elapsed: 3}, "step other · 3 s"},
		"a duet": {one, trial.Event{Step: "l.x", Groups: []trial.EventGroup{{Name: "a index", Primary: true, PerSec: 1, P99: 10}, {Name: "b index", Primary: true, PerSec: 2, P99: 20}}},
			"step 1 of 1 l.x · 0 s · a index 1.00/s · p99 10 µs · b index 2.00/s · p99 20 µs"},
	} {
		t.Run(name, func(t *testing.T) {
			c.event.Phase = trial.PhaseRun
			line := session(0, c.parts...)
			if got, want := line(c.event), "  trial 3 of 9 innodb · "+c.want+"\n"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// How many probes a search makes is not known before.
func TestProbes(t *testing.T) {
	line := session(0, forecast.Part{Name: "q", Length: forecast.Span{Least: 0, Most: time.Minute}, Probes: 2})
	if got := line(trial.Event{Step: "q", Phase: trial.PhaseRun}); !strings.Contains(got, "step 1 of 1 q · 11 min left") {
		t.Errorf("%q", got)
	}
	for _, want := range []string{"probe 1 of at most 2 q@100 ", "probe 2 of at most 2 q@50 ", "probe 3 q@50 "} {
		fields := strings.Fields(want)
		step := fields[len(fields)-1]
		line(trial.Event{Step: step, Phase: trial.PhaseBegin, Is: &result.Step{Name: step}})
		line(trial.Event{Step: step, Phase: trial.PhaseEnd, Is: &result.Step{Name: step}})
		line(trial.Event{Step: "q", Phase: trial.PhaseFound, Is: &result.Step{Name: "q", Search: &result.Search{}}})
		if got := line(trial.Event{Step: step, Phase: trial.PhaseSettle}); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The rate of an index build counts what is indexed.
func TestIndexLine(t *testing.T) {
	p := New(&bytes.Buffer{}, nil)
	s := &result.Step{Name: "l.x", Seconds: 2.5, Status: result.Complete, Primary: "index",
		Groups: []result.Group{{Name: "index", Units: map[string]string{"index": "row"}}},
		Rows:   []metric.Row{{Op: "index", Metric: metric.RowsPerS, Value: 201e3}}}
	if got, want := p.stepLine(s), "  l.x          2.5 s          201k indexed rows/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a search found is a line of its own, with its warnings.
func TestFoundLine(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, nil)
	p.runs = true
	p.Event(trial.Event{Step: "q", Phase: trial.PhaseFound, Is: &result.Step{Name: "q",
		Search: &result.Search{Promise: "p99_ms < 20", Kept: 691, Took: 12, Broke: 725, Low: 691, High: 725, Probes: 7, Closed: 900, Why: "p99 313 ms"},
		Rows:   []metric.Row{{Metric: "highest_rate", Value: 691, Warnings: metric.UntypedAll([]string{"not monotone"})}}}})
	if want := "  q: highest rate with p99 < 20 ms: 691/s (691 to 725), 7 probes; closed loop 900/s\n             ! not monotone\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
