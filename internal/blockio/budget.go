//go:build !race

package blockio

const budgetShare = 100
