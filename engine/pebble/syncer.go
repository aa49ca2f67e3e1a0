package pebble

import (
	"fmt"
	"sync/atomic"
	"time"
)

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
