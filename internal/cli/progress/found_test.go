package progress

import (
	"bytes"
	"testing"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/run/trial"
)

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
