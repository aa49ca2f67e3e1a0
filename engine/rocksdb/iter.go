//go:build native && cgo && linux

package rocksdb

/*
#cgo noescape scan
#cgo nocallback scan
#cgo noescape fill
#cgo nocallback fill
#cgo noescape iter_close
#cgo nocallback iter_close
#include "binding.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"rumbench/engine/kvkit"
)

// steps are the numbers of entries that are read at once: few at first, for short scans.
var steps = [...]int{1, 8, 64, 1000}

// iter reads entries many at a time, in one direction: from First or from Last,
// once.
type iter struct {
	tx           *tx
	lower, upper []byte
	c            *C.iter // nil before the first move
	reverse      bool
	want, step   int    // number of entries in the first read, and position in steps
	rest         []byte // entries that have been read and come next
	left         int    // their number
	more         bool   // more entries may follow those
	key, value   []byte
	err          error
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	if len(t.iters) == 0 {
		t.iters = append(t.iters, &iter{})
	}
	last := len(t.iters) - 1
	it := t.iters[last]
	t.iters = t.iters[:last]
	*it = iter{tx: t, lower: append(it.lower[:0], lower...), upper: append(it.upper[:0], upper...), want: steps[0]}
	return it, nil
}

// Announce implements kvkit.Announced.
func (it *iter) Announce(entries int) { it.want = min(entries, steps[len(steps)-1]) }

func (it *iter) First() bool { return it.start(false) }
func (it *iter) Last() bool  { return it.start(true) }
func (it *iter) Next() bool  { return it.advance(false) }
func (it *iter) Prev() bool  { return it.advance(true) }

// start moves to an end of the range.
func (it *iter) start(reverse bool) bool {
	it.reverse = reverse
	return it.take(C.scan(it.tx.store.c, it.tx.view, chars(it.lower), C.size_t(len(it.lower)), chars(it.upper),
		C.size_t(len(it.upper)), flag(reverse), C.size_t(it.want)))
}

// advance moves to the entry after or before this one.
func (it *iter) advance(reverse bool) bool {
	switch {
	case reverse != it.reverse:
		it.err = errors.New("rocksdb: an iterator has one direction")
		return false
	case it.left > 0:
		return it.next()
	case !it.more:
		return false
	}
	it.step = min(it.step+1, len(steps)-1)
	return it.take(C.fill(it.c, C.size_t(steps[it.step])))
}

// take moves to the first of the entries of a page.
func (it *iter) take(p C.page) bool {
	it.c = p.it
	it.rest = unsafe.Slice((*byte)(unsafe.Pointer(p.entries)), p.length)
	it.left, it.more = int(p.count), p.more != 0
	it.err = it.tx.store.fail(p.error)
	return it.err == nil && it.left > 0 && it.next()
}

// next moves to the next entry that was read.
func (it *iter) next() bool {
	nk, nv := binary.NativeEndian.Uint32(it.rest), binary.NativeEndian.Uint32(it.rest[4:])
	entry := it.rest[8 : 8+nk+nv]
	it.key, it.value = entry[:nk:nk], entry[nk:]
	it.rest = it.rest[8+nk+nv:]
	it.left--
	return true
}

func (it *iter) Key() []byte            { return it.key }
func (it *iter) Value() ([]byte, error) { return it.value, nil }

func (it *iter) Close() error {
	if it.c != nil {
		C.iter_close(it.c)
	}
	it.tx.iters = append(it.tx.iters, it)
	return it.err
}
