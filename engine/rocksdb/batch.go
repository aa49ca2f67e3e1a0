//go:build native && cgo && linux

package rocksdb

// #include "binding.h"
import "C"

import "encoding/binary"

// batch is the writes of a transaction, for view_apply and store_write: of each its
// kind, and its texts with their lengths.
type batch struct {
	bytes   []byte
	changes bool // it contains more than puts
}

func (b *batch) reset() { b.bytes, b.changes = b.bytes[:0], false }

func (b *batch) put(key, value []byte) {
	b.bytes = appendText(appendText(append(b.bytes, C.PUT), key), value)
}

// change adds a write other than put.
func (b *batch) change(kind byte, texts ...[]byte) {
	b.changes = true
	b.bytes = append(b.bytes, kind)
	for _, t := range texts {
		b.bytes = appendText(b.bytes, t)
	}
}

func appendText(dst, text []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
