package mysql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// schema is a table as a workload would have it.
var schema = model.Schema{Tables: []model.Table{{
	Name: "sale",
	Columns: []model.Column{
		{Name: "id", Type: model.Int, Auto: true}, {Name: "at", Type: model.Time}, {Name: "product", Type: model.Int, Width: 4, NotNull: true},
		{Name: "price", Type: model.Float, NotNull: true}, {Name: "note", Type: model.String, Width: 100},
	},
	Key:     []string{"id"},
	Indexes: []model.Index{{Name: "product", Columns: []string{"product", "price"}}},
}}}

var insertOp = model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product", "price", "note"}, Rows: 2}

// private opens a database on a private server.
func private(t *testing.T, c engine.Config) *db {
	t.Helper()
	needServer(t)
	if c.Dir == "" {
		c.Dir = need.TempDir(t)
	}
	if c.Durability == "" {
		c.Durability = model.DurabilityProcess
	}
	if c.Schema.Tables == nil {
		c.Schema = schema
	}
	if c.Options == nil {
		c.Options = map[string]any{"innodb_log_file_size": "16M"}
	}
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { enginetest.Discard(d) })
	return d.(*db)
}

// shared returns a database on a private server that tests share which neither end nor configure it. What
// they make there is dropped.
func shared(t *testing.T) *db {
	t.Helper()
	needServer(t)
	if common == nil {
		dir, err := os.MkdirTemp("", "shared")
		expect.NoError(t, err)
		expect.NoError(t, os.Chmod(dir, 0o755)) // the server runs as another user
		d, err := Engine{}.Open(context.Background(), engine.Config{Dir: dir, Durability: model.DurabilityProcess, Schema: schema,
			Cache: 32 * mb, Options: map[string]any{"innodb_log_file_size": "16M"}})
		expect.NoError(t, err)
		common = d.(*db)
	}
	t.Cleanup(func() {
		for _, text := range []string{"DROP DATABASE IF EXISTS guest", "DROP DATABASE IF EXISTS other",
			"DROP TABLE IF EXISTS " + engine.DefaultSchema + ".sale", "DROP USER IF EXISTS bench@localhost",
			"SET GLOBAL max_prepared_stmt_count = DEFAULT"} {
			expect.NoError(t, common.Admin().Exec(context.Background(), text))
		}
	})
	return common
}

// common is the database of shared, which ends with the tests.
var common *db

// tests are those of the package.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer func() {
		if common != nil {
			enginetest.Discard(common)
			_ = os.RemoveAll(common.Dir)
		}
	}()
	return m.M.Run()
}

// attached is the configuration that attaches to a server.
func attached(d *db) engine.Config {
	return engine.Config{Durability: d.Durability, Storage: d.storage.name, Schema: schema,
		Server: engine.ServerConfig{DSN: "root@unix(" + d.Private.Endpoint().Socket + ")/", Schema: "guest"}}
}

func attach(t *testing.T, c engine.Config) *db {
	t.Helper()
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d.(*db)
}

func newSession(t *testing.T, d engine.DB) engine.Session {
	t.Helper()
	s, err := d.Session(t.Context())
	expect.NoError(t, err)
	return s
}

// insert inserts pairs of rows.
func insert(t *testing.T, d engine.DB, op model.Op, pairs int) {
	t.Helper()
	s := newSession(t, d)
	defer s.Close()
	st, err := s.Prepare(t.Context(), &op)
	expect.NoError(t, err)
	var r engine.Result
	for i := range pairs {
		note := model.StringValue([]byte("note"))
		n := int64(2 * i)
		expect.NoError(t, st.Exec(t.Context(), []model.Value{model.IntValue(n % 97), model.FloatValue(1), note, model.IntValue((n + 1) % 97), model.FloatValue(2), note}, &r))
	}
	if l, ok := s.(engine.Loader); ok {
		expect.NoError(t, l.EndLoad(t.Context()))
	}
}

// ask is the answer of one query in one word.
func ask(t *testing.T, d *db, query string) (answer string) {
	t.Helper()
	expect.NoError(t, d.Admin().Query(t.Context(), query, func(row []string) error {
		answer += row[0] + " "
		return nil
	}))
	return strings.TrimSpace(answer)
}

// What is attached to is left as it was: another schema is not touched, one
// that exists is refused, what was made is removed.
func TestAttached(t *testing.T) {
	for _, storage := range []string{"innodb", "rocksdb"} {
		t.Run(storage, func(t *testing.T) {
			if storage == "rocksdb" {
				need.Long(t)
			}
			owner := private(t, engine.Config{Storage: storage, Cache: 32 * mb})
			expect.NoError(t, owner.CreateTables(t.Context()))
			insert(t, owner, insertOp, 10)
			variables := ask(t, owner, "SELECT GROUP_CONCAT(VARIABLE_NAME, VARIABLE_VALUE) FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME NOT LIKE '%timestamp%' AND VARIABLE_NAME NOT LIKE 'gtid%'")
			c := attached(owner)

			guest := attach(t, c)
			expect.NoError(t, guest.CreateTables(t.Context()))
			expect.NoError(t, guest.CreateIndexes(t.Context(), "sale", "product"))
			insert(t, guest, insertOp, 5)
			if pids, reason := guest.Processes(); len(pids) != 1 || pids[0] != owner.Private.PID() {
				t.Errorf("processes %v, %s; the server is %d", pids, reason, owner.Private.PID())
			}
			expect.Equal(t, guest.DataDir(), owner.Private.DataDir(), "data directory")
			var sample engine.Sample
			expect.NoError(t, guest.Counters(t.Context(), &sample))
			expect.True(t, len(sample.Points) >= 100, len(sample.Points), "counters")
			if _, err := guest.Settle(t.Context()); err != nil {
				t.Error(err)
			}

			sizes, err := guest.Sizes(t.Context())
			expect.NoError(t, err)
			if total := slices.IndexFunc(sizes, func(z engine.Size) bool { return z.Object == "" }); (total >= 0) != (storage == "innodb") || total >= 0 && sizes[total].Bytes < 64<<10 {
				t.Errorf("sizes %v", sizes)
			}

			var exists *engine.ExistsError
			if _, err := (Engine{}).Open(t.Context(), c); !errors.As(err, &exists) || !strings.Contains(hint.Of(err), "--force") {
				t.Errorf("a schema that exists: %v", err)
			}
			expect.NoError(t, guest.Close())
			expect.NoError(t, guest.Close())
			expect.Equal(t, ask(t, owner, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'guest'"), "")
			expect.Equal(t, ask(t, owner, "SELECT COUNT(*) FROM sale"), "20", "rows of other sessions are left")
			if got := ask(t, owner, "SELECT GROUP_CONCAT(VARIABLE_NAME, VARIABLE_VALUE) FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME NOT LIKE '%timestamp%' AND VARIABLE_NAME NOT LIKE 'gtid%'"); got != variables {
				t.Error("variables of the server were changed")
			}
			expect.True(t, owner.Died() == nil, owner.Died())
		})
	}
}

// With force tables that an earlier run has left are replaced, others are left alone, and a
// schema that was there stays.
func TestForce(t *testing.T) {
	owner := shared(t)
	enginetest.Force(t, Engine{}, attached(owner), owner.Admin(), insertOp, []any{1, 2.5, "note"}, "product")
}

// A table of the user's that was made like one of ours, with its comment, is the user's, with force too.
func TestMadeLikeOurs(t *testing.T) {
	owner := shared(t)
	c, copied := attached(owner), schema.Tables[0]
	copied.Name = "mine"
	c.Schema.Tables = append(slices.Clone(c.Schema.Tables), copied)
	killed := attach(t, c)
	expect.NoError(t, killed.CreateTables(t.Context()))
	for _, text := range []string{"DROP TABLE guest.mine", "CREATE TABLE guest.mine LIKE guest.sale",
		"INSERT INTO guest.mine (id, product, price) VALUES (1, 1, 1)"} {
		expect.NoError(t, owner.Admin().Exec(t.Context(), text))
	}
	c.Server.Force = true
	if later, err := (Engine{}).Open(t.Context(), c); err == nil {
		expect.True(t, later.CreateTables(t.Context()) != nil, "the user's table was replaced")
		expect.NoError(t, later.Close())
	}
	expect.Equal(t, ask(t, owner, "SELECT COUNT(*) FROM guest.mine"), "1", "rows of the user's")
	expect.NoError(t, owner.Admin().Exec(t.Context(), "DROP DATABASE guest"))
}

// What a killed run has left is removed by a later one with force, its schema too; a schema of
// ours stays if others have made more than tables in it.
func TestLeftSchema(t *testing.T) {
	owner := shared(t)
	c := attached(owner)
	killed := attach(t, c) // it is closed after the test's end
	expect.NoError(t, killed.CreateTables(t.Context()))
	c.Server.Force = true
	later := attach(t, c)
	expect.NoError(t, later.CreateTables(t.Context()))
	expect.NoError(t, later.Close())
	const schemas = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'guest'"
	expect.Equal(t, ask(t, owner, schemas), "0", "the schema is left")
	for _, made := range []string{"PROCEDURE guest.theirs() SELECT 1", "EVENT guest.theirs ON SCHEDULE EVERY 1 YEAR DO SELECT 1"} {
		c.Server.Force = false
		guest := attach(t, c)
		expect.NoError(t, guest.CreateTables(t.Context()))
		expect.NoError(t, owner.Admin().Exec(t.Context(), "CREATE "+made))
		expect.NoError(t, guest.Close())
		expect.Equal(t, ask(t, owner, schemas+" AND (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'guest') = 0"), "1", made)
		expect.NoError(t, owner.Admin().Exec(t.Context(), "DROP DATABASE guest"))
	}
}

// A server that gives another durability than asked for is refused.
func TestDurabilityIsReadBack(t *testing.T) {
	for _, o := range []struct {
		storage string
		owner   model.Durability
		gives   []model.Durability
		long    bool
	}{
		{"innodb", "none", []model.Durability{"none", "interval"}, true},
		{"innodb", "interval", []model.Durability{"interval", "process"}, false},
		{"rocksdb", "none", []model.Durability{"none", "interval"}, false},
		{"rocksdb", "process", []model.Durability{"interval", "process"}, true},
	} {
		t.Run(o.storage+" "+string(o.owner), func(t *testing.T) {
			if o.long {
				need.Long(t)
			}
			owner := private(t, engine.Config{Storage: o.storage, Durability: o.owner})
			c := attached(owner)
			for _, level := range model.Durabilities() {
				c.Durability = level
				guest, err := Engine{}.Open(t.Context(), c)
				var knob *engine.KnobError
				expect.True(t, (err == nil) == slices.Contains(o.gives, level) && (err == nil || errors.As(err, &knob) && knob.Knob == "durability"), level, err)
				if err == nil {
					expect.NoError(t, guest.Close())
				}
				expect.Equal(t, ask(t, owner, "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'guest'"), "", level)
			}
		})
	}
}

// What a session is really like is read back on each, and refused if a promise would break.
func TestSessionIsReadBack(t *testing.T) {
	owner := shared(t)
	for _, text := range []string{"CREATE USER bench@localhost", "GRANT ALL ON *.* TO bench@localhost"} {
		expect.NoError(t, owner.Admin().Exec(t.Context(), text))
	}
	c := attached(owner)
	c.Server.DSN = strings.Replace(c.Server.DSN, "root@", "bench@", 1)
	guest := attach(t, c)
	expect.NoError(t, guest.CreateTables(t.Context()))
	for _, o := range []struct{ set, back, want string }{
		{"SET GLOBAL innodb_flush_log_at_trx_commit = 0", "SET GLOBAL innodb_flush_log_at_trx_commit = 2", "keeps level none"},
		{"SET GLOBAL tx_read_only = 1", "SET GLOBAL tx_read_only = 0", "may only read"},
	} {
		expect.NoError(t, owner.Admin().Exec(t.Context(), o.set))
		expect.Refused(guest.Session(t.Context()))(t, o.want, o.set)
		expect.NoError(t, owner.Admin().Exec(t.Context(), o.back))
	}
	expect.NoError(t, newSession(t, guest).Close())
}

// Connections that a proxy ends because they are idle are opened again.
func TestIdleConnections(t *testing.T) {
	owner := shared(t)
	c := attached(owner)
	c.Server.DSN = fmt.Sprintf("root@tcp(127.0.0.1:%d)/", enginetest.HAProxy(t, owner.Private.Endpoint(), "4s"))
	guest := attach(t, c)
	expect.NoError(t, guest.CreateTables(t.Context()))
	insert(t, guest, insertOp, 5)
	number := ask(t, guest, "SELECT CONNECTION_ID()")
	for ask(t, owner, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = "+number) != "0" {
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := guest.Explain(t.Context(), &model.Op{Kind: model.Get, Table: "sale", Columns: []string{"price"}}); err != nil {
		t.Error(err)
	}
	expect.NoError(t, guest.Counters(t.Context(), &engine.Sample{})) // their connection is idle for longer
	expect.NoError(t, guest.Close())
}

// The statements that a server still allows are known.
func TestFreeStatements(t *testing.T) {
	owner := shared(t)
	expect.NoError(t, owner.Admin().Exec(t.Context(), "SET GLOBAL max_prepared_stmt_count = 5"))
	expect.NoError(t, owner.CreateTables(t.Context()))
	s := newSession(t, owner)
	before, name, err := owner.FreeStatements(t.Context())
	expect.True(t, err == nil && name == "max_prepared_stmt_count" && before <= 5, before, name, err)
	for range before {
		prepare(t, s, insertOp)
	}
	if n, _, err := owner.FreeStatements(t.Context()); err != nil || n != 0 {
		t.Errorf("%d are left, %v", n, err)
	}
	if _, err := s.Prepare(t.Context(), &insertOp); err == nil || !strings.Contains(hint.Of(err), "max_prepared_stmt_count") {
		t.Errorf("%v; hint %q", err, hint.Of(err))
	}
	expect.NoError(t, s.Close())
}

// The levels follow from the variables, and so does how often the log is synced.
func TestLevels(t *testing.T) {
	for _, o := range []struct {
		st   *storage
		vars map[string]string
		want string
	}{
		{innodb, map[string]string{innodbFlush: "1", innodbTimeout: "1"}, "os"},
		{innodb, map[string]string{innodbFlush: "2", innodbTimeout: "1"}, "process and interval"},
		{innodb, map[string]string{innodbFlush: "2", innodbTimeout: "10"}, "process"},
		{innodb, map[string]string{innodbFlush: "2"}, "process and interval"}, // 5.5: once a second
		{innodb, map[string]string{innodbFlush: "0", innodbTimeout: "1"}, "none and interval"},
		{innodb, map[string]string{innodbFlush: "0", innodbTimeout: "5"}, "none"},
		{rocksdb, map[string]string{rocksdbFlush: "1", rocksdbManual: "ON"}, "os"},
		{rocksdb, map[string]string{rocksdbFlush: "2", rocksdbManual: "OFF"}, "process and interval"},
		{rocksdb, map[string]string{rocksdbFlush: "2", rocksdbManual: "ON"}, "none and interval"},
		{rocksdb, map[string]string{rocksdbFlush: "0", rocksdbManual: "OFF"}, "none and interval"},
	} {
		var got string
		for _, l := range o.st.levels(o.vars) {
			got = strings.TrimPrefix(got+" and "+string(l), " and ")
		}
		expect.Equal(t, got, o.want, o.st.name, o.vars)
	}
}

func TestSettings(t *testing.T) {
	direct := true
	d := private(t, engine.Config{Cache: 24 * mb, Page: 8192, DirectIO: &direct, Durability: model.DurabilityOS, Options: map[string]any{"innodb-doublewrite": false, "innodb_log_file_size": "32M"}})
	got := settings(t, d)
	for name, want := range map[string]string{
		"durability": "os", "storage": "innodb", "isolation": "repeatable-read", "innodb_buffer_pool_size": "25165824", "innodb_page_size": "8192",
		"innodb_flush_method": "O_DIRECT", "innodb_doublewrite": "OFF", "innodb_log_file_size": "33554432", "innodb_flush_log_at_trx_commit": "1",
	} {
		expect.True(t, got[name] == want, name, got[name], want)
	}
	expect.True(t, strings.Contains(got[engine.ServerVersion], "MariaDB"), got[engine.ServerVersion])
	enginetest.Discard(d)

	d = private(t, engine.Config{Storage: "rocksdb", Cache: 24 * mb, Page: 16384, DirectIO: &direct, Compression: model.CompressionZstd,
		Options: map[string]any{"rocksdb_default_cf_options": "write_buffer_size=4m;compression=kLZ4Compression;block_based_table_factory={filter_policy=bloomfilter:10:false}"}})
	got = settings(t, d)
	for name, want := range map[string]string{
		"durability": "process", "rocksdb_block_cache_size": "25165824", "rocksdb_block_size": "16384", "rocksdb_use_direct_reads": "ON",
		"rocksdb cf default compression_type": "kLZ4Compression", "rocksdb cf default bottommost_compression": "kZSTD", "rocksdb cf default write_buffer_size": "4194304", "rocksdb_manual_wal_flush": "OFF",
	} {
		expect.True(t, got[name] == want, name, got[name], want)
	}
	if p := got["rocksdb cf default table_factory::filter_policy"]; !strings.Contains(strings.ToLower(p), "bloom") {
		t.Errorf("filter policy %q", p)
	}
}

func settings(t *testing.T, d *db) map[string]string {
	t.Helper()
	list, err := d.Settings(t.Context())
	expect.NoError(t, err)
	out := map[string]string{}
	for _, s := range list {
		if s.Source != engine.ReadBack && s.Source != engine.Changed && s.Name != "protocol" && (s.Name != "compression" || d.storage == rocksdb) &&
			(s.Name != "durability" || d.storage.levels != nil) {
			t.Errorf("%s was not read back", s.Name)
		}
		out[s.Name] = s.Value
	}
	return out
}

// The tables really have the storage and the form that the plan asks for.
func TestCompressedTables(t *testing.T) {
	d := private(t, engine.Config{Compression: model.CompressionZlib})
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.Equal(t, ask(t, d, "SELECT ROW_FORMAT FROM information_schema.TABLES WHERE TABLE_NAME = 'sale'"), "Compressed")
}

// A range query that an index covers reads nothing but the index.
func TestCovered(t *testing.T) {
	for _, storage := range []string{"innodb", "rocksdb"} {
		d := private(t, engine.Config{Storage: storage})
		expect.NoError(t, d.CreateTables(t.Context()))
		expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "product"))
		insert(t, d, insertOp, 500)
		op := &model.Op{Kind: model.Scan, Table: "sale", Index: "product", Columns: []string{"product", "price"}, Lower: model.Inclusive, Limit: 10}
		text, err := newDialect(nil, true).Statement(&schema.Tables[0], op)
		expect.NoError(t, err)
		var extra string
		expect.NoError(t, d.Admin().Query(t.Context(), "EXPLAIN "+strings.ReplaceAll(text.Text, "?", "5"), func(row []string) error {
			extra = row[5] + " " + row[len(row)-1]
			return nil
		}))
		expect.True(t, strings.Contains(extra, "sale.product") && strings.Contains(extra, "Using index") && !strings.Contains(extra, "filesort"), storage, extra)
		enginetest.Discard(d)
	}
}

// The shorter ways of a first load leave the same rows.
func TestLoad(t *testing.T) {
	for _, options := range []map[string]any{{}, {"bulk_load": true, "skip_unique_checks": true},
		{"skip_unique_checks": true}, {"bulk_load": true}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			if len(options) == 1 {
				need.Long(t)
			}
			d := private(t, engine.Config{Storage: "rocksdb", Options: options})
			expect.NoError(t, d.CreateTables(t.Context()))
			expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "product"))
			load := insertOp
			load.Load = true
			insert(t, d, load, 2000)
			rows := ask(t, d, "SELECT CONCAT(COUNT(*), ' ', MIN(id), ' ', MAX(id), ' ', SUM(product)) FROM sale")
			expect.True(t, rows == "4000 1 4000 "+ask(t, d, "SELECT SUM(product) FROM sale FORCE INDEX (`sale.product`)"), rows)
			bulk, _ := options["bulk_load"].(bool)
			// What is loaded in bulk is not written to the log row by row.
			if got := ask(t, d, "SELECT VARIABLE_VALUE < 50000 FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'ROCKSDB_WAL_BYTES'"); (got == "1") != bulk {
				t.Errorf("little log: %s", got)
			}
		})
	}
}

// Real errors of the server get their classes.
func TestClasses(t *testing.T) {
	d := private(t, engine.Config{Options: map[string]any{"innodb_lock_wait_timeout": 1, "innodb_log_file_size": "16M"}})
	expect.NoError(t, d.CreateTables(t.Context()))
	insert(t, d, insertOp, 5)
	exec := func(c *sqlkit.Admin, text string) error { return c.Exec(t.Context(), text) }
	a, err := d.Connect(t.Context())
	expect.NoError(t, err)
	b, err := d.Connect(t.Context())
	expect.NoError(t, err)
	defer a.Close()
	defer b.Close()
	expect.NoError(t, exec(a, "BEGIN"))
	expect.NoError(t, exec(a, "UPDATE sale SET price = 0 WHERE id = 1"))
	expect.Equal(t, engine.ClassOf(exec(b, "UPDATE sale SET price = 0 WHERE id = 1")), engine.LockTimeout,
		"a lock that is held")
	expect.Equal(t, engine.ClassOf(exec(b, "INSERT INTO sale (id, product, price) VALUES (2, 0, 0)")), engine.Duplicate,
		"a key that exists")
	expect.NoError(t, exec(a, "SET SESSION innodb_lock_wait_timeout = 50"))
	expect.NoError(t, exec(b, "SET SESSION innodb_lock_wait_timeout = 50"))
	expect.NoError(t, exec(b, "BEGIN"))
	expect.NoError(t, exec(b, "UPDATE sale SET price = 0 WHERE id = 3"))
	waiting := make(chan error)
	go func() { waiting <- a.Exec(context.Background(), "UPDATE sale SET price = 0 WHERE id = 3") }()
	for ask(t, d, "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'") != "1" {
		time.Sleep(200 * time.Millisecond) // asking more often returns old values
	}
	err = errors.Join(exec(b, "UPDATE sale SET price = 0 WHERE id = 1"), <-waiting)
	expect.Equal(t, engine.ClassOf(err), engine.Deadlock, "a deadlock", err)
}

// Counters are typed; the engine-neutral ones agree with what was done.
func TestCounters(t *testing.T) {
	for _, storage := range []string{"innodb", "rocksdb"} {
		d := private(t, engine.Config{Storage: storage, Cache: 64 * mb})
		expect.NoError(t, d.CreateTables(t.Context()))
		expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "product"))
		before := points(t, d)
		insert(t, d, insertOp, 3000)
		_, err := d.Settle(t.Context())
		expect.NoError(t, err)
		after := points(t, d)
		grew := func(name string) float64 { return after[name].Value - before[name].Value }
		expect.Equal(t, grew("mysql.com_insert"), 3000, storage, "inserts")
		if n := grew("mysql.com_stmt_execute"); n < 3000 {
			t.Errorf("%s: %v statements", storage, n)
		}
		if n := grew(engine.Queries); n < 3000 {
			t.Errorf("%s: %v queries", storage, n)
		}
		if n := grew(engine.LogBytes); n < 3000*50 || n > grew(engine.BytesWritten) {
			t.Errorf("%s: %v bytes of log", storage, n)
		}
		if p, ok := after[engine.Commits+`{explicit_only="true"}`]; !ok || p.Kind != engine.Counter {
			t.Errorf("%s: commits %+v", storage, p)
		}
		if p := after[engine.Sessions]; p.Kind != engine.Gauge || p.Value < 1 {
			t.Errorf("%s: sessions %+v", storage, p)
		}
		if n := grew(engine.BytesWritten); n < 6000*50 || n > 100*mb {
			t.Errorf("%s: %v bytes written", storage, n)
		}
		for _, name := range []string{engine.CacheLookups, engine.CacheMisses, engine.DirtyBytes, engine.Stalls} {
			if p, ok := after[name]; !ok || p.Unit == "" || (p.Kind == engine.Gauge) != (name == engine.DirtyBytes) {
				t.Errorf("%s: %+v", storage, p)
			}
		}
		if storage == "rocksdb" {
			if n := grew(engine.BytesTaken); n < 6000*30 {
				t.Errorf("%v bytes taken", n)
			}
			levels := 0
			for key := range after {
				if strings.HasPrefix(key, "mysql.rocksdb.level.bytes{level=") {
					levels++
				}
			}
			expect.True(t, levels != 0, "no level is reported")
			if got, err := d.Structure(t.Context()); err != nil || got.Memtable != 64*mb {
				t.Errorf("%+v, %v", got, err)
			}
			// What the page cache holds besides, nobody knows.
			if p, ok := after[engine.CacheHeld]; ok {
				t.Errorf("reads do not bypass the page cache: %+v", p)
			}
		} else if p := after[engine.CheckpointAge]; p.Kind != engine.Gauge {
			t.Errorf("checkpoint age %+v", p)
		}
		enginetest.Discard(d)
	}
}

func points(t *testing.T, d *db) map[string]engine.Point {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, d.Counters(t.Context(), &s))
	out := map[string]engine.Point{}
	for _, p := range s.Points {
		if _, twice := out[p.Key()]; twice {
			t.Errorf("%s is reported twice", p.Key())
		}
		out[p.Key()] = p
	}
	return out
}

// Every storage that the server has can be used; those without transactions say so.
func TestOtherStorages(t *testing.T) {
	for storage, level := range map[string]model.Durability{"aria": model.DurabilityOS, "myisam": model.DurabilityNone} {
		c := engine.Config{Storage: storage, Durability: level, Cache: 16 * mb}
		expect.True(t, !slices.Contains(Engine{}.InfoOf(c).Capabilities, model.CapTransactions),
			storage, "has transactions")
		d := private(t, c)
		expect.NoError(t, d.CreateTables(t.Context()))
		expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "product"))
		insert(t, d, insertOp, 50)
		if got := settings(t, d); got["durability"] != string(level) || got["storage"] != storage {
			t.Errorf("%v", got)
		}
		if p := points(t, d); p[engine.CacheLookups].Kind != engine.Counter {
			t.Errorf("%s: %+v", storage, p[engine.CacheLookups])
		}
		_, err := d.Settle(t.Context())
		expect.NoError(t, err)
		enginetest.Discard(d)
	}
	_, err := Engine{}.Open(t.Context(), engine.Config{Dir: need.TempDir(t), Storage: "tokudb", Durability: model.DurabilityNone, Schema: schema})
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "storage", "a storage that the server does not have", err)
}

func TestWatch(t *testing.T) {
	d := private(t, engine.Config{Storage: "rocksdb"})
	expect.NoError(t, d.CreateTables(t.Context()))
	w, err := Engine{}.Watch(t.Context(), "root@unix("+d.Private.Endpoint().Socket+")/")
	expect.NoError(t, err)
	defer w.Close()
	var s engine.Sample
	expect.NoError(t, w.Counters(t.Context(), &s))
	keys := map[string]bool{}
	for _, p := range s.Points {
		keys[p.Key()] = true
	}
	for _, want := range []string{engine.CacheLookups + `{storage="innodb"}`, engine.CacheLookups + `{storage="rocksdb"}`, `mysql.table.rows{database="rumbench",table="sale"}`} {
		expect.True(t, keys[want], "no", want)
	}
	sizes, err := watched(t.Context(), d.Admin())
	expect.NoError(t, err)
	expect.NoError(t, sizes.sample(t.Context(), &s))
	expect.NoError(t, d.Admin().Exec(t.Context(), "DROP TABLE sale"))
	sizes.asked = time.Time{} // they are not asked for at every sample
	s.Reset()
	expect.NoError(t, sizes.sample(t.Context(), &s))
	for _, p := range s.Points {
		expect.True(t, !strings.HasPrefix(p.Name, "mysql.table."), p.Key(), "is reported for a table that is gone")
	}
	if pids, _ := w.Processes(); len(pids) != 1 || pids[0] != d.Private.PID() || w.DataDir() != d.Private.DataDir() {
		t.Errorf("processes %v, data in %q", pids, w.DataDir())
	}
	expect.Refused((Engine{}).Watch(t.Context(), "nonsense"))(t, "", "nonsense was accepted")
}

// The password of the port is asked for; at the socket nobody but root and the
// server's user gets so far.
func TestPort(t *testing.T) {
	d := shared(t)
	e := d.Private.Endpoint()
	for password, ok := range map[string]bool{"": false, e.Password: true} {
		c := engine.Config{Durability: d.Durability, Schema: schema, Server: engine.ServerConfig{DSN: fmt.Sprintf("root:%s@tcp(127.0.0.1:%d)/", password, e.Port)}}
		c.Server.Schema = "other"
		db, err := Engine{}.Open(t.Context(), c)
		expect.Equal(t, (err == nil), ok, "password", password, err)
		if err == nil {
			if pids, reason := db.(engine.Hosted).Processes(); len(pids) != 1 || pids[0] != d.Private.PID() {
				t.Errorf("%v %s", pids, reason)
			}
			db.Close()
		}
	}
}

// The old release is tested where make setup-long has fetched it.
func TestOldRelease(t *testing.T) {
	need.Long(t)
	path := os.Getenv("RUMBENCH_MYSQL55")
	if path == "" {
		path = "/opt/rumbench/mysql-5.5.9/bin/mysqld"
	}
	_, err := server.Find(t.Context(), server.MySQL, server.Source{Binary: path})
	need.Installed(t, err)
	d := private(t, engine.Config{Cache: 32 * mb, Server: engine.ServerConfig{Kind: "mysql", Binary: path}, Options: map[string]any{"innodb_log_file_size": "16M"}})
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "product"))
	insert(t, d, insertOp, 500)
	if got := settings(t, d); got[engine.ServerVersion] != "5.5.9" || got["innodb_buffer_pool_size"] != "33554432" {
		t.Errorf("%v", got)
	}
	expect.Equal(t, ask(t, d, "SELECT COUNT(*) FROM sale"), "1000", "rows")
	if p := points(t, d); p[engine.BytesWritten].Value == 0 {
		t.Error("nothing was written")
	}
	_, err = d.Settle(t.Context())
	expect.NoError(t, err)
	sizes, err := d.Sizes(t.Context())
	expect.NoError(t, err)
	expect.True(t, len(sizes) >= 2, sizes)
	enginetest.Discard(d)
	_, err = Engine{}.Open(t.Context(), engine.Config{Dir: need.TempDir(t), Page: 8192, Durability: model.DurabilityOS, Schema: schema, Server: engine.ServerConfig{Kind: "mysql", Binary: path}})
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "page", "another size of pages", err)
}

// MyRocks has a structure of its own, if it is leveled; what the cache holds is known where
// it reads past the page cache.
func TestStructure(t *testing.T) {
	const filter = "block_based_table_factory={filter_policy=bloomfilter:10:false}"
	direct := true
	for i, c := range []struct {
		options string
		want    engine.Structure
	}{
		{filter, engine.Structure{Shape: engine.Leveled, Block: 8192, Memtable: 64 * mb, Filters: true}},
		{filter + ";compaction_style=kCompactionStyleUniversal", engine.Structure{}},
		{strings.Replace(filter, "}", ";whole_key_filtering=0}", 1) + ";write_buffer_size=1m;bottommost_compression=kZSTD",
			engine.Structure{Shape: engine.Leveled, Memtable: 1 * mb}},
		{filter + ";write_buffer_size=1m", engine.Structure{Shape: engine.Leveled, Block: 8192, Memtable: 1 * mb, Filters: true}},
		{"write_buffer_size=1m", engine.Structure{Shape: engine.Leveled, Block: 8192, Memtable: 1 * mb}},
		{filter + ";bottommost_compression=kZSTD", engine.Structure{Shape: engine.Leveled, Memtable: 64 * mb, Filters: true}},
		{filter + ";compression_per_level=kNoCompression:kZSTD",
			engine.Structure{Shape: engine.Leveled, Memtable: 64 * mb, Filters: true}},
		{strings.Replace(filter, "}", ";whole_key_filtering=0}", 1),
			engine.Structure{Shape: engine.Leveled, Block: 8192, Memtable: 64 * mb}},
	} {
		t.Run(c.options, func(t *testing.T) {
			if i > 2 {
				need.Long(t)
			}
			d := private(t, engine.Config{Storage: "rocksdb", Cache: 64 * mb, Page: 8192, Compression: model.CompressionNone,
				DirectIO: &direct, Options: map[string]any{"rocksdb_default_cf_options": c.options}})
			after := points(t, d)
			expect.Equal(t, expect.Value(d.Structure(t.Context()))(t), c.want)
			if held := after[engine.CacheHeld].Value; held <= 0 || held > 64*mb {
				t.Errorf("%v bytes held", held)
			}
		})
	}
}

// A server that falls silent while a database is opened is an error.
func TestSilent(t *testing.T) {
	needServer(t)
	c := engine.Config{Durability: model.DurabilityProcess, Schema: schema, Options: map[string]any{"innodb_log_file_size": "16M"}}
	enginetest.Silent(t, Engine{}, c, func(port int) string { return fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port) })
}
