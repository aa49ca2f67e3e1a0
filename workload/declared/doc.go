// Package declared reads workloads that are files: tables, generators, operations and
// steps as data, without loops, conditions or functions. A workload that needs control
// flow is written in Go.
//
// It knows no engine. The workloads that come with rumbench are in the folder files.
//
// Its files name only files after them, except that expressions have generators:
//
//	pgbench.go shipped.go schema.go outline.go try.go knowledge.go     uses of a workload
//	declared.go                                                        a file, read and compiled
//	stage.go divide.go client.go load.go                               a step that runs, and its clients
//	run.go                                                             a compiled workload
//	steps.go group.go survey.go check.go step.go                       steps, and checks of rows
//	operation.go kinds.go own.go statement.go                          operations and their statements
//	tables.go                                                          tables, and values of columns
//	catalogue.go generators.go texts.go json.go generator.go           generators of values
//	number.go expression.go                                            numbers, and arithmetic
//	compiler.go table.go keys.go value.go rows.go                      what the others share
package declared
