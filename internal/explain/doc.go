// Package explain explains why two targets differ: it splits the time that one unit of work
// takes, and each cost of it, into items that sum to it. It reports how much of the
// difference each item accounts for, and with what confidence.
//
// It measures nothing: it reads the rows and counters of finished trials. It adds causes to
// effects, which internal/report/verdict phrases. The method is described in docs/why.md.
//
// Read explain.go first: it makes the explanation of each step. Each file names those below it:
//
//	lead.go, group.go, paragraph.go   what a reader is told: of all steps, of steps with the same findings
//	settle.go, record.go              an experiment's shares; lines of JSON
//	explain.go                        the sums of a step, split and named
//	note.go, mechanism.go, predict.go remarks; what structures do, and the costs that they must have
//	rules.go, ways.go                 the tables of rules, which name the causes
//	evidence.go, rule.go, measure.go  the conditions of rules, their texts, and the numbers that they compare
//	limit.go, step.go                 what limits a side; a step's two sides
//	sum.go, contribution.go           a difference and its causes; the statistics of an item
//	ledger.go, run.go, items.go       how a number of a run is split; a run's rows and counters; the items
//
// rum.go stands alone: the tradeoff of reads, updates and space of several targets.
package explain
