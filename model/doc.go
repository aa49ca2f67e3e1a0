// Package model is the vocabulary that workloads and engines share: schemas,
// values, prepared operation shapes, durability levels and capabilities.
//
// It says what is asked for, never how an engine does it; it knows no engine,
// no workload and no clock.
package model
