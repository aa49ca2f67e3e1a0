//go:build native && cgo && linux

package wiredtiger

// #include "binding.h"
import "C"

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"rumbench/engine/kvkit"
)

// iter reads entries in batches that grow, in the direction that First or Last sets.
type iter struct {
	tx           *tx
	space        int
	cursor       *C.WT_CURSOR
	lower, upper []byte // without the space; empty: to its end
	back         C.int
	start        C.int // how the next batch starts, see shim.h
	batch        C.int // entries of the next batch
	buf, rest    []byte
	left         int  // entries in rest
	last         bool // none follow
	key, value   []byte
	err          error
}

// The maxBatch batch, and the first and the maxBatch size of the buffer, which grows to
// hold more entries.
const (
	maxBatch    = 1000
	firstBuffer = 4 << 10
	maxBuffer   = 128 << 10
)

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	t.scanned = true
	space := kvkit.SpaceOf(lower)
	i := t.iters[space]
	if i == nil {
		i = &iter{space: space, buf: make([]byte, firstBuffer)}
		var err error
		if i.cursor, err = t.open(space); err != nil {
			return nil, err
		}
	}
	t.iters[space] = nil
	i.tx, i.err, i.lower, i.upper, i.batch = t, nil, lower[kvkit.SpaceLen:], nil, 1
	if bytes.HasPrefix(upper, lower[:kvkit.SpaceLen]) {
		i.upper = upper[kvkit.SpaceLen:]
	}
	return i, nil
}

// Announce makes the first batch as large as the scan is going to be; 0: unknown.
func (i *iter) Announce(entries int) { i.batch = C.int(min(max(entries, 1), maxBatch)) }

func (i *iter) First() bool { return i.begin(0) }
func (i *iter) Last() bool  { return i.begin(1) }

func (i *iter) begin(back C.int) bool {
	i.back, i.start, i.left, i.last = back, 1, 0, false
	return i.Next()
}

func (i *iter) Prev() bool { return i.Next() }

func (i *iter) Next() bool {
	for i.left == 0 {
		if i.last || i.err != nil {
			return false
		}
		i.fill()
	}
	const sizes = 8
	k, v := binary.NativeEndian.Uint32(i.rest), binary.NativeEndian.Uint32(i.rest[4:])
	// The space precedes the key, in the bytes that held its sizes.
	i.key = i.rest[sizes-kvkit.SpaceLen : sizes+k]
	binary.BigEndian.PutUint16(i.key, uint16(i.space))
	i.value = i.rest[sizes+k : sizes+k+v]
	i.rest = i.rest[sizes+k+v:]
	i.left--
	return true
}

// fill reads the next batch.
func (i *iter) fill() {
	start, bound := i.lower, i.upper
	if i.back == 1 {
		start, bound = bound, start
	}
	f, nf := pointer(start)
	b, nb := pointer(bound)
	got := C.wt_scan(i.cursor, i.back, i.start, f, nf, b, nb, i.batch, (*C.char)(unsafe.Pointer(&i.buf[0])),
		C.size_t(len(i.buf)))
	i.left, i.rest, i.start = int(got.count), i.buf, 0
	switch i.batch -= got.count; {
	case got.full == 1: // the rest of the requested entries comes next
		i.start = 2
		if i.left == 0 || len(i.buf) < maxBuffer { // the entries that were read are in the old one
			i.buf = make([]byte, max(2*len(i.buf), int(got.need)))
		}
	case got.code == notFound:
		i.last = true
	case got.code != 0:
		i.last, i.err = true, i.tx.fail(got.code)
	default:
		i.batch = min(got.count*8, maxBatch)
	}
}

func (i *iter) Key() []byte            { return i.key }
func (i *iter) Value() ([]byte, error) { return i.value, nil }

// Close keeps the iterator with its cursor for the session's next one.
func (i *iter) Close() error {
	i.tx.iters[i.space] = i
	return i.err
}
