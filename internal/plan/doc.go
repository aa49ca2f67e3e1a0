// Package plan reads a plan file into a checked Plan: which workload, on which
// targets, how often. It reports all problems of a wrong plan at once, with
// their positions, before anything starts.
//
// It runs nothing and opens no database; its knowledge about engines and
// workloads comes from the Catalog.
//
// Its files name only files after them:
//
//	load.go schema.go experiment.go                 reading a plan; what is accepted; plans of experiments
//	target.go published.go secret.go                targets, at levels of knobs; published figures; data source names
//	fleet.go start.go knobs.go workload.go          what the other keys of a plan say
//	exclusion.go                                    what cannot be combined
//	steps.go set.go                                 the steps that a plan runs; overrides
//	misnamed.go binder.go keys.go scalars.go path.go    keys and values, and hints about wrong ones
//	plan.go                                         what a plan is
package plan
