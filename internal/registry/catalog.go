package registry

import (
	"rumbench/engine"
	"rumbench/internal/form"
	"rumbench/workload"
	"rumbench/workload/declared"
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

// ReadWorkload returns the workload that a file declares. The error is of type
// hint.Problems.
func (Catalog) ReadWorkload(file string, content []byte) (workload.Workload, error) {
	w, err := declared.Read(file, content)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// WorkloadOf returns the workload that a map in a plan declares. The error is of type
// hint.Problems.
func (Catalog) WorkloadOf(n *form.Node) (workload.Workload, error) {
	w, err := declared.Of(n)
	if err != nil {
		return nil, err
	}
	return w, nil
}
