// Package explain explains why two targets differ: it splits the time that one unit of work
// takes, and each cost of it, into items that sum to it. It reports how much of the
// difference each item accounts for, and with what confidence.
//
// It measures nothing: it reads the rows and counters of finished trials. It adds causes to
// effects, which internal/report/verdict phrases. The method is described in docs/why.md.
//
// Read explain.go first: it makes the explanation of each step. Each file names those below it:
//
//	lead.go paragraph.go design.go group.go: what a reader is told of all steps, and of steps with the same findings
//	settle.go record.go: an experiment's shares; lines of JSON
//	explain.go: the sums of a step, split and named
//	note.go duty.go predict.go: remarks; what structures must do, and the costs that they must have
//	driver.go knob.go: the counts that drive items, and the settings that act on both
//	step.go sum.go contribution.go: a step's sides; a difference and its causes; the statistics of an item
//	limit.go ledger.go run.go items.go: what limits a run; how its numbers are split; its rows; the items
//	rum.go: stands alone, the tradeoff of reads, updates and space of several targets
package explain
