//go:build native && cgo && linux

package lmdb

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/internal/text/hint"
)

func version() string {
	major, minor, patch, _ := lmdb.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// open opens or creates the database, with a named database for each space.
func open(c engine.Config, set settings) (_ engine.DB, err error) {
	if err := engine.CheckDir(c.Dir, "data.mdb"); err != nil {
		return nil, err
	}
	native.SetSyncs(set.sync)
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, classify(err)
	}
	s := &store{env: env, dir: c.Dir, durability: c.Durability, spaces: make([]lmdb.DBI, kvkit.Spaces(c.Schema))}
	if err := s.open(set); err != nil {
		env.Close()
		return nil, fmt.Errorf("open lmdb in %s: %w", c.Dir, classify(err))
	}
	s.readers = sync.Pool{New: func() any { return s.newReader() }}
	return set.switches.Open(s, c)
}

func (s *store) open(set settings) error {
	flags := uint(lmdb.NoTLS)
	if set.writeMap {
		flags |= lmdb.WriteMap
	}
	if !set.readahead {
		flags |= lmdb.NoReadahead
	}
	if !set.sync {
		flags |= lmdb.NoSync
	}
	if err := errors.Join(s.env.SetMapSize(set.mapSize), s.env.SetMaxDBs(len(s.spaces)), s.env.SetMaxReaders(1024),
		s.env.Open(s.dir, flags, 0o644)); err != nil {
		return err
	}
	return s.env.Update(func(txn *lmdb.Txn) (err error) {
		for i := range s.spaces {
			if s.spaces[i], err = txn.OpenDBI(fmt.Sprint("space ", i), lmdb.Create); err != nil {
				return err
			}
		}
		return nil
	})
}

// classify gives an error of LMDB its class, and makes the errors of the operating system
// that LMDB passes on recognizable.
func classify(err error) error {
	var op *lmdb.OpError
	if !errors.As(err, &op) {
		return err
	}
	if no, ok := op.Errno.(syscall.Errno); ok {
		err = fmt.Errorf("%s: %w", op.Op, no)
		if no == syscall.EIO { // LMDB returns it for a write that was cut short
			err = hint.With(err, "the disk may be full")
		}
		return err
	}
	switch op.Errno {
	case lmdb.Panic, lmdb.Corrupted, lmdb.PageNotFound:
		return engine.Classify(engine.Gone, err)
	case lmdb.MapFull:
		return hint.With(engine.Classify(engine.Fatal, err), "raise options.map_size")
	}
	return err
}
