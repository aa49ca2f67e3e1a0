package registry

import (
	"rumbench/engine"
	"rumbench/workload"
)

// Catalog answers by name what plans may use.
type Catalog struct{}

// Engine returns the engine of that name.
func (Catalog) Engine(name string) (engine.Engine, bool) {
	for _, e := range Engines() {
		if e.Info().Name == name {
			return e, true
		}
	}
	return nil, false
}

// EngineNames lists the engines' names.
func (Catalog) EngineNames() (names []string) {
	for _, e := range Engines() {
		names = append(names, e.Info().Name)
	}
	return names
}

// Workload returns the workload of that name.
func (Catalog) Workload(name string) (workload.Workload, bool) {
	for _, w := range Workloads() {
		if w.Info().Name == name {
			return w, true
		}
	}
	return nil, false
}

// WorkloadNames lists the workloads' names.
func (Catalog) WorkloadNames() (names []string) {
	for _, w := range Workloads() {
		names = append(names, w.Info().Name)
	}
	return names
}
