// Package gen generates the values of workloads: streams of draws in which draw
// i is a pure function of seed, stream and i, so that every engine, run and
// machine gets the same rows. It knows no workload.
package gen

import (
	"math/bits"
)

// Stream is an infinite sequence of independent 64-bit draws with random access.
// It is splitmix64 (Steele, Lea, Flood 2014), whose state after i steps is a
// linear function of i.
type Stream struct{ key uint64 }

// golden is splitmix64's increment; the other constants separate uses.
const (
	golden  = 0x9e3779b97f4a7c15
	nameEnd = 0xd1b54a32d192ed03
	subMark = 0x8cb92ba72f3d8dd7
)

// NewStream returns the stream for a path below a seed. Different paths give unrelated
// streams.
func NewStream(seed uint64, path ...string) Stream {
	key := mix(seed + golden)
	for _, p := range path {
		for i := range len(p) {
			key = mix(key ^ uint64(p[i]) + golden)
		}
		key = mix(key + nameEnd) // so that "ab", "c" differs from "a", "bc"
	}
	return Stream{key}
}

// Sub returns the n-th stream below s.
func (s Stream) Sub(n uint64) Stream { return Stream{mix(mix(s.key+subMark) + (n+1)*golden)} }

// At returns draw i, uniform over all 64-bit numbers.
func (s Stream) At(i uint64) uint64 { return mix(s.key + (i+1)*golden) }

// Uniform returns draw i, uniform over 0…n-1. n must be positive. Probabilities
// deviate from 1/n by a relative n/2⁶⁴ at most.
func (s Stream) Uniform(i uint64, n int64) int64 {
	hi, _ := bits.Mul64(s.At(i), uint64(n))
	return int64(hi)
}

// Unit returns draw i, uniform over [0,1).
func (s Stream) Unit(i uint64) float64 { return float64(s.At(i)>>11) / (1 << 53) }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
