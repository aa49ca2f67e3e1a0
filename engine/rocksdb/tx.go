//go:build native && cgo && linux

package rocksdb

/*
#cgo noescape get
#cgo nocallback get
#cgo noescape store_write
#cgo nocallback store_write
#cgo noescape view_apply
#cgo nocallback view_apply
#cgo noescape view_open
#cgo nocallback view_open
#cgo noescape view_close
#cgo nocallback view_close
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

// tx is a transaction. Its writes are collected in a batch, to cross into the library once.
// The view through which it reads is created when it is first needed:
//
//	Read       the database
//	Snapshot   a snapshot
//	Write      the database
//	ReadWrite  the database, until it has written: then an index of its batch; in
//	           a store with transactions, a transaction on a snapshot
//
// In a store with transactions, puts that do not depend on a read insert new rows and are
// a plain batch. Other writes are a transaction: a plain batch takes no locks, and may
// slip in between an optimistic transaction's check and its write.
//
// The memory is reused after Rollback, which kvkit calls last.
type tx struct {
	store   *store
	mode    kvkit.Mode
	batch   batch
	view    *C.view // nil: the database
	applied int     // the length of the batch's part that the view has
	room    []byte  // for values
	iters   []*iter // closed ones, for reuse
}

func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	t := s.pool.Get().(*tx)
	t.mode = mode
	t.batch.reset()
	t.applied = 0
	return t, nil
}

// chars returns the memory of a slice.
func chars(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }

func (t *tx) Put(key, value []byte) error {
	t.batch.put(key, value)
	return nil
}

func (t *tx) Delete(key []byte) error {
	t.batch.change(C.DELETE, key)
	return nil
}

// SingleDelete implements kvkit.SingleDeleter.
func (t *tx) SingleDelete(key []byte) error {
	t.batch.change(C.SINGLE_DELETE, key)
	return nil
}

// DeleteRange implements kvkit.RangeDeleter.
func (t *tx) DeleteRange(lower, upper []byte) error {
	t.batch.change(C.DELETE_RANGE, lower, upper)
	return nil
}

// Merge implements kvkit.Merger.
func (t *tx) Merge(key, operand []byte) error {
	t.batch.change(C.MERGE, key, operand)
	return nil
}

// prepare creates the view that a read needs, and makes it show the transaction's own writes.
func (t *tx) prepare() error {
	if t.view == nil {
		switch {
		case t.mode == kvkit.Snapshot:
			t.view = C.view_open(t.store.c, C.SNAPSHOT)
		case t.mode == kvkit.ReadWrite && t.store.Concurrency() == kvkit.Isolated:
			t.view = C.view_open(t.store.c, C.TX)
		case t.mode == kvkit.ReadWrite && len(t.batch.bytes) > 0:
			t.view = C.view_open(t.store.c, C.INDEXED)
		}
	}
	if t.view == nil || len(t.batch.bytes) == t.applied {
		return nil
	}
	records := t.batch.bytes[t.applied:]
	t.applied = len(t.batch.bytes)
	return t.store.fail(C.view_apply(t.view, chars(records), C.size_t(len(records))))
}

func (t *tx) Get(key []byte) ([]byte, error) { return t.get(key, false) }

// GetForUpdate implements kvkit.Updater.
func (t *tx) GetForUpdate(key []byte) ([]byte, error) { return t.get(key, true) }

func (t *tx) get(key []byte, update bool) ([]byte, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	for {
		v := C.get(t.store.c, t.view, flag(update), chars(key), C.size_t(len(key)), chars(t.room), C.size_t(len(t.room)))
		switch {
		case v.error != nil:
			return nil, t.store.fail(v.error)
		case v.length == C.SIZE_MAX:
			return nil, nil
		case int(v.length) <= len(t.room):
			return t.room[:v.length:v.length], nil
		}
		t.room = make([]byte, v.length) // and again
	}
}

func (t *tx) Commit() error {
	if len(t.batch.bytes) == 0 && t.view == nil {
		return nil
	}
	if t.view == nil && t.batch.changes && t.store.Concurrency() == kvkit.Isolated {
		t.view = C.view_open(t.store.c, C.TX)
	}
	b := t.batch.bytes
	return t.store.fail(C.store_write(t.store.c, t.view, chars(b), C.size_t(len(b)), C.size_t(t.applied)))
}

func (t *tx) Rollback() {
	if t.view != nil {
		C.view_close(t.view)
		t.view = nil
	}
	t.store.pool.Put(t)
}

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
