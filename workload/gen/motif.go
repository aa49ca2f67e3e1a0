package gen

// motifChunk is the length of the pieces from which a Motif makes data.
const motifChunk = 128

// Motif generates bytes of a known compressibility, as Linkbench does: a share of the
// pieces is random, the others are copies from a buffer of motifs.
type Motif struct {
	low, symbols int64
	unique       float64
	buffer       []byte
}

// NewMotif returns a generator of bytes from low to high. A share unique of the pieces is
// random. The stream fills the buffer, which has the given size: generators with the same
// stream share their motifs.
func NewMotif(s Stream, low, high byte, unique float64, size int) *Motif {
	m := &Motif{low: int64(low), symbols: int64(high) - int64(low) + 1, unique: unique}
	m.buffer = m.random(make([]byte, 0, size), NewSource(s), size)
	return m
}

// Append appends n bytes.
func (m *Motif) Append(dst []byte, s *Source, n int) []byte {
	for ; n > 0; n -= motifChunk {
		piece := min(n, motifChunk, len(m.buffer))
		if s.Unit() < m.unique {
			dst = m.random(dst, s, piece)
			continue
		}
		start := s.Uniform(int64(len(m.buffer) - piece + 1))
		dst = append(dst, m.buffer[start:int(start)+piece]...)
	}
	return dst
}

// random appends n random bytes, four per draw.
func (m *Motif) random(dst []byte, s *Source, n int) []byte {
	var draw uint64
	for i := range n {
		if i%4 == 0 {
			draw = s.Uint64()
		}
		dst = append(dst, byte(m.low+int64(draw&0xffff)*m.symbols>>16))
		draw >>= 16
	}
	return dst
}
