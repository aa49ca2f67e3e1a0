package declared

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"

	"rumbench/internal/gen"
	"rumbench/model"
)

// alphabet has 64 characters, so that each holds 6 bits.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

// proofBytes is the length of what proves the rest of a text: its checksum in hex.
const proofBytes = 8

// buildText makes texts of which a share is random, in pieces that alternate with
// constant ones, so that any window of a compressor finds the same share.
func buildText(a *arguments) value {
	size, compress := a.value("size", model.Int), a.float("compress", 0, 1)
	proven, ok := a.node("check").Value.(bool)
	if !ok {
		a.refuse(a.node("check"), "check is true or false", "")
	}
	if a.wrong {
		return value{}
	}
	t := textMaker{size: size.num, random: piece(a.of.name, compress), proven: proven, bytes: a.of.name == "bytes"}
	switch {
	case !size.fixed:
	case size.num(nil) < 1:
		a.refuse(a.node("size"), fmt.Sprintf("size of %s is %d, and must be at least 1", a.of.name, size.num(nil)), "")
	case size.num(nil) > mostBytes:
		a.refuse(a.node("size"), fmt.Sprintf("size of %s is %d, and must be at most %d", a.of.name, size.num(nil), mostBytes), "")
	case proven && size.num(nil) < proofBytes:
		a.refuse(a.node("size"), fmt.Sprintf("a text that is checked has at least %d bytes", proofBytes), "")
	}
	typ := model.String
	if t.bytes {
		typ = model.Bytes
	}
	return value{typ: typ, late: size.late, proven: proven, text: t.make, mean: size.mean, most: size.most}
}

type textMaker struct {
	size   func(*env) int64
	random int  // bytes of a piece
	bytes  bool // any bytes
	proven bool
}

// piece returns how many bytes of a piece are random. A random character holds 6 of 8
// bits, so that of texts at least a quarter can be saved.
func piece(kind string, compress float64) int {
	random := 1 - compress
	if kind == "text" {
		random = min(random*8/6, 1)
	}
	return int(random*pieceBytes + 0.5)
}

// pieceBytes is the length of a random piece and the constant one after it.
const pieceBytes = 64

func (t *textMaker) make(e *env) []byte {
	size := int(max(t.size(e), 0))
	from := len(e.text)
	if t.proven && size >= proofBytes {
		e.text = append(e.text, zeros[:proofBytes]...)
		e.text = t.fill(e.text, &e.src, size-proofBytes)
		prove(e.text[from:])
	} else {
		e.text = t.fill(e.text, &e.src, size)
	}
	return e.text[from:len(e.text):len(e.text)]
}

// fill appends n bytes, in pieces that are random at first and then constant.
func (t *textMaker) fill(dst []byte, s *gen.Source, n int) []byte {
	for ; n > 0; n -= pieceBytes {
		piece := min(n, pieceBytes)
		random := min(piece, t.random)
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
		dst = append(dst, constant[:piece-random]...)
	}
	return dst
}

var constant = bytes.Repeat([]byte{'a'}, pieceBytes)

// prove writes the checksum of a text into its first bytes.
func prove(text []byte) {
	const hex = "0123456789abcdef"
	sum := crc32.ChecksumIEEE(text[proofBytes:])
	for i := range proofBytes {
		text[i] = hex[sum>>28]
		sum <<= 4
	}
}

// isProven reports whether a text has the checksum of what follows.
func isProven(text []byte) bool {
	if len(text) < proofBytes {
		return true
	}
	sum, err := strconv.ParseUint(string(text[:proofBytes]), 16, 32)
	return err == nil && uint32(sum) == crc32.ChecksumIEEE(text[proofBytes:])
}
