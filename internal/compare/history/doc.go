// Package history reads a folder of campaigns as a store: it lists the runs in
// it, lines up the numbers that can be compared as series over time, and finds
// where their level changed and what else changed there. It only reads, and
// measures nothing.
//
// Read store.go and series.go first. Each file names those below it:
//
//	list.go gate.go: runs and series as lines; changes as effects, for conditions
//	finding.go odd.go break.go: what a reader is told: changes by run, an odd run, what splits series
//	change.go canary.go level.go: where the level of a series changed, with or without the machine's speed
//	judged.go order.go: changes that users acknowledge; runs in the order of revisions
//	facts.go series.go store.go: what differed between runs; families and series; the runs in a folder
package history
