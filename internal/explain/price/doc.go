// Package price says what hardware a database needs for a demand, and what that costs: from
// measured costs per operation, within what was measured, and from a model of how space and
// writes are traded for each other.
//
// It measures, reads and formats nothing.
package price
