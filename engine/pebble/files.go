package pebble

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
	"rumbench/engine/kvkit"
)

// unsyncedFS implements level process: a commit waits until the log is written
// to the operating system, as with pebble.Sync, but every sync is a no-op.
// Pebble's own NoSync does not wait for the write, so a killed process would
// lose commits.
type unsyncedFS struct{ vfs.FS }

func unsynced(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return f, err
	}
	return unsyncedFile{f}, nil
}

func (fs unsyncedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(fs.FS.Create(name, c))
}

func (fs unsyncedFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(fs.FS.ReuseForWrite(old, name, c))
}

func (fs unsyncedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return unsynced(fs.FS.OpenReadWrite(name, c, o...))
}

func (fs unsyncedFS) OpenDir(name string) (vfs.File, error) { return unsynced(fs.FS.OpenDir(name)) }

// Unwrap returns the file system below.
func (fs unsyncedFS) Unwrap() vfs.FS { return fs.FS }

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return false, nil }

// logger drops Pebble's informational messages. Pebble calls Fatalf when it
// cannot continue, for instance when the log cannot be written, and expects it
// not to return.
type logger struct{}

func (logger) Infof(string, ...any) {}

func (logger) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pebble: "+format+"\n", args...)
}

func (logger) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pebble cannot continue: "+format+"\n", args...)
	os.Exit(1)
}

// readOptions reads back the options that Pebble runs with. All levels have the
// same; those of the lowest are returned.
func readOptions(dir string) ([]engine.Setting, error) {
	out, err := kvkit.ReadOptions(dir)
	return slices.DeleteFunc(out, func(s engine.Setting) bool {
		return strings.HasPrefix(s.Name, "Level ") && !strings.HasPrefix(s.Name, `Level "6"`)
	}), err
}

// syncEvery is how often the log is synced at level interval.
const syncEvery = time.Second

// syncer implements level interval: it syncs the log once a second if anything
// was committed. A nil syncer does nothing.
type syncer struct {
	dirty atomic.Bool // something was committed since the last sync began
	quit  chan struct{}
	done  chan error // receives the first failure when it has ended
}

func startSyncer(sync func() error) *syncer {
	s := &syncer{quit: make(chan struct{}), done: make(chan error, 1)}
	go func() { s.done <- s.run(sync) }()
	return s
}

func (s *syncer) run(sync func() error) (failed error) {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return failed
		case <-tick.C:
		}
		if !s.dirty.Swap(false) {
			continue
		}
		if err := sync(); err != nil && failed == nil {
			failed = fmt.Errorf("sync pebble's log: %w", err)
		}
	}
}

// committed notes a commit. The flag is shared by all sessions and written only
// once a second.
func (s *syncer) committed() {
	if s != nil && !s.dirty.Load() {
		s.dirty.Store(true)
	}
}

// stop stops the syncer and returns its first failure.
func (s *syncer) stop() error {
	if s == nil {
		return nil
	}
	close(s.quit)
	return <-s.done
}
