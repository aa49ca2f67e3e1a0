package result

// Profiling is whether the trials of a campaign are profiled, and which.
type Profiling string

// The kinds of profiling. A trial that is not profiled has none.
const (
	// ProfileExtra profiles a trial that is run for that alone. Its numbers are never
	// shown beside those of other trials.
	ProfileExtra  Profiling = "extra"
	ProfileInside Profiling = "inside" // profiles the measured trials
	ProfileOff    Profiling = "off"
)
