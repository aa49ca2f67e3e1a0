// Package model is the vocabulary that workloads and engines share: schemas,
// values, prepared operation shapes, durability levels and capabilities.
//
// It describes requests, never how an engine executes them; it knows no engine,
// no workload and no clock.
package model
