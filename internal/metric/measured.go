package metric

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
