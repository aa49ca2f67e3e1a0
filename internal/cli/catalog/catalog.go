// Package catalog answers by name which engines and workloads plans may use.
package catalog

import (
	"rumbench/engine"
	engines "rumbench/engine/all"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
	workloads "rumbench/workload/all"
	"rumbench/workload/declared"
)

// Plugins are the engines and workloads of this binary.
type Plugins struct{}

func (Plugins) Engine(name string) (engine.Engine, bool) {
	for _, e := range engines.Engines() {
		if e.Info().Name == name {
			return e, true
		}
	}
	return nil, false
}

// EngineNames lists the engines' names.
func (Plugins) EngineNames() []string {
	return quantity.Texts(engines.Engines(), func(e engine.Engine) string { return e.Info().Name })
}

func (Plugins) Workload(name string) (workload.Workload, bool) {
	for _, w := range workloads.Workloads() {
		if w.Info().Name == name {
			return w, true
		}
	}
	return nil, false
}

func (Plugins) WorkloadNames() []string {
	return quantity.Texts(workloads.Workloads(), func(w workload.Workload) string { return w.Info().Name })
}

// ReadWorkload returns the workload that a file declares. The error is of type
// hint.Problems.
func (Plugins) ReadWorkload(file string, content []byte) (workload.Workload, error) {
	w, err := declared.Read(file, content)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// WorkloadOf returns the workload that a map in a plan declares. The error is of type
// hint.Problems.
func (Plugins) WorkloadOf(n *strictyaml.Node) (workload.Workload, error) {
	w, err := declared.Of(n)
	if err != nil {
		return nil, err
	}
	return w, nil
}
