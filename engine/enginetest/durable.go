package enginetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/model"
)

// testReopen: a reopened database holds the same rows, and numbering continues, as does a copy of its
// files after it was closed.
func (s Suite) testReopen(t *testing.T) {
	dir := need.TempDir(t)
	db := s.openAt(t, dir)
	check(t, db.CreateTables(context.Background()))
	createIndexes(t, db, s.schema())
	newClient(t, db).do(pushOp, ints(1, 2, 3, 4, 5)...)
	check(t, db.Close())
	db = s.openAt(t, dir)
	c := newClient(t, db)
	c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	for _, index := range []string{"", "queue_v"} {
		_, rows := c.do(model.Op{Kind: model.Scan, Table: "queue", Index: index, Columns: []string{"id", "v"}})
		fatalIf(t, len(rows) != 10, "by %q: %d rows after reopening, want 10", index, len(rows))
		failIf(t, index == "" && rows[9][0].Int() != 10, "numbering continues with %v, want 10 at the end", rows[9][0])
	}
	check(t, db.Close())
	copied := need.TempDir(t)
	out, err := exec.Command("cp", "-a", dir+"/.", copied).CombinedOutput()
	failIf(t, err != nil, "copy: %v: %s", err, out)
	c = newClient(t, s.openAt(t, copied))
	c.do(pushOp, ints(1, 2, 3, 4, 5)...)
	_, rows := c.do(model.Op{Kind: model.Scan, Table: "queue", Columns: []string{"id"}})
	failIf(t, len(rows) != 15 || rows[14][0].Int() != 15, "the copy has %d rows, want 15", len(rows))
}

// skipWithoutLevel skips the test if the engine does not have the durability.
func skipWithoutLevel(t *testing.T, s Suite) {
	t.Helper()
	knob, _ := errors.AsType[*engine.KnobError](s.Engine.Check(s.config(need.TempDir(t))))
	if knob != nil && knob.Knob == "durability" {
		t.Skip(knob)
	}
}

// testForgets: a clean stop keeps what was committed at level none, unless Info.Forgets says why not.
func testForgets(t *testing.T, s Suite) {
	t.Parallel()
	s.Config.Durability = model.DurabilityNone
	dir := need.TempDir(t)
	skipWithoutLevel(t, s)
	db := s.openAt(t, dir)
	check(t, db.CreateTables(context.Background()))
	newClient(t, db).do(pushOp, ints(1, 2, 3, 4, 5)...)
	check(t, db.Close())
	db = s.openAt(t, dir)
	if engine.InfoOf(s.Engine, s.config(dir)).Forgets != "" {
		check(t, db.CreateTables(context.Background())) // they are gone, too
		return
	}
	r, _ := newClient(t, db).do(countOp)
	failIf(t, r.Value.Int() != 5, "%v rows after a clean stop, want 5", r.Value)
}

// The environment variables of killChild's child.
const (
	crashEnv = "RUMBENCH_CRASH_DIR"
	levelEnv = "RUMBENCH_CRASH_LEVEL"
)

// testKill: at the levels process and os, commits survive a kill of the process.
func (s Suite) testKill(t *testing.T) {
	t.Parallel()
	if s.Config.Durability == model.DurabilityNone {
		t.Skip("level none promises nothing")
	}
	killed := func(t *testing.T) {
		dir := need.TempDir(t)
		checkKilled(t, s, dir, killChild(t, s, dir, 40, 0))
	}
	killed(t)
	t.Run("twice more", func(t *testing.T) {
		need.Long(t)
		killed(t)
		killed(t)
	})
}

// intervalGrace is the age from which a commit must survive a kill at level
// interval: about a second, with time for a busy machine.
const intervalGrace = 3 * time.Second

// testKillInterval: at level interval, commits survive a kill some time later,
// while the process continues to commit.
func (s Suite) testKillInterval(t *testing.T) {
	t.Parallel() // it mostly waits
	s.Config.Durability = model.DurabilityInterval
	skipWithoutLevel(t, s)
	dir := need.TempDir(t)
	checkKilled(t, s, dir, killChild(t, s, dir, 40, intervalGrace))
}

// checkKilled checks the data left by a process that was killed after it had
// committed acked rows.
func checkKilled(t *testing.T, s Suite, dir string, acked int64) {
	t.Helper()
	db := s.openAt(t, dir)
	c := newClient(t, db)
	r, _ := c.do(countOp)
	got := r.Value.Int()
	failIf(t, got < acked || got%5 != 0, "%d rows after a kill, %d were committed in batches of 5", got, acked)
	r, _ = c.do(model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Aggregate: model.Count})
	failIf(t, r.Value.Int() < acked, "%v index entries after a kill, %d rows were committed", r.Value, acked)
	check(t, db.Close())
}

// killChild starts this test again as a child that inserts, kills it after a
// number of batches and a grace, and returns how many rows it had committed
// before: at the time of the kill, or with a grace, before the grace.
func killChild(t *testing.T, s Suite, dir string, batches int, grace time.Duration) (acked int64) {
	t.Helper()
	cmd, in := startChild(t, s, dir)
	for n := 0; n < batches && in.Scan(); n++ {
		var err error
		acked, err = strconv.ParseInt(in.Text(), 10, 64)
		failIf(t, err != nil, "the child prints %q", in.Text())
	}
	kill := time.AfterFunc(grace, func() { cmd.Process.Kill() })
	defer kill.Stop()
	for in.Scan() { // until it dies
		if n, err := strconv.ParseInt(in.Text(), 10, 64); err == nil && grace == 0 {
			acked = n
		}
	}
	cmd.Wait()
	fatalIf(t, acked < int64(batches)*5, "the child committed only %d rows", acked)
	return acked
}

// startChild starts this test again as a child, see crashChild, whose lines it
// returns.
func startChild(t *testing.T, s Suite, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestConformance$")
	cmd.Env = append(os.Environ(), crashEnv+"="+dir, levelEnv+"="+string(s.Config.Durability))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// crashChild runs the child of startChild, which inserts until it is killed. It
// returns false in any other process.
func crashChild(t *testing.T, s Suite) bool {
	dir := os.Getenv(crashEnv)
	if dir == "" {
		return false
	}
	ctx := context.Background()
	s.Config.Durability = model.Durability(os.Getenv(levelEnv))
	db, err := s.Engine.Open(ctx, s.config(dir))
	check(t, err)
	check(t, db.CreateTables(ctx))
	check(t, db.CreateIndexes(ctx, "queue", "queue_v"))
	if len(s.Engine.Info().Servers) > 0 {
		// A level is about commits: MariaDB renames a table's definition without syncing
		// the directory, and a power cut soon afterwards takes the new index.
		disk, err := os.Open(dir)
		check(t, err)
		check(t, unix.Syncfs(int(disk.Fd())))
		check(t, disk.Close())
	}
	st := newClient(t, db).prepare(pushOp)
	for n := int64(5); ; n += 5 {
		check(t, st.Exec(ctx, ints(n, n, n, n, n), &engine.Result{}))
		fmt.Println(n)
		if s.Config.Durability == model.DurabilityInterval { // which takes seconds
			time.Sleep(time.Millisecond)
		}
	}
}

// testSyncs: a native engine syncs at every commit of level os, and never below.
func testSyncs(t *testing.T, s Suite) {
	for level, synced := range map[model.Durability]bool{model.DurabilityProcess: false, model.DurabilityOS: true} {
		s.Config.Durability = level
		db := s.open(t, true)
		syncs := func() (n float64) {
			var sample engine.Sample
			check(t, db.Counters(t.Context(), &sample))
			for _, p := range sample.Points {
				if p.Name == "native.syncs" {
					n = p.Value
				}
			}
			return n
		}
		const commits = 10
		previous, push := syncs(), newClient(t, db).prepare(pushOp)
		for range commits {
			check(t, push.Exec(t.Context(), ints(1, 2, 3, 4, 5), &engine.Result{}))
		}
		_, err := db.Settle(t.Context())
		check(t, err)
		n := syncs() - previous
		failIf(t, synced && n < commits || !synced && n > 0, "%v syncs of %d commits and a settle at level %s", n, commits,
			level)
		check(t, db.Close())
	}
}
