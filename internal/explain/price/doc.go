// Package price computes the hardware that a database needs for a demand, and its price:
// from measured costs per operation, within the measured range, and from a model of how
// space and writes are traded for each other.
//
// It measures, reads and formats nothing.
package price
