package gen

import "math/bits"

// Source reads a stream one draw after the other. It belongs to one goroutine.
type Source struct {
	stream Stream
	next   uint64
}

// NewSource reads a stream from its beginning.
func NewSource(s Stream) *Source { return &Source{stream: s} }

// Uint64 is the next draw, uniform over all 64-bit numbers.
func (s *Source) Uint64() uint64 {
	s.next++
	return s.stream.At(s.next - 1)
}

// Uniform is the next draw, uniform over 0…n-1. n must be positive.
func (s *Source) Uniform(n int64) int64 {
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int64(hi)
}

// Unit is the next draw, uniform over [0,1).
func (s *Source) Unit() float64 { return float64(s.Uint64()>>11) / (1 << 53) }
