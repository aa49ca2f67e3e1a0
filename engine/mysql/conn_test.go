package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/model"
)

// session is a connection of a database's session.
func connOf(t *testing.T, s engine.Session) *conn {
	t.Helper()
	c, ok := s.(*session).Conn().(*conn)
	if !ok {
		t.Fatalf("the connection is a %T", s.(*session).Conn())
	}
	return c
}

func prepare(t testing.TB, s engine.Session, op model.Op) engine.Stmt {
	t.Helper()
	st, err := s.Prepare(t.Context(), &op)
	must(t, err)
	return st
}

var (
	getOp    = model.Op{Kind: model.Get, Table: "sale", Columns: []string{"note", "price", "at", "product"}}
	updateOp = model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "product", Add: true}}}
	sumOp    = model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Lower: model.Inclusive, Upper: model.Inclusive, Aggregate: model.Sum, Free: true}
)

// Operations take no memory, by either protocol.
func TestNoAllocations(t *testing.T) {
	owner := private(t, engine.Config{Cache: 32 * mb})
	must(t, owner.CreateTables(t.Context()))
	insert(t, owner, insertOp, 50)
	for _, protocol := range engine.Protocols() {
		c := attached(owner)
		c.Server.Schema, c.Server.Force, c.Protocol = owner.Server.Schema, true, protocol
		s := newSession(t, attach(t, c))
		get, update, sum := prepare(t, s, getOp), prepare(t, s, updateOp), prepare(t, s, sumOp)
		begin, commit := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var r engine.Result
		key := []model.Value{model.IntValue(7)}
		change, bounds := []model.Value{model.IntValue(1), key[0]}, []model.Value{model.IntValue(3), model.IntValue(90)}
		for _, one := range []struct {
			what string
			stmt engine.Stmt
			args []model.Value
			rows int64
		}{{"get", get, key, 1}, {"update", update, change, 1}, {"sum", sum, bounds, 1}, {"begin", begin, nil, 0}, {"commit", commit, nil, 0}} {
			n := testing.AllocsPerRun(100, func() {
				must(t, one.stmt.Exec(ctx, one.args, &r))
				if r.Rows != one.rows {
					t.Fatalf("%s: %d rows", one.what, r.Rows)
				}
			})
			if n != 0 {
				t.Errorf("%s, %s: %v allocations", protocol, one.what, n)
			}
		}
	}
}

// A wait for a lock ends with the context, and the connection goes on.
func TestInterruptLockWait(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	must(t, d.CreateTables(t.Context()))
	insert(t, d, insertOp, 2)
	holder, waiter := newSession(t, d), newSession(t, d)
	connOf(t, waiter)
	var r engine.Result
	args := []model.Value{model.IntValue(1), model.IntValue(1)}
	must(t, prepare(t, holder, model.Op{Kind: model.Begin}).Exec(t.Context(), nil, &r))
	must(t, prepare(t, holder, updateOp).Exec(t.Context(), args, &r))

	update := prepare(t, waiter, updateOp)
	for range 2 { // each with a context of its own
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- update.Exec(ctx, args, new(engine.Result)) }()
		waiting(t, d)
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("the context ended: %v", err)
		}
		if err := update.Exec(ctx, args, &r); !errors.Is(err, context.Canceled) {
			t.Errorf("after that: %v", err)
		}
	}
	must(t, prepare(t, holder, model.Op{Kind: model.Rollback}).Exec(t.Context(), nil, &r))
	must(t, update.Exec(t.Context(), args, &r))
	if r.Rows != 1 {
		t.Errorf("%d rows were updated", r.Rows)
	}
}

// waiting waits until a session waits for a lock.
func waiting(t *testing.T, d *db) {
	t.Helper()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") == "0" {
		if t.Context().Err() != nil {
			t.Fatal("nobody waits")
		}
		time.Sleep(200 * time.Millisecond) // InnoDB answers from memory for who asks again within 100 ms
	}
}

// A server that asks for nothing but time is left: the connection is cut.
func TestInterruptLost(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	s := newSession(t, d)
	c := connOf(t, s)
	begun := make(chan struct{})
	c.watch.kill = func(context.Context) error {
		close(begun)
		return errors.New("no connection is to be had")
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := c.ExecContext(ctx, "SELECT SLEEP(1000)", nil)
		failed <- err
	}()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'") == "0" {
	}
	cancel()
	<-begun
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the context ended: %v", err)
	}
	if _, err := c.ExecContext(t.Context(), "SELECT 1", nil); engine.ClassOf(err) != engine.Gone {
		t.Errorf("the connection that was cut says %v", err)
	}
}

// A server that dies within an operation is gone, and so it stays.
func TestServerDiesMeanwhile(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	must(t, d.CreateTables(t.Context()))
	s := newSession(t, d)
	get := prepare(t, s, getOp)
	failed := make(chan error)
	go func() {
		_, err := connOf(t, s).ExecContext(t.Context(), "SELECT SLEEP(1000)", nil)
		failed <- err
	}()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'") == "0" {
	}
	must(t, syscall.Kill(d.server.PID(), syscall.SIGKILL))
	if err := <-failed; engine.ClassOf(err) != engine.Gone {
		t.Errorf("the server died: %v", err)
	}
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(1)}, new(engine.Result)); engine.ClassOf(err) != engine.Gone {
		t.Errorf("and then: %v", err)
	}
	must(t, s.Close())
}

// A connection that cannot be taken over leaves nothing behind.
func TestTakeOverFails(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	from, err := newConnector(nil, d.server.Endpoint().Socket)
	must(t, err)
	first, err := from.connect(t.Context())
	must(t, err)
	must(t, first.Close())
	files, routines := openFiles(t), runtime.NumGoroutine()

	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	must(t, err)
	must(t, unix.Close(free))
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free) + 1, Max: limit.Max})) // for the driver's socket
	_, err = from.connect(t.Context())
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), "take over") {
		t.Fatalf("without a descriptor that is free: %v", err)
	}
	if n := openFiles(t); n != files {
		t.Errorf("%d descriptors are open, and were %d", n, files)
	}
	for runtime.NumGoroutine() > routines { // it ends soon, or never
		runtime.Gosched()
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(files)
}

// A connection that is compressed stays the driver's, and does the same.
func TestCompressed(t *testing.T) {
	owner := private(t, engine.Config{Cache: 32 * mb})
	must(t, owner.CreateTables(t.Context()))
	insert(t, owner, insertOp, 5)
	c := attached(owner)
	c.Server.Schema, c.Server.Force = owner.Server.Schema, true
	c.Server.DSN += "?compress=true"
	d := attach(t, c)
	s := newSession(t, d)
	if _, own := s.(*session).Conn().(*conn); own {
		t.Fatal("a compressed connection was taken over")
	}
	var r engine.Result
	must(t, prepare(t, s, updateOp).Exec(t.Context(), []model.Value{model.IntValue(1000), model.IntValue(1)}, &r))
	must(t, prepare(t, s, sumOp).Exec(t.Context(), []model.Value{model.IntValue(1), model.IntValue(1)}, &r))
	if r.Value.Int() < 1000 {
		t.Errorf("the sum is %v", r.Value)
	}
	// The context still ends what it began.
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err := s.(*session).Conn().(sqldriver.ExecerContext).ExecContext(ctx, "SELECT SLEEP(1000)", nil)
	if err == nil {
		t.Error("a statement outlived its context")
	}
}

// Rows that are left unread do not spoil what follows, and an empty answer is one.
func TestText(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	c := connOf(t, newSession(t, d))
	rows, err := c.QueryContext(t.Context(), "SELECT 1 AS one, NULL AS none UNION SELECT 2, 'text'", nil)
	must(t, err)
	if names := strings.Join(rows.Columns(), " "); names != "one none" {
		t.Errorf("the columns are %s", names)
	}
	row := make([]sqldriver.Value, 2)
	must(t, rows.Next(row))
	if string(row[0].([]byte)) != "1" || row[1] != nil {
		t.Errorf("the row is %v", row)
	}
	must(t, rows.Close())
	must(t, rows.Close())
	_, err = c.QueryContext(t.Context(), "SELECT nonsense", nil)
	if err == nil || !strings.Contains(err.Error(), "1054") {
		t.Errorf("nonsense: %v", err)
	}
	rows, err = c.QueryContext(t.Context(), "DO 0", nil)
	must(t, err)
	if err := rows.Next(nil); err == nil || len(rows.Columns()) != 0 {
		t.Errorf("a statement without rows has %v", err)
	}
	must(t, rows.Close())
	n, _, err := c.ExecText(t.Context(), "SELECT 1 UNION SELECT 2")
	if err != nil || n != 0 {
		t.Errorf("rows that are not wanted: %d, %v", n, err)
	}
}
