package result

import (
	"fmt"
	"time"

	"rumbench/internal/text/quantity"
)

// Start is how a trial came by data that it has not loaded itself: by a copy, none of which was in the
// page cache.
type Start struct {
	Copy    string    `json:"copy"`             // the step after which the data were copied; "data": the target's own
	Load    int       `json:"load,omitempty"`   // which of the loads it was, from 1
	Loads   int       `json:"loads,omitempty"`  // how many there are
	Seed    uint64    `json:"seed"`             // of the data
	Made    time.Time `json:"made,omitzero"`    // when they were loaded; of the target's own, when their directory was changed
	By      string    `json:"by,omitempty"`     // the directory of the campaign that loaded them, if another
	Cloned  bool      `json:"cloned,omitempty"` // the copy shared its blocks with the loaded data
	Bytes   int64     `json:"bytes"`
	Seconds float64   `json:"copy_s"`
	// Pending is whether the data are loaded, and the steps after that have not begun.
	Pending bool `json:"pending,omitempty"`
}

// Pending reports whether the trial's data are loaded, and the steps after that have not begun.
func (t *Trial) Pending() bool { return t.Start != nil && t.Start.Pending }

// LoadText returns which load the trial's data were copied from: "2 of 3"; "" if they were not.
func (t *Trial) LoadText() string {
	if t.Start == nil || t.Start.Loads == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", t.Start.Load, t.Start.Loads)
}

// StartText returns how the trials of the campaign came by their data: "a copy of the data after step
// load, of 2 loads"; "" if each loaded its own, or it is not known.
func (t *Trial) StartText() string {
	switch s := t.Start; {
	case s == nil:
		return ""
	case s.Loads == 0:
		return "a cold copy of data that existed"
	default:
		return fmt.Sprintf("a cold copy of the data after step %s, of %s", s.Copy, quantity.Count(s.Loads, "load"))
	}
}
