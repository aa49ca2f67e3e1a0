package mysql

import (
	"context"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/model"
)

func TestDoing(t *testing.T) {
	for _, c := range []struct {
		name, command, state, wait string
		watched                    bool
		want                       engine.SessionActivity
		left                       bool // out
	}{
		{name: "rest", command: "Sleep", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "Sleep"}},
		{name: "rest with an old stage", command: "Sleep", state: "starting", wait: "wait/synch/mutex/sql/LOCK_open", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "Sleep"}},
		{name: "rows to come", command: "Query", state: "Reading from net", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "Query"}},
		{name: "statement", command: "Execute", state: "Sending data", want: engine.SessionActivity{State: engine.Running, Role: engine.RoleExecuting, Event: "Sending data"}},
		{name: "statement, all latches watched", command: "Execute", state: "Sending data", watched: true, want: engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU, Event: "Sending data"}},
		{name: "latch", command: "Execute", state: "Statistics", wait: "wait/synch/sxlock/innodb/index_tree_rw_lock", watched: true, want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleIndex, Event: "synch/sxlock/innodb/index_tree_rw_lock"}},
		{name: "call of the storage", command: "Execute", state: "Updating", wait: "wait/io/table/sql/handler", watched: true, want: engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU, Event: "Updating"}},
		{name: "wait that is over", command: "Execute", state: "Updating", wait: "idle", watched: true, want: engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU, Event: "Updating"}},
		{name: "metadata lock", command: "Query", state: "Waiting for table metadata lock", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleMetadata, Event: "Waiting for table metadata lock"}},
		{name: "commit", command: "Execute", state: "Commit", want: engine.SessionActivity{State: engine.Running, Role: engine.RoleCommit, Event: "Commit"}},
		{name: "unknown wait", command: "Query", state: "Waiting for the moon", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleOther, Event: "Waiting for the moon"}},
		{name: "not yet there", command: "Connect", state: "login", left: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := doing(c.command, c.state, c.wait, c.watched)
			expect.True(t, ok != c.left && got == c.want, "got", got, ok)
		})
	}
}

func TestWaitRole(t *testing.T) {
	for name, want := range map[string]engine.Role{
		"idle":                                                engine.RoleClient,
		"wait/io/table/sql/handler":                           "",
		"wait/io/socket/sql/client_connection":                engine.RoleNetwork,
		"wait/lock/metadata/sql/mdl":                          engine.RoleMetadata,
		"wait/lock/table/sql/handler":                         engine.RoleMetadata,
		"wait/synch/rwlock/sql/MDL_lock::rwlock":              engine.RoleMetadata,
		"wait/synch/mutex/sql/LOCK_table_cache":               engine.RoleMetadata,
		"wait/io/file/innodb/innodb_data_file":                engine.RoleIO,
		"wait/io/file/innodb/innodb_log_file":                 engine.RoleLog,
		"wait/io/file/sql/binlog":                             engine.RoleLog,
		"wait/synch/mutex/innodb/trx_sys_mutex":               engine.RoleSnapshot,
		"wait/synch/mutex/innodb/trx_sys_serialisation_mutex": engine.RoleSnapshot,
		"wait/synch/rwlock/innodb/lock_latch":                 engine.RoleRow,
		"wait/synch/mutex/innodb/lock_wait_mutex":             engine.RoleRow,
		"wait/synch/sxlock/innodb/index_tree_rw_lock":         engine.RoleIndex,
		"wait/synch/mutex/innodb/buf_pool_mutex":              engine.RoleBuffer,
		"wait/synch/mutex/innodb/log_sys_mutex":               engine.RoleLog,
		"wait/synch/mutex/innodb/log_writer_mutex":            engine.RoleLog,
		"wait/synch/rwlock/innodb/fil_space_latch":            engine.RoleIO,
		"wait/synch/cond/sql/COND_wait_commit":                engine.RoleCommit,
		"wait/synch/mutex/sql/THD::LOCK_thd_data":             engine.RoleOther,
		"wait/synch/mutex/nobody/knows_it":                    engine.RoleOther,
		"stage/sql/Updating":                                  "",
	} {
		expect.Equal(t, waitRole(name), want, name)
	}
}

func TestLockRows(t *testing.T) {
	a := &activity{}
	a.count(engine.SessionActivity{State: engine.Client, Role: engine.RoleClient}, 3)
	a.count(engine.SessionActivity{State: engine.Running, Role: engine.RoleExecuting, Event: "Opening tables"}, 2)
	a.count(engine.SessionActivity{State: engine.Running, Role: engine.RoleExecuting, Event: "Updating"}, 2)
	a.count(engine.SessionActivity{State: engine.Running, Role: engine.RoleCommit, Event: "Commit"}, 1)
	a.lockRows(3)
	by := map[string]int{}
	for _, s := range a.seen {
		by[string(s.Role)+" "+s.Event] += s.sessions
	}
	expect.True(t, by["row lock InnoDB row lock"] == 3 && by["executing Updating"] == 0 && by["executing Opening tables"] == 1 && by["commit Commit"] == 1 && by["client "] == 3, by)
	a.lockRows(100) // no more than there are
	total := 0
	for _, s := range a.seen {
		total += s.sessions
	}
	expect.Equal(t, total, 8, "sessions of 8")
}

// sampler opens the database's sampler.
func sampler(t *testing.T, d engine.DB) engine.ActivitySampler {
	t.Helper()
	a, err := d.(engine.Activity).Activity(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, a.Close()) })
	return a
}

// blocked runs a statement that is to wait, on a connection of its own.
func blocked(t *testing.T, d *db, text string) (ended <-chan error) {
	t.Helper()
	c, err := d.Connect(t.Context())
	expect.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		err := c.Exec(context.WithoutCancel(t.Context()), text)
		_ = c.Close()
		done <- err
	}()
	return done
}

func TestActivity(t *testing.T) {
	for _, c := range []struct {
		name   string
		config engine.Config
	}{
		{name: "innodb"},
		{name: "waits timed", config: engine.Config{Options: map[string]any{"waits": true, "innodb_log_file_size": "16M"}}},
		{name: "rocksdb", config: engine.Config{Storage: "rocksdb"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := private(t, c.config)
			expect.NoError(t, d.CreateTables(t.Context()))
			insert(t, d, insertOp, 1)
			a := sampler(t, d)
			s := newSession(t, d)
			begin, err := s.Prepare(t.Context(), &model.Op{Kind: model.Begin})
			expect.NoError(t, err)
			var r engine.Result
			expect.NoError(t, begin.Exec(t.Context(), nil, &r))
			enginetest.AwaitActivity(t, a, engine.Client, engine.RoleClient, 2) // in its transaction, and that for definitions
			expect.NoError(t, s.Close())

			holder, err := d.Connect(t.Context())
			expect.NoError(t, err)
			defer holder.Close()
			expect.NoError(t, holder.Exec(t.Context(), "START TRANSACTION"))
			expect.NoError(t, holder.Exec(t.Context(), "UPDATE sale SET price = price + 1 WHERE id = 1"))
			one, two := blocked(t, d, "UPDATE sale SET price = price + 2 WHERE id = 1"), blocked(t, d, "UPDATE sale SET price = price + 2 WHERE id = 1")
			enginetest.AwaitActivity(t, a, engine.Waiting, engine.RoleRow, 2)
			expect.NoError(t, holder.Exec(t.Context(), "COMMIT"))
			expect.NoError(t, <-one)
			expect.NoError(t, <-two)

			expect.NoError(t, holder.Exec(t.Context(), "LOCK TABLES sale WRITE"))
			one = blocked(t, d, "SELECT COUNT(*) FROM sale")
			enginetest.AwaitActivity(t, a, engine.Waiting, engine.RoleMetadata, 1)
			expect.NoError(t, holder.Exec(t.Context(), "UNLOCK TABLES"))
			expect.NoError(t, <-one)
		})
	}
}

func TestTimedWaits(t *testing.T) {
	d := private(t, engine.Config{Options: map[string]any{"waits": true, "innodb_log_file_size": "16M"}})
	settings, err := d.Settings(t.Context())
	expect.NoError(t, err)
	if !slices.ContainsFunc(settings, func(s engine.Setting) bool { return s.Name == "waits" && s.Source == engine.ReadBack }) {
		t.Error("the settings do not show that waits are timed")
	}
	expect.NoError(t, d.CreateTables(t.Context()))
	take := func() map[string]float64 {
		var s engine.Sample
		expect.NoError(t, d.Counters(t.Context(), &s))
		out := map[string]float64{}
		for _, p := range s.Points {
			if p.Name == engine.WaitTime || p.Name == engine.Waits {
				out[p.Key()] = p.Value
			}
		}
		return out
	}
	before := take()
	insert(t, d, insertOp, 200)
	after := take()
	grown := 0.0
	for key, v := range after {
		was, ok := before[key]
		expect.True(t, ok, key, "was not reported before")
		expect.True(t, v >= was, key, "fell from", was, "to", v)
		grown += v - was
	}
	expect.True(t, len(after) >= 200 && grown != 0, len(after), "sums, which grew by", grown)
}

func TestWaitsAreAskedFor(t *testing.T) {
	d := shared(t)
	var s engine.Sample
	expect.NoError(t, d.Counters(t.Context(), &s))
	if slices.ContainsFunc(s.Points, func(p engine.Point) bool {
		return p.Name == engine.WaitTime && !strings.Contains(p.Labels, "InnoDB row lock")
	}) {
		t.Error("waits are reported that are not timed")
	}
	c := attached(d)
	c.Options = map[string]any{"waits": true}
	knob, ok := Engine{}.Check(c).(*engine.KnobError)
	expect.True(t, ok && knob.Knob == "options.waits", "a server that is attached to", knob)
	var names []string
	expect.NoError(t, d.status.conn.Query(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_%'", func(row []string) error {
		names = append(names, row[0])
		return nil
	}))
	for _, n := range []string{"Innodb_row_lock_waits", "Innodb_row_lock_time", "Innodb_deadlocks", "Innodb_history_list_length"} {
		if slices.Contains(names, n) && !slices.ContainsFunc(s.Points, func(p engine.Point) bool { return p.Name == newVariable(n).name }) {
			t.Errorf("%s is not reported", n)
		}
	}
	for _, n := range []string{"lock_deadlocks", "lock_timeouts", "trx_rseg_history_len"} {
		if !slices.ContainsFunc(s.Points, func(p engine.Point) bool { return p.Name == "mysql.innodb_metrics."+n }) {
			t.Errorf("InnoDB's %s is not reported", n)
		}
	}
}
