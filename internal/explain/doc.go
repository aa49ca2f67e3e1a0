// Package explain says why two targets differ: it splits the time that one unit of work
// takes, and each cost of it, into items that sum to it, and says how much of the
// difference each item accounts for, and how sure that is.
//
// It measures nothing: it reads the rows and counters of finished trials. It adds causes to
// effects, which internal/report/verdict phrases. The method is described in docs/why.md.
package explain
