package hist

import "time"

// Group is the work of a group of clients in a step.
type Group struct {
	Totals
	Errors Errors
	// Rates are the rates of the intervals, upkeep left out.
	Rates []Rate
	// Gaps are those of at least half an interval, in their order.
	Gaps []Gap
	// CPU is the clients' own CPU time, if it was measured.
	CPU time.Duration
	// End is the end of the group's last operation, or of its last slot.
	End time.Duration
	// Plan is when a group with a rate was to have finished its work, or when its
	// time was to be over. InPlan is how many operations were done by then, and
	// Lateness how late each client was.
	Plan     time.Duration
	InPlan   int64
	Lateness []Late
	// Done is how many operations each client did, upkeep left out.
	Done []int64
	// Undone is the time since they were due, for operations that were due
	// before the end and neither done nor given up nor shed by then: less than
	// their response time would have been. It is nil for a closed loop.
	Undone *Dist
	// Arrivals is nil for a closed group.
	Arrivals *Arrivals
}

// Rate is the work done in one interval.
type Rate struct {
	From, To float64 // seconds from the start of the window
	Units    float64 // done in it
	Ops      float64 // completed in it
	// Oldest is for how many seconds the oldest operation in flight at the end
	// of the interval had been in flight; 0: there was none.
	Oldest float64
}

// Gap is a span in which operations were in flight and none was completed, in seconds
// from the start of the window. Upkeep is left out.
type Gap struct{ From, To float64 }

// Late is how late a client was halfway through and at its end.
type Late struct{ Half, End time.Duration }

// Arrivals counts the operations that arrived at an open group. Those that were
// not shed were done, given up, or are undone.
type Arrivals struct {
	Offered int64 // arrived before the end
	Shed    int64
	Longest int64 // the greatest number that waited
}

// Queue is the state of the arrivals of an open group in an interval.
type Queue struct {
	Offered int64 `json:"offered"` // operations that arrived
	Started int64 `json:"started"` // that began
	Shed    int64 `json:"shed"`    // that were shed, as too many waited
	Waiting int64 `json:"waiting"` // that waited at the end of the interval
}
