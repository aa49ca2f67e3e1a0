package gen

import (
	"encoding/base64"
	"encoding/binary"
)

// poolBytes is the size of the random pool of a text: 4 MiB, so that a compressor does
// not find the same piece again within its window.
const poolBytes = 4 << 20

// Text generates strings with a known incompressible share: constant characters
// followed by a piece of a pool of base64 characters.
type Text struct {
	stream    Stream
	low, high int64
	random    float64
	pool      []byte
}

// NewText returns a generator of texts of low…high characters, uniformly distributed. A
// share random (0…1) of each text is incompressible. A random base64 character holds six
// bits, so random characters are three quarters of that share.
func NewText(s Stream, low, high int64, random float64) *Text {
	raw := make([]byte, poolBytes)
	source := s.Sub(0)
	for i := 0; i < len(raw); i += 8 {
		binary.LittleEndian.PutUint64(raw[i:], source.At(uint64(i)))
	}
	pool := make([]byte, base64.StdEncoding.EncodedLen(len(raw)))
	base64.StdEncoding.Encode(pool, raw)
	return &Text{stream: s, low: low, high: high, random: random, pool: pool}
}

// With returns the same generator, with the same pool, on a different stream.
func (t *Text) With(s Stream) *Text {
	u := *t
	u.stream = s
	return &u
}

// Append appends text i.
func (t *Text) Append(dst []byte, i uint64) []byte {
	// One draw serves both: its high half selects the length, its low half the piece.
	d := t.stream.At(i)
	length := t.low + int64((d>>32)*uint64(t.high-t.low+1)>>32)
	random := int64(float64(length) * 0.75 * t.random)
	for range length - random {
		dst = append(dst, 'a')
	}
	start := (d & (1<<32 - 1)) * (uint64(len(t.pool)) - uint64(random)) >> 32
	return append(dst, t.pool[start:start+uint64(random)]...)
}
