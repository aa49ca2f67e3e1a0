//go:build race

package blockio

// Under the race detector all takes many times longer.
const budgetShare = 5
