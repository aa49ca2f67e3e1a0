//go:build native && cgo && linux

package wiredtiger

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// library is the shim with WiredTiger.
var library native.Library

func load(path string) error {
	return library.Load(path, func(l unsafe.Pointer) *byte { return (*byte)(unsafe.Pointer(C.wt_bind(l))) })
}

// open opens or creates the database, with a table for each space.
func open(c engine.Config, set settings) (_ engine.DB, err error) {
	if err := engine.CheckDir(c.Dir, "WiredTiger"); err != nil {
		return nil, err
	}
	if err := load(set.path); err != nil {
		return nil, err
	}
	native.SetSyncs(set.durability == model.DurabilityOS)
	s := &store{dir: c.Dir, set: set, spaces: kvkit.Spaces(c.Schema)}
	if err := call(func(a *arena) C.int { return C.wt_open(a.text(c.Dir), a.text(set.connection), &s.conn) }); err != nil {
		return nil, fmt.Errorf("open wiredtiger in %s: %w", c.Dir, err)
	}
	if set.storage == btree {
		s.reserve = 1
	}
	s.pool.New = func() any { return s.newSession() }
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("open wiredtiger in %s: %w", c.Dir, err), s.Close())
	}
	return set.switches.Open(s, c)
}

// prepare creates the tables, checks those that exist, and reads the values that do not
// change.
func (s *store) prepare() error {
	return s.with(func(se *session) error {
		text := make([]byte, 64<<10)
		for i := range s.spaces {
			if err := call(func(a *arena) C.int { return C.wt_create(se.s, a.text(uri(i)), a.text(s.set.tables)) }); err != nil {
				return fmt.Errorf("create table: %w", err)
			}
			if err := call(func(a *arena) C.int {
				return C.wt_config(se.s, a.text(uri(i)), (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
			}); err != nil {
				return fmt.Errorf("read back the tables' configuration: %w", err)
			}
			s.tables = split(string(text[:bytes.IndexByte(text, 0)]))
			for _, p := range s.set.shape {
				if got := s.tables[p.name]; got != p.value {
					return engine.Refuse(p.knob, p.value, "the tables were created with %s=%s", p.name, got)
				}
			}
		}
		return s.findStatistics(se)
	})
}

func uri(space int) string { return fmt.Sprint("table:s", space) }

// arena frees the C strings of a call.
type arena []unsafe.Pointer

func (a *arena) text(s string) *C.char {
	p := C.CString(s)
	*a = append(*a, unsafe.Pointer(p))
	return p
}

// call calls a function of the shim with C strings.
func call(f func(*arena) C.int) error {
	var a arena
	defer func() {
		for _, p := range a {
			C.free(p)
		}
	}()
	return failure(f(&a))
}

// WiredTiger's codes, the same in all versions.
const (
	rollback    = -31800
	notFound    = -31803
	panicked    = -31804
	runRecovery = -31806
	trySalvage  = -31809
)

// failure returns the error of a code, nil for 0.
func failure(code C.int) error {
	if code == 0 {
		return nil
	}
	text := C.GoString(C.wt_error(code))
	message := make([]byte, 512)
	cause := C.wt_last((*C.char)(unsafe.Pointer(&message[0])), C.size_t(len(message)))
	gone := code == panicked || code == runRecovery
	if cause != 0 && (gone || cause == code) {
		text += ": " + string(message[:bytes.IndexByte(message, 0)])
	}
	err := fmt.Errorf("wiredtiger: %s", text)
	if (gone && cause == C.int(syscall.ENOSPC)) || code == C.int(syscall.ENOSPC) {
		err = engine.DiskFull(err)
	}
	switch {
	case code == rollback:
		return engine.Classify(engine.Conflict, err)
	case gone:
		return engine.Classify(engine.Gone, err)
	case code == trySalvage:
		return hint.With(err, "its files are damaged: remove the directory and load it again, or salvage it with "+
			"WiredTiger's own tool")
	}
	return err
}
