//go:build race

package blockio

// budgetShare bounds the CPU time of a tracer under the race detector, where everything
// takes many times longer: 20 % of a processor.
const budgetShare = 5
