package declared

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"rumbench/model"
	"rumbench/workload/gen"
)

// alphabet has 64 characters, so that each holds 6 bits.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

// proofBytes is the length of the checksum, in hex, that proves the rest of a text.
const proofBytes = 8

// buildText makes texts of which a compressor can save a given share: in pieces, each of
// them random at first and then constant, so that any compression window finds the same
// share.
//
// The share is the saving of zlib on values of 100 bytes and more, one after the other in
// blocks of 16 KB, within 0.03. zlib saves a quarter even on random characters, which
// hold 6 bits in 8: no less can be saved of a text. Compressors without shorter codes,
// such as LZ4 and Snappy, save less: a third for a share of 0.5.
func buildText(a *arguments) value {
	size, compress := a.value("size", model.Int), a.float("compress", 0, 1)
	proven, ok := a.node("check").Value.(bool)
	if !ok {
		a.refuse(a.node("check"), "check is true or false", "")
	}
	if a.wrong {
		return value{}
	}
	t := textMaker{size: size.num, left: 1 - compress, cost: charCost, proven: proven, bytes: a.generator.name == "bytes"}
	if t.bytes {
		t.cost = 1
	}
	switch {
	case !size.fixed:
	case size.num(nil) < 1:
		a.refuse(a.node("size"), fmt.Sprintf("size of %s is %d, and must be at least 1", a.generator.name, size.num(nil)), "")
	case size.num(nil) > mostBytes:
		a.refuse(a.node("size"), fmt.Sprintf("size of %s is %d, and must be at most %d", a.generator.name, size.num(nil),
			mostBytes), "")
	case proven && size.num(nil) < proofBytes:
		a.refuse(a.node("size"), fmt.Sprintf("a text that is checked has at least %d bytes", proofBytes), "")
	}
	typ := model.String
	if t.bytes {
		typ = model.Bytes
	}
	return value{typ: typ, late: size.late, proven: proven, text: t.make, mean: size.mean, limit: size.limit}
}

type textMaker struct {
	size   func(*env) int64
	left   float64 // the share that a compressor leaves
	cost   float64 // bytes that a compressor leaves of a random one
	bytes  bool    // any bytes
	proven bool
}

const (
	// pieceBytes is the approximate length of a random part and the constant part after
	// it.
	pieceBytes = 256
	// runCost is how many bytes zlib needs for a constant part, whatever its length.
	runCost = 3
	// charCost is how many bytes zlib needs for a random character of the alphabet.
	charCost = 0.754
	// digitCost is the approximate number for a digit of a proof.
	digitCost = 0.6
)

func (t *textMaker) make(e *env) []byte {
	size := int(max(t.size(e), 0))
	start := len(e.text)
	proof := 0
	if t.proven && size >= proofBytes {
		proof = proofBytes
		e.text = append(e.text, zeros[:proof]...)
	}
	pieces := max(1, (size+pieceBytes/2)/pieceBytes)
	for i := range pieces {
		e.text = t.piece(e.text, &e.src, (i+1)*size/pieces-i*size/pieces, proof)
		proof = 0
	}
	if t.proven && size >= proofBytes {
		prove(e.text[start:])
	}
	return e.text[start:len(e.text):len(e.text)]
}

// piece appends a piece; its first proof bytes are in place already.
func (t *textMaker) piece(dst []byte, s *gen.Source, size, proof int) []byte {
	random := size - proof
	if t.left < t.cost {
		bytes := t.left*float64(size) - runCost - digitCost*float64(proof)
		random = max(0, min(random, int(bytes/t.cost+0.5)))
	}
	var draw uint64
	for i := range random {
		switch {
		case t.bytes:
			if i%8 == 0 {
				draw = s.Uint64()
			}
			dst = append(dst, byte(draw))
			draw >>= 8
		default:
			if i%10 == 0 {
				draw = s.Uint64()
			}
			dst = append(dst, alphabet[draw&63])
			draw >>= 6
		}
	}
	for size -= proof + random; size > 0; size -= len(constant) {
		dst = append(dst, constant[:min(size, len(constant))]...)
	}
	return dst
}

var (
	constant = bytes.Repeat([]byte{'a'}, pieceBytes)
	zeros    = bytes.Repeat([]byte("0"), 100)
)

// prove writes the checksum of a text into its first bytes.
func prove(text []byte) {
	proof := proofOf(text)
	copy(text, proof[:])
}

// proofOf returns the expected first bytes of a text.
func proofOf(text []byte) (proof [proofBytes]byte) {
	const hex = "0123456789abcdef"
	sum := crc32.ChecksumIEEE(text[proofBytes:])
	for i := range proof {
		proof[i] = hex[sum>>28]
		sum <<= 4
	}
	return proof
}

// isProven reports whether a text begins with the checksum of the rest. Texts too short
// for a checksum have none, and pass.
func isProven(text []byte) bool {
	return len(text) < proofBytes || proofOf(text) == [proofBytes]byte(text[:proofBytes])
}
