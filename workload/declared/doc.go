// Package declared reads workloads that are files: tables, generators, operations and
// steps as data, without loops, conditions or functions. What needs control flow is a
// workload in Go.
//
// It knows no engine. The workloads that come with rumbench are in the folder files.
package declared
