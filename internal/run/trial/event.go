package trial

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/run/divided"
)

// The phases of a step.
const (
	PhaseRun     = "run"
	PhaseSettle  = "settle"
	PhaseRestart = "restart"
	PhaseReady   = "ready" // in a duet: it waits for the other trial to be ready
	PhaseDone    = "done"  // in a duet: its window is over
	PhaseBegin   = "begin" // a step begins, before its window: see Event.Is
	PhaseEnd     = "end"   // a step has ended, its numbers are known: see Event.Is
)

// Event is the progress of a trial. The trial's process sends it to the
// campaign's as a line of JSON.
type Event struct {
	Step     string  `json:"step"`
	Phase    string  `json:"phase"` // see PhaseRun
	Elapsed  float64 `json:"elapsed_s"`
	Expected float64 `json:"expected_s,omitempty"` // 0: unknown
	CPU      float64 `json:"cpu,omitempty"`        // processors that the trial's process used in the last interval
	Server   float64 `json:"server_cpu,omitempty"` // processors that a server's processes used in the last sample
	// Written is the bytes a second that the engine's processes, or else the device,
	// wrote in the last sample; 0: none, or unknown.
	Written float64 `json:"written,omitempty"`
	// intervals so far in which a group with the step's operations and without a rate completed
	// nothing
	Stalled int          `json:"stalled,omitempty"`
	Groups  []EventGroup `json:"groups,omitempty"`
	Build   *EventBuild  `json:"build,omitempty"` // nil: the step builds no indexes
	// Load is a message about clients on other machines; then the rest is empty.
	Load *divided.Message `json:"load,omitempty"`
	// Is is the step that begins or has ended, without its curves, counters, and rows of its parts.
	Is *result.Step `json:"is,omitempty"`
}

// EventGroup is the performance of a group in the last interval.
type EventGroup struct {
	Name string `json:"name"`
	// Primary is whether the step is about the group's operations.
	Primary bool `json:"primary,omitempty"`

	PerSec float64 `json:"per_s"`  // units a second
	P99    float64 `json:"p99_us"` // of response time if there is one, otherwise of service time
	// Max is the maximum of the same times if a kind had too few operations for a
	// percentile; 0 if all had enough.
	Max    float64 `json:"max_us,omitempty"`
	Errors int64   `json:"errors,omitempty"`
}

// eventOf returns the event of a step that begins or has ended.
func eventOf(phase string, s result.Step) Event {
	s.Curves, s.Counters, s.Settle = nil, nil, nil
	s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r metric.Row) bool { return !r.Whole() })
	return Event{Step: s.Name, Phase: phase, Is: &s}
}
