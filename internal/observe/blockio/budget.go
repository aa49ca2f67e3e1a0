//go:build !race

package blockio

// budgetShare bounds the CPU time of a tracer: 1 % of a processor.
const budgetShare = 100
