package metric

// SLA reports whether a promised rate was held.
type SLA struct {
	Target      float64 `json:"target"`       // units a second
	Achieved    float64 `json:"achieved"`     // average over the group's own time
	Intervals   int     `json:"intervals"`    // how many intervals of the window were judged; 0: it was too short
	Share       float64 `json:"share"`        // share of the intervals that reached 95 % of the target
	Worst       float64 `json:"worst"`        // units a second in the worst interval
	Backlog     float64 `json:"backlog"`      // units that were due by the planned end but not done by then
	MaxLateness float64 `json:"max_lateness"` // seconds
	Met         bool    `json:"met"`          // the average reached 95 % of the target, rounded
	Strict      bool    `json:"strict"`       // every interval did
	Saturated   bool    `json:"saturated"`    // lateness kept growing
}

// Span is a stretch of a step's window, in seconds from its start.
type Span struct {
	Group string  `json:"group"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
}

// Curve is a latency distribution: points of percentile (0…100) and microseconds.
type Curve struct {
	Group string `json:"group"`
	Op    string `json:"op"`
	// "service", "response", "attempt" or "statement"; for the last, Op is the statement
	Measure  string       `json:"measure"`
	Count    int64        `json:"count"`
	Overflow int64        `json:"overflow,omitempty"` // samples above an hour, counted apart
	Points   [][2]float64 `json:"points"`
}
