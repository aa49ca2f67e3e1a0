//go:build native && cgo && linux

package wiredtiger

// #include "binding.h"
import "C"

import (
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

// Begin begins a transaction, except for one that reads a B-tree without a snapshot: each
// of its reads then has its own. In an LSM tree of WiredTiger 11, reads outside a
// transaction find older versions of rows when the tree switches chunks.
func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	se := s.pool.Get().(*session)
	if se.err != nil {
		return nil, se.err
	}
	t := &tx{session: se, store: s, begun: mode != kvkit.Read || s.set.storage == lsm}
	if t.begun {
		if err := failure(C.wt_begin(se.s)); err != nil {
			s.pool.Put(se)
			return nil, err
		}
	}
	return t, nil
}

type tx struct {
	*session
	store        *store
	begun, ended bool
	failed       error // it can only be rolled back
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

func (t *tx) Get(key []byte) ([]byte, error) { return t.get(key, 0) }

// GetForUpdate reserves the row, as if it were written. A row that does not exist
// conflicts with others when it is inserted. In an LSM tree WiredTiger reserves rows of
// the newest chunk only, and the kit has locked them.
func (t *tx) GetForUpdate(key []byte) ([]byte, error) { return t.get(key, t.store.reserve) }

func (t *tx) get(key []byte, reserve C.int) ([]byte, error) {
	c, err := t.cursor(key)
	if err != nil {
		return nil, err
	}
	p, n := pointer(key[kvkit.SpaceLen:])
	switch v := C.wt_get(c, p, n, reserve); v.code {
	case 0:
		if v.size == 0 {
			return []byte{}, nil
		}
		return unsafe.Slice((*byte)(v.data), v.size), nil
	case notFound:
		return nil, nil
	default:
		return nil, t.fail(v.code)
	}
}

func (t *tx) Put(key, value []byte) error {
	c, err := t.cursor(key)
	if err != nil {
		return err
	}
	k, nk := pointer(key[kvkit.SpaceLen:])
	v, nv := pointer(value)
	return t.fail(C.wt_put(c, k, nk, v, nv))
}

func (t *tx) Delete(key []byte) error {
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

func pointer(b []byte) (unsafe.Pointer, C.size_t) {
	return unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b))
}

func (t *tx) Commit() error {
	if t.failed != nil {
		t.Rollback()
		return t.failed
	}
	t.ended = true
	defer t.store.pool.Put(t.session)
	if !t.begun {
		return failure(C.wt_reset(t.s))
	}
	return failure(C.wt_commit(t.s)) // rolls back if it fails
}

func (t *tx) Rollback() {
	if t.ended {
		return
	}
	t.ended = true
	if t.begun {
		C.wt_rollback(t.s)
	} else {
		C.wt_reset(t.s) // releases the pages under the cursors
	}
	t.store.pool.Put(t.session)
}
