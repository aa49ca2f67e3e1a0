//go:build native && cgo && linux

package wiredtiger

// #include "binding.h"
import "C"

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/engine/kvkit"
)

// store keeps every space of kvkit in a table.
type store struct {
	conn       *C.WT_CONNECTION
	dir        string
	set        settings
	spaces     int
	reserve    C.int     // 1: GetForUpdate reserves rows
	pool       sync.Pool // of *session, between transactions
	closing    sync.RWMutex
	closed     bool
	tables     map[string]string // the configuration of the last one
	statistics []statistic
}

// Concurrency returns Isolated for the B-tree: transactions have a snapshot, and the
// second writer of a row fails. In an LSM tree WiredTiger misses writers of a row that
// has left the newest chunk since the snapshot, and their updates would be lost.
func (s *store) Concurrency() kvkit.Concurrency {
	if s.set.storage == lsm {
		return kvkit.Unisolated
	}
	return kvkit.Isolated
}

// entryMemory is the memory of an uncommitted entry in the cache.
const entryMemory = 200

// MaxEntries returns the maximum number of writes in a transaction: WiredTiger repeatedly
// rolls back one that fills a tenth of its cache, and half of that is safe.
func (s *store) MaxEntries() int { return int(s.set.cache / 20 / entryMemory) }

func (s *store) with(f func(*session) error) error {
	se := s.pool.Get().(*session)
	if se.err != nil {
		return se.err
	}
	defer s.pool.Put(se)
	return f(se)
}

func (s *store) Settings() []engine.Setting {
	out := []engine.Setting{
		{Name: "library", Value: C.GoString(C.wt_version()), Source: engine.ReadBack},
		{Name: "storage", Value: s.set.storage, Source: engine.ReadBack},
		engine.Compressed(engine.ReadBack, s.tables["block_compressor"]),
		{Name: "cache", Value: strconv.FormatInt(s.set.cache, 10), Source: engine.AsSet},
		{Name: "connection", Value: s.set.connection, Source: engine.AsSet},
	}
	if values, err := s.read(); err == nil {
		for _, st := range s.statistics {
			if st.setting != "" {
				out = append(out, engine.Setting{Name: st.setting, Value: strconv.FormatInt(int64(values[st.at]), 10),
					Source: engine.ReadBack})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if value := s.tables[name]; value != "" {
			out = append(out, engine.Setting{Name: "table." + name, Value: value, Source: engine.ReadBack})
		}
	}
	return out
}

// Sizes returns the allocated bytes of the files of each table.
func (s *store) Sizes(ranges []kvkit.Range) error {
	sums, err := fsize.ByClass(s.dir, tableOf)
	if err != nil {
		return err
	}
	for i := range ranges {
		r := &ranges[i]
		r.Bytes, r.Kind = sums[fmt.Sprint("s", kvkit.SpaceOf(r.Lower))].Allocated, engine.Exact
	}
	return nil
}

// tableOf returns the table of a file, such as s3.wt, s3-000001.lsm and s3-000001.bf.
func tableOf(path string) string {
	name := filepath.Base(path)
	if i := strings.IndexAny(name, "-."); i >= 0 {
		return name[:i]
	}
	return name
}

// Settle writes a checkpoint, and waits until the chunks of LSM trees have been
// merged.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	done.Do("checkpoint", func() (string, error) {
		return "", s.with(func(se *session) error { return failure(C.wt_checkpoint(se.s)) })
	})
	if s.set.storage == lsm {
		done.Do("wait for merges", func() (string, error) {
			before, last := s.chunks(), ""
			err := engine.AwaitRest(ctx, 200*time.Millisecond, 10, func() (bool, error) {
				now, err := s.progress()
				rest := now == last
				last = now
				return rest, err
			})
			return fmt.Sprintf("%d chunks before, %d after", before, s.chunks()), err
		})
	}
}

// chunks counts the files of LSM trees.
func (s *store) chunks() int {
	files, _ := fs.Glob(os.DirFS(s.dir), "*.lsm")
	return len(files)
}

// progress returns a text that changes while chunks are merged.
func (s *store) progress() (string, error) {
	values, err := s.read()
	text := fmt.Sprint(s.chunks())
	for _, st := range s.statistics {
		if err == nil && st.merging {
			text += fmt.Sprint(" ", values[st.at])
		}
	}
	return text, err
}

func (s *store) Close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	s.closed = true
	return engine.Wrap("close wiredtiger", failure(C.wt_close(s.conn))) // with all sessions
}
