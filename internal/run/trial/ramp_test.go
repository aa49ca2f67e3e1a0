package trial

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/workload/pace"
)

// A rate that changes is recorded as it changes: its average alone would be that
// of a constant one.
func TestRampIsRecorded(t *testing.T) {
	if got := rampOf(pace.Constant(pace.Poisson, 500)); got == nil || len(got) > 0 {
		t.Errorf("a constant rate: %v", got)
	}
	ramp := &pace.Arrivals{Segments: []pace.Segment{{Seconds: 10, From: 100, To: 900}}}
	expect.Same(t, []result.Ramp{{Seconds: 10, From: 100, To: 900}}, rampOf(ramp))
	steps := &pace.Arrivals{Segments: []pace.Segment{{Seconds: 5, From: 100, To: 100}, {Seconds: 5, From: 900, To: 900}}}
	if got := rampOf(steps); len(got) != 2 || got[1].From != 900 {
		t.Errorf("steps: %v", got)
	}
}
