//go:build native && cgo && linux

package wiredtiger

/*
#cgo noescape wt_get
#cgo nocallback wt_get
#cgo noescape wt_copy
#cgo nocallback wt_copy
#cgo noescape wt_put
#cgo nocallback wt_put
#cgo noescape wt_finish
#cgo nocallback wt_finish
#cgo noescape wt_delete
#cgo nocallback wt_delete
#include "binding.h"
*/
import "C"

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"unsafe"

	"rumbench/engine/kvkit"
)

// session is a session of WiredTiger with its cursors, used by one transaction at a
// time.
type session struct {
	s       *C.WT_SESSION
	cursors []*C.WT_CURSOR // by space
	iters   []*iter        // by space, nil while in use
	room    []byte         // for values
	tx      tx             // the one that uses it
	err     error          // from its creation
}

func (s *store) newSession() *session {
	se := &session{cursors: make([]*C.WT_CURSOR, s.spaces), iters: make([]*iter, s.spaces)}
	if se.err = failure(C.wt_session(s.conn, &se.s)); se.err == nil {
		runtime.AddCleanup(se, s.end, se.s) // when the pool drops it
	}
	return se
}

// end closes a session, unless Close has closed it already.
func (s *store) end(se *C.WT_SESSION) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if !s.closed {
		C.wt_end(se)
	}
}

func (se *session) open(space int) (c *C.WT_CURSOR, err error) {
	err = call(func(a *arena) C.int { return C.wt_cursor(se.s, a.text(uri(space)), &c) })
	return c, err
}

func (se *session) cursor(key []byte) (_ *C.WT_CURSOR, err error) {
	c := &se.cursors[kvkit.SpaceOf(key)]
	if *c == nil {
		*c, err = se.open(kvkit.SpaceOf(key))
	}
	return *c, err
}

// Begin takes a session. The transaction of WiredTiger begins at once, except for one
// that only writes, which begins with its first write, and one that reads a B-tree without
// a snapshot: each of its reads then has its own. In an LSM tree of WiredTiger 11, reads
// outside a transaction find older versions of rows when the tree switches chunks.
func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	se := s.pool.Get().(*session)
	if se.err != nil {
		return nil, se.err
	}
	t := &se.tx
	*t = tx{session: se, store: s, last: put{t.last.key[:0], t.last.value[:0]}}
	t.alone = mode == kvkit.Read && s.set.storage != lsm
	if mode == kvkit.Write || t.alone {
		return t, nil
	}
	if err := t.begin(); err != nil {
		s.pool.Put(se)
		return nil, err
	}
	return t, nil
}

// tx is a transaction. Its last put waits for the next call: as a rule that is the commit,
// and both take one call to C.
type tx struct {
	*session
	store   *store
	alone   bool // it only reads, without a transaction of WiredTiger
	begun   bool
	ended   bool
	last    put   // of a key that is not empty
	scanned bool  // cursors stand on pages
	failed  error // it can only be rolled back
}

type put struct{ key, value []byte }

func (t *tx) begin() error {
	if t.begun || t.alone {
		return nil
	}
	err := failure(C.wt_begin(t.s))
	t.begun = err == nil
	return err
}

// ready begins the transaction, and makes the put that waits.
func (t *tx) ready() error {
	if err := t.begin(); err != nil || len(t.last.key) == 0 {
		return err
	}
	c, err := t.cursor(t.last.key)
	if err != nil {
		return err
	}
	k, nk := pointer(t.last.key[kvkit.SpaceLen:])
	v, nv := pointer(t.last.value)
	t.last.key = t.last.key[:0]
	if err := t.fail(C.wt_put(c, k, nk, v, nv)); err != nil {
		t.failed = err // the caller of the put does not know
	}
	return t.failed
}

// fail returns the error of a code. After a conflict WiredTiger would still commit a
// transaction that has written nothing.
func (t *tx) fail(code C.int) error {
	err := failure(code)
	if code == rollback {
		t.failed = err
	}
	return err
}

func (t *tx) Get(key []byte) ([]byte, error) {
	if t.alone {
		return t.copy(key)
	}
	return t.get(key, 0)
}

// GetForUpdate reserves the row, as if it were written. A row that does not exist
// conflicts with others when it is inserted. In an LSM tree WiredTiger reserves rows of
// the newest chunk only, and the kit has locked them.
func (t *tx) GetForUpdate(key []byte) ([]byte, error) { return t.get(key, t.store.reserve) }

func (t *tx) get(key []byte, reserve C.int) ([]byte, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	c, err := t.cursor(key)
	if err != nil {
		return nil, err
	}
	p, n := pointer(key[kvkit.SpaceLen:])
	v := C.wt_get(c, p, n, reserve)
	return t.value(v, v.data)
}

// copy reads a row outside a transaction.
func (t *tx) copy(key []byte) ([]byte, error) {
	c, err := t.cursor(key)
	if err != nil {
		return nil, err
	}
	p, n := pointer(key[kvkit.SpaceLen:])
	for {
		room, size := pointer(t.room)
		v := C.wt_copy(c, p, n, room, size)
		if v.code != 0 || v.size <= size {
			return t.value(v, room)
		}
		t.room = make([]byte, v.size) // and again
	}
}

func (t *tx) value(v C.rumbench_wt_value, data *C.char) ([]byte, error) {
	switch {
	case v.code == notFound:
		return nil, nil
	case v.code != 0:
		return nil, t.fail(v.code)
	case v.size == 0:
		return []byte{}, nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(data)), v.size), nil
}

func (t *tx) Put(key, value []byte) error {
	if err := t.ready(); err != nil {
		return err
	}
	t.last.key, t.last.value = append(t.last.key, key...), append(t.last.value[:0], value...)
	return nil
}

func (t *tx) Delete(key []byte) error {
	if err := t.ready(); err != nil {
		return err
	}
	c, err := t.cursor(key)
	if err != nil {
		return err
	}
	p, n := pointer(key[kvkit.SpaceLen:])
	if code := C.wt_delete(c, p, n); code != notFound {
		return t.fail(code)
	}
	return nil
}

func pointer(b []byte) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.size_t(len(b))
}

// Commit commits the transaction. One that fails is rolled back.
func (t *tx) Commit() error {
	switch {
	case t.failed != nil:
		return t.failed
	case len(t.last.key) > 0:
		return t.finish()
	case !t.begun:
		return nil
	}
	t.ended = true
	return failure(C.wt_commit(t.s))
}

func (t *tx) finish() error {
	c, err := t.cursor(t.last.key)
	if err != nil {
		return err
	}
	k, nk := pointer(t.last.key[kvkit.SpaceLen:])
	v, nv := pointer(t.last.value)
	begun := C.int(0)
	if t.begun {
		begun = 1
	}
	t.ended = true
	return failure(C.wt_finish(t.s, begun, c, k, nk, v, nv))
}

// Rollback also gives the session back, so that kvkit calls it last, and once.
func (t *tx) Rollback() {
	switch {
	case t.alone && t.scanned:
		C.wt_reset(t.s) // releases the pages under the cursors
	case t.begun && !t.ended:
		C.wt_rollback(t.s)
	}
	t.store.pool.Put(t.session)
}

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
