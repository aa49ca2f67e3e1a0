package result

import "rumbench/internal/stat/hist"

// SourceOn names a source on another machine in a series.
func SourceOn(source, machine string) string {
	if machine == "" {
		return source
	}
	return source + "@" + machine
}

// Line is one line of series.jsonl: the values of one source in one interval. A
// line either carries operations (Source "ops") or values. It has many fields because
// they are those of the file.
type Line struct {
	Step   string  `json:"step"`
	Source string  `json:"src"` // "ops", "host", "device", "process", "engine", "client"
	T      float64 `json:"t"`   // end of the interval, seconds from the start of the step's window
	DT     float64 `json:"dt"`  // true length of the interval in seconds

	// Source "ops": one line per group and operation kind.
	Group  string `json:"group,omitempty"`
	Op     string `json:"op,omitempty"`
	Upkeep bool   `json:"upkeep,omitempty"` // timed, but not part of the workload's schedule
	Event  bool   `json:"event,omitempty"`  // each operation is an event that charts mark
	Ops    int64  `json:"ops,omitempty"`
	Rows   int64  `json:"rows,omitempty"`
	// Statements of completed operations: reads, writes and others. All are 0 if
	// statements are not counted.
	Reads  int64 `json:"reads,omitempty"`
	Writes int64 `json:"writes,omitempty"`
	Others int64 `json:"others,omitempty"`
	// Attempts at operations beyond their first, and operations given up.
	Retries     int64   `json:"retries,omitempty"`
	GivenUp     int64   `json:"given_up,omitempty"`
	P50         float64 `json:"p50_us,omitempty"`          // service time
	P95         float64 `json:"p95_us,omitempty"`          // service time
	P99         float64 `json:"p99_us,omitempty"`          // service time
	Max         float64 `json:"max_us,omitempty"`          // service time
	ResponseP95 float64 `json:"response_p95_us,omitempty"` // only of paced and open groups
	ResponseP99 float64 `json:"response_p99_us,omitempty"`
	ResponseMax float64 `json:"response_max_us,omitempty"`

	// Of the whole group; in the line of its first operation kind only.
	Errors  int64   `json:"errors,omitempty"`  // attempts that failed
	Clients []int64 `json:"clients,omitempty"` // operations of each client
	// OldestInFlight is the age of the oldest operation in flight at the end of
	// the interval, in µs; 0: there was none. It shows how bad an interval without
	// completions is.
	OldestInFlight float64     `json:"oldest_in_flight_us,omitempty"`
	Queue          *hist.Queue `json:"queue,omitempty"` // nil for groups without scheduled arrivals

	// Other sources: growth of counters over the interval, gauges as they are.
	// A counter of an engine that is missing did not grow.
	V map[string]float64 `json:"v,omitempty"`
	// Late is how long after the interval's end the source answered, in seconds.
	Late float64 `json:"late,omitempty"`
}
