package pebble

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/internal/expect"
	"rumbench/model"
)

// A crash of the operating system leaves what each level promises: the file
// system keeps what was synced and nothing else.
func TestOperatingSystemCrash(t *testing.T) {
	t.Parallel()
	for level, kept := range map[model.Durability]bool{
		model.DurabilityNone: false, model.DurabilityProcess: false, model.DurabilityInterval: true, model.DurabilityOS: true,
	} {
		fs := vfs.NewCrashableMem()
		c := engine.Config{Dir: "db", Durability: level}
		s := openOn(t, c, fs)
		const rows = 20
		for n := range rows {
			put(t, s, fmt.Sprint("key ", n))
		}
		got := afterCrash(t, c, fs)
		if level == model.DurabilityInterval { // it is synced soon
			for deadline := time.Now().Add(time.Minute); got != rows && time.Now().Before(deadline); got = afterCrash(t, c, fs) {
				time.Sleep(syncEvery / 10)
			}
		}
		expect.True(t, (!kept || got == rows) && (kept || got == 0), level, got, "of", rows, "rows after a crash")
		expect.NoError(t, s.Close())
	}
}

// afterCrash returns how many rows a crash at this moment leaves.
func afterCrash(t *testing.T, c engine.Config, fs *vfs.MemFS) int {
	t.Helper()
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if _, err := crashed.Stat("db"); err != nil {
		return 0 // not even the directory was synced
	}
	s := openOn(t, c, crashed)
	defer s.Close()
	return count(t, s)
}

// Nothing is synced without a commit, and a failure is reported by stop.
func TestSyncer(t *testing.T) {
	t.Parallel()
	syncs := make(chan bool, 100)
	s := startSyncer(func() error { syncs <- true; return errors.New("the device is gone") })
	s.committed()
	<-syncs
	time.Sleep(syncEvery + syncEvery/2) // a tick without a commit
	if err := s.stop(); err == nil || err.Error() != "sync pebble's log: the device is gone" {
		t.Errorf("stop: %v", err)
	}
	expect.Equal(t, len(syncs), 0, "syncs without a commit")
}

func openOn(t *testing.T, c engine.Config, fs vfs.FS) *store {
	t.Helper()
	set, err := newSettings(c)
	expect.NoError(t, err)
	s, err := openStore(c, set, fileSystem(c.Durability, fs))
	expect.NoError(t, err)
	return s
}

func put(t *testing.T, s *store, key string) {
	t.Helper()
	tx, err := s.Begin(kvkit.Write)
	expect.NoError(t, err)
	expect.NoError(t, tx.Put([]byte(key), nil))
	expect.NoError(t, tx.Commit())
}

func count(t *testing.T, s *store) (n int) {
	t.Helper()
	it, err := s.db.NewIter(nil)
	expect.NoError(t, err)
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		n++
	}
	return n
}
