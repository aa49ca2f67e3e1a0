package mysql

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/serverkit"
	"rumbench/internal/expect"
	"rumbench/model"
)

// session is a connection of a database's session.
func connOf(t *testing.T, s engine.Session) *mysqlwire.Conn {
	t.Helper()
	c, ok := s.(*session).Conn().(*mysqlwire.Conn)
	expect.Must(t, ok, s.(*session).Conn())
	return c
}

func prepare(t testing.TB, s engine.Session, op model.Op) engine.Stmt {
	t.Helper()
	st, err := s.Prepare(t.Context(), &op)
	expect.NoError(t, err)
	return st
}

var (
	getOp    = model.Op{Kind: model.Get, Table: "sale", Columns: []string{"note", "price", "at", "product"}}
	updateOp = model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "product", Add: true}}}
	sumOp    = model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"product"}, Lower: model.Inclusive, Upper: model.Inclusive, Aggregate: model.Sum, Free: true}
)

// Operations take no memory, by either protocol.
func TestNoAllocations(t *testing.T) {
	owner := shared(t)
	expect.NoError(t, owner.CreateTables(t.Context()))
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
			subject string
			stmt    engine.Stmt
			args    []model.Value
			rows    int64
		}{{"get", get, key, 1}, {"update", update, change, 1}, {"sum", sum, bounds, 1}, {"begin", begin, nil, 0}, {"commit", commit, nil, 0}} {
			n := testing.AllocsPerRun(100, func() {
				expect.NoError(t, one.stmt.Exec(ctx, one.args, &r))
				if r.Rows != one.rows { // what a call's words need would be counted
					t.Fatal(one.subject, r.Rows)
				}
			})
			expect.Equal(t, n, 0, protocol, one.subject, "allocations")
		}
	}
}

// A wait for a lock ends with the context, and the connection goes on.
func TestInterruptLockWait(t *testing.T) {
	d := shared(t)
	expect.NoError(t, d.CreateTables(t.Context()))
	insert(t, d, insertOp, 2)
	holder, waiter := newSession(t, d), newSession(t, d)
	connOf(t, waiter)
	var r engine.Result
	args := []model.Value{model.IntValue(1), model.IntValue(1)}
	expect.NoError(t, prepare(t, holder, model.Op{Kind: model.Begin}).Exec(t.Context(), nil, &r))
	expect.NoError(t, prepare(t, holder, updateOp).Exec(t.Context(), args, &r))

	update := prepare(t, waiter, updateOp)
	for range 2 { // each with a context of its own
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- update.Exec(ctx, args, new(engine.Result)) }()
		waiting(t, d)
		cancel()
		expect.Is(t, <-failed, context.Canceled, "the context ended")
		expect.Is(t, update.Exec(ctx, args, &r), context.Canceled, "after that")
	}
	expect.NoError(t, prepare(t, holder, model.Op{Kind: model.Rollback}).Exec(t.Context(), nil, &r))
	expect.NoError(t, update.Exec(t.Context(), args, &r))
	expect.Equal(t, r.Rows, 1, "rows were updated")
}

// waiting waits until a session waits for a lock.
func waiting(t *testing.T, d *db) {
	t.Helper()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") == "0" {
		expect.Must(t, t.Context().Err() == nil, "nobody waits")
		time.Sleep(200 * time.Millisecond) // InnoDB answers from memory for who asks again within 100 ms
	}
}

// A server that dies within an operation is gone, and so it stays.
func TestServerDiesMeanwhile(t *testing.T) {
	d := private(t, engine.Config{Cache: 32 * mb})
	expect.NoError(t, d.CreateTables(t.Context()))
	s := newSession(t, d)
	get := prepare(t, s, getOp)
	failed, c := make(chan error), connOf(t, s)
	go func() {
		_, _, err := c.ExecText(t.Context(), "SELECT SLEEP(1000)")
		failed <- err
	}()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'") == "0" {
	}
	expect.NoError(t, syscall.Kill(d.Private.PID(), syscall.SIGKILL))
	expect.Equal(t, engine.ClassOf(mysqlwire.Classify(<-failed)), engine.Gone, "the server died")
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(1)}, new(engine.Result)); engine.ClassOf(err) != engine.Gone {
		t.Errorf("and then: %v", err)
	}
	expect.NoError(t, s.Close())
}

// A connection that cannot be taken over leaves nothing behind.
func TestTakeOverFails(t *testing.T) {
	d := shared(t)
	source, err := mysqlwire.NewConnector(mysqlwire.Socket("root", d.Private.Endpoint().Socket), serverkit.NewHost("").Dial)
	expect.NoError(t, err)
	first, err := source.Connect(t.Context())
	expect.NoError(t, err)
	expect.NoError(t, first.Close())
	files, routines := openFiles(t), runtime.NumGoroutine()

	var limit unix.Rlimit
	expect.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	expect.NoError(t, err)
	expect.NoError(t, unix.Close(free))
	expect.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free) + 1, Max: limit.Max})) // for the driver's socket
	_, err = source.Connect(t.Context())
	expect.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	expect.Must(t, errors.Is(err, unix.EMFILE) && strings.Contains(err.Error(), "take over"),
		"without a descriptor that is free", err)
	expect.Equal(t, openFiles(t), files, "descriptors are open, and were")
	for runtime.NumGoroutine() > routines { // it ends soon, or never
		runtime.Gosched()
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	expect.NoError(t, err)
	return len(files)
}

// A connection that is compressed stays the driver's, and does the same.
func TestCompressed(t *testing.T) {
	owner := shared(t)
	expect.NoError(t, owner.CreateTables(t.Context()))
	insert(t, owner, insertOp, 5)
	c := attached(owner)
	c.Server.Schema, c.Server.Force = owner.Server.Schema, true
	c.Server.DSN += "?compress=true"
	d := attach(t, c)
	s := newSession(t, d)
	if _, own := s.(*session).Conn().(*mysqlwire.Conn); own {
		t.Fatal("a compressed connection was taken over")
	}
	var r engine.Result
	expect.NoError(t, prepare(t, s, updateOp).Exec(t.Context(), []model.Value{model.IntValue(1000), model.IntValue(1)}, &r))
	expect.NoError(t, prepare(t, s, sumOp).Exec(t.Context(), []model.Value{model.IntValue(1), model.IntValue(1)}, &r))
	expect.True(t, r.Value.Int() >= 1000, "the sum is", r.Value)
	// The context still ends what it began.
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	err := s.(*session).Exec(ctx, "SELECT SLEEP(1000)")
	expect.Error(t, err, "", "a statement outlived its context")
}

// Rows that are not wanted do not spoil what follows, and an empty answer is one.
func TestText(t *testing.T) {
	d := shared(t)
	c := connOf(t, newSession(t, d))
	enough := errors.New("enough")
	rows := 0
	query := func(text string, each func(row []model.Value) error) error {
		return c.QueryText(t.Context(), text, nil, each)
	}
	err := query("SELECT 1 AS one, NULL AS none UNION SELECT 2, 'text'", func(row []model.Value) error {
		rows++
		expect.True(t, string(row[0].Buf()) == "1" && row[1].IsNull(), "the row is", row)
		return enough
	})
	expect.True(t, err == enough && rows == 1, rows, "rows", err)
	expect.Error(t, query("SELECT nonsense", nil), "1054", "nonsense")
	expect.NoError(t, query("DO 0", nil))
	n, _, err := c.ExecText(t.Context(), "SELECT 1 UNION SELECT 2")
	expect.True(t, err == nil && n == 0, "rows that are not wanted", n, err)
}
