package gen

import "math/bits"

// Source reads a stream sequentially. It must be used by one goroutine only.
type Source struct {
	stream Stream
	next   uint64
}

// NewSource returns a source at the beginning of a stream.
func NewSource(s Stream) *Source { return &Source{stream: s} }

// Uint64 returns the next draw, uniform over all 64-bit numbers.
func (s *Source) Uint64() uint64 {
	s.next++
	return s.stream.At(s.next - 1)
}

// Uniform returns the next draw, uniform over 0…n-1. n must be positive.
func (s *Source) Uniform(n int64) int64 {
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int64(hi)
}

// Unit returns the next draw, uniform over [0,1).
func (s *Source) Unit() float64 { return float64(s.Uint64()>>11) / (1 << 53) }
