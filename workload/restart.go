package workload

// Caches is what a restart does with the page cache of the data.
type Caches string

// The ways.
const (
	CachesDropped Caches = "dropped"
	CachesKept    Caches = "kept"
)

// Restart is the work of a step in which the engine is closed and opened again.
type Restart struct{ Caches Caches }

// RestartStep returns a step in which the engine restarts.
func RestartStep(name string, caches Caches) Step {
	return Step{Name: name, Restart: &Restart{caches},
		Doc: "The engine is stopped and started again, caches of the operating system " + string(caches) + "."}
}

// HasClients reports whether clients do something in the step: it neither settles nor restarts.
func (s *Step) HasClients() bool { return s.Settle == nil && s.Restart == nil }
