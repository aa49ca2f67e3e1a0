package workload

import "rumbench/engine"

// Env is the environment of a step.
type Env struct {
	DB   engine.DB
	Seed uint64
	// Part is the share of this process.
	Part Part
	// Copied is the seed of data that were not loaded in this trial, of which it has a copy; nil: Seed.
	Copied *uint64
	// Results is false on an engine that stores nothing, so that results must not
	// be checked.
	Results bool
	// Previous is the data after the previous step; nil for the first one in this
	// process.
	Previous *Live
}

// DataSeed returns the seed of the existing data.
func (e *Env) DataSeed() uint64 {
	if e.Copied != nil {
		return *e.Copied
	}
	return e.Seed
}

// Knowing is a Run that knows more about its data than it could cheaply read from them.
type Knowing interface {
	// Knowledge returns what the process knows that has run steps, in exported fields. It is stored with
	// a copy of the data.
	Knowledge() any
	// GoOn takes over what another process knew, before the first step. read decodes it into a
	// pointer.
	GoOn(read func(into any) error) error
}
