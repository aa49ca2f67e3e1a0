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
#include "binding.h"
*/
import "C"

import (
	"encoding/binary"
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
