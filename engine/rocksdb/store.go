//go:build native && cgo && linux

package rocksdb

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

type store struct {
	c           *C.store
	dir         string
	settings    settings
	effective   []engine.Setting
	structure   engine.Structure
	compression []string  // the names of the algorithms, of all levels
	direct      bool      // bypasses the page cache
	pool        sync.Pool // of *tx
}

func (s *store) Concurrency() kvkit.Concurrency { return s.settings.concurrency() }

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// fail returns an error of RocksDB, nil for none.
func (s *store) fail(e *C.char) error {
	if e == nil {
		return nil
	}
	text := C.GoString(e)
	C.release(e)
	return errorOf(text)
}

func (s *store) Settings() []engine.Setting {
	log := map[model.Durability]string{
		model.DurabilityNone:    "written to the operating system whenever its buffer is full; nothing is synced",
		model.DurabilityProcess: "written to the operating system at commit; nothing is synced",
		model.DurabilityOS:      "synced at commit",
	}[s.settings.durability]
	return append([]engine.Setting{
		engine.Compressed(engine.ReadBack, s.compression...), engine.Bypasses(s.direct),
		{Name: "write-ahead log", Value: log, Source: engine.AsSet},
	}, s.effective...)
}

// with calls a function with a text, and returns its error.
func (s *store) with(text string, f func(*C.char) *C.char) error {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return s.fail(f(c))
}

// all represents all families.
const all = -1

// number returns a property of a family, or its sum, 0 if this version does not have it.
func (s *store) number(family int, name string) uint64 {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return uint64(C.store_number(s.c, C.int(family), n))
}

// Sizes returns the bytes in tables: memtables and the log belong to no range. Nothing is
// flushed for it, as no step would account for those writes. With a family for each range
// the sizes are exact.
func (s *store) Sizes(ranges []kvkit.Range) error {
	for i := range ranges {
		r := &ranges[i]
		if s.settings.families > 1 {
			space := kvkit.SpaceOf(r.Lower)
			r.Bytes, r.Kind = int64(s.number(int(space), "rocksdb.total-sst-files-size")), engine.Exact
			continue
		}
		var n C.uint64_t
		if err := s.fail(C.store_size(s.c, chars(r.Lower), C.size_t(len(r.Lower)), chars(r.Upper), C.size_t(len(r.Upper)),
			&n)); err != nil {
			return err
		}
		r.Bytes, r.Kind = int64(n), engine.Estimate
	}
	return nil
}

// Settle flushes the memtables and waits until no compaction runs or is due. It polls in
// all versions, as only the newer ones provide a call that waits.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	before := s.number(all, debt)
	done.Do("flush memtables", func() (string, error) { return "", s.flush() })
	done.Do("wait for compactions", func() (string, error) {
		err := engine.AwaitRest(ctx, 50*time.Millisecond, 7, func() (bool, error) {
			busy := s.number(0, "rocksdb.num-running-compactions") + s.number(0, "rocksdb.num-running-flushes") +
				s.number(all, "rocksdb.compaction-pending") + s.number(all, "rocksdb.mem-table-flush-pending")
			return busy == 0, nil
		})
		return fmt.Sprintf("estimated debt %d B before, %d B after", before, s.number(all, debt)), err
	})
}

func (s *store) flush() error { return s.fail(C.store_flush(s.c)) }

// Close closes the database. At level none it writes the log's buffer first.
func (s *store) Close() error { return engine.Wrap("close rocksdb", s.fail(C.store_close(s.c))) }
