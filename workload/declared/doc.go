// Package declared reads workloads that are files: tables, generators, operations and
// steps as data, without loops, conditions or functions. A workload that needs control
// flow is written in Go.
//
// It knows no engine. The workloads that come with rumbench are in the folder files.
package declared
