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

	"rumbench/engine/kvkit"
)

// steps are how many entries are read at once: few at first, for short scans.
var steps = [...]int{1, 8, 64, 1000}

// iterRoom is the memory for entries read at once; a longer entry gets its own.
const iterRoom = 64 << 10

// iter reads entries many at a time, in one direction: from First or from Last.
type iter struct {
	tx           *tx
	lower, upper []byte
	c            *C.iter // nil before the first move
	move         C.int   // NEXT or PREV
	first        int     // how many entries are read first
	step         int     // position in steps
	room         []byte
	rest         []byte // entries that were read and come next
	left         int    // their number
	more         bool   // entries may follow those
	key, value   []byte
	err          error
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	var it *iter
	if n := len(t.iters); n > 0 {
		it, t.iters = t.iters[n-1], t.iters[:n-1]
	} else {
		it = &iter{tx: t, room: make([]byte, iterRoom)}
	}
	it.lower, it.upper = append(it.lower[:0], lower...), append(it.upper[:0], upper...)
	it.c, it.err, it.left, it.more, it.first = nil, nil, 0, false, 1
	return it, nil
}

// Announce implements kvkit.Announced.
func (it *iter) Announce(entries int) { it.first = min(entries, steps[len(steps)-1]) }

func (it *iter) First() bool { return it.start(C.FIRST, C.NEXT) }
func (it *iter) Last() bool  { return it.start(C.LAST, C.PREV) }
func (it *iter) Next() bool  { return it.advance(C.NEXT) }
func (it *iter) Prev() bool  { return it.advance(C.PREV) }

// start moves to an end of the range.
func (it *iter) start(end, move C.int) bool {
	it.step, it.move = 0, move
	if it.c != nil {
		return it.read(end)
	}
	l, u, room := it.lower, it.upper, it.room
	return it.take(C.scan(it.tx.store.c, it.tx.view, chars(l), C.size_t(len(l)), chars(u), C.size_t(len(u)),
		end, it.want(), chars(room), C.size_t(len(room))))
}

// advance moves to the entry after or before this one.
func (it *iter) advance(move C.int) bool {
	switch {
	case move != it.move:
		it.err = errors.New("rocksdb: an iterator has one direction")
		return false
	case it.err != nil:
		return false
	case it.left > 0:
		return it.next()
	case !it.more:
		return false
	}
	it.step = min(it.step+1, len(steps)-1)
	return it.read(move)
}

// want is how many entries are read next.
func (it *iter) want() C.size_t {
	if it.step == 0 {
		return C.size_t(it.first)
	}
	return C.size_t(steps[it.step])
}

func (it *iter) read(move C.int) bool {
	return it.take(C.fill(it.c, move, it.want(), chars(it.room), C.size_t(len(it.room))))
}

// take moves to the first of the entries of a page.
func (it *iter) take(p C.page) bool {
	it.c = p.it
	if it.err = it.tx.store.fail(p.error); it.err != nil {
		it.left, it.more = 0, false
		return false
	}
	if p.count == 0 && p.need > 0 {
		it.room = make([]byte, p.need)
		return it.read(it.move)
	}
	it.rest, it.left = it.room[:p.used], int(p.count)
	it.more = p.need > 0 || it.left == int(it.want())
	return it.next()
}

// next moves to the next entry that was read.
func (it *iter) next() bool {
	if it.left == 0 {
		return false
	}
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
		it.c = nil
	}
	it.tx.iters = append(it.tx.iters, it)
	return it.err
}
