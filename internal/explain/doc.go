// Package explain explains why two targets differ: it splits the time that one unit of work
// takes, and each cost of it, into items that sum to it. It reports how much of the
// difference each item accounts for, and with what confidence.
//
// It measures nothing: it reads the rows and counters of finished trials. It adds causes to
// effects, which internal/report/verdict phrases. The method is described in docs/why.md.
package explain
