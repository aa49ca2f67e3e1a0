package result

// Line is one line of series.jsonl: what one source had to say about one
// interval. A line either carries operations (Source "ops") or values.
type Line struct {
	Step   string  `json:"step"`
	Source string  `json:"src"` // "ops", "host", "device", "process", "engine", "client"
	T      float64 `json:"t"`   // end of the interval, seconds from the start of the step's window
	DT     float64 `json:"dt"`  // true length of the interval in seconds

	// Source "ops": one line per group and operation kind.
	Group      string  `json:"group,omitempty"`
	Op         string  `json:"op,omitempty"`
	Upkeep     bool    `json:"upkeep,omitempty"` // timed, but not asked for by the workload's schedule
	Ops        int64   `json:"ops,omitempty"`
	Rows       int64   `json:"rows,omitempty"`
	Errors     int64   `json:"errors,omitempty"`
	P50        float64 `json:"p50_us,omitempty"`          // service time
	P99        float64 `json:"p99_us,omitempty"`          // service time
	Max        float64 `json:"max_us,omitempty"`          // service time
	ResponseP9 float64 `json:"response_p99_us,omitempty"` // only of groups with a rate
	ResponseMx float64 `json:"response_max_us,omitempty"` // only of groups with a rate
	Clients    []int64 `json:"clients,omitempty"`         // operations of each client

	// Other sources: growth of counters over the interval, gauges as they are.
	// A counter of an engine that is missing did not grow.
	V map[string]float64 `json:"v,omitempty"`
	// Late is how long after the interval's end the source had answered, seconds.
	Late float64 `json:"late,omitempty"`
}
