package enginetest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/need"
)

// testDied: a server that was killed is gone to its sessions, and its death is reported once.
func testDied(t *testing.T, s Suite) {
	db := s.openAt(t, need.TempDir(t))
	check(t, db.CreateTables(t.Context()))
	c, idle := newClient(t, db), newClient(t, db)
	push, count := c.prepare(pushOp), idle.prepare(countOp)
	_, _, err := collect(push, ints(1, 2, 3, 4, 5)...)
	check(t, err)
	mortal := db.(interface{ Died() error })
	check(t, mortal.Died())
	pids, reason := db.(engine.Hosted).Processes()
	failIf(t, len(pids) != 1, "processes %v, %s", pids, reason)
	check(t, syscall.Kill(pids[0], syscall.SIGKILL))
	for mortal.Died() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	gone := func(subject string, run func() error) {
		t.Helper()
		err := run()
		for ; err == nil; err = run() { // a server's processes may end each for itself
			time.Sleep(10 * time.Millisecond)
		}
		failIf(t, engine.ClassOf(err) != engine.Gone, "%s: %v of class %s", subject, err, engine.ClassOf(err))
	}
	for range 2 {
		gone("insert", func() error { _, _, err := collect(push, ints(1, 2, 3, 4, 5)...); return err })
		gone("count", func() error { _, _, err := collect(count); return err })
	}
	gone("counters", func() error { return db.Counters(t.Context(), &engine.Sample{}) })
	gone("session", func() error { _, err := db.Session(t.Context()); return err })
	for subject, err := range map[string]error{"died": mortal.Died(), "close": db.Close()} {
		failIf(t, err == nil || !strings.Contains(err.Error(), "signal: killed"), "%s: %v", subject, err)
	}
	check(t, db.Close())
}
