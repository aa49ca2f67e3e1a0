package tarantool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// everything is what there is on a server that may be rumbench's.
const everything = `(function()
	local out = {}
	for name in pairs(box.space) do if type(name) == 'string' and name:sub(1, 1) ~= '_' then table.insert(out, name) end end
	for name in pairs(_G) do if name:sub(1, 9) == 'rumbench_' then table.insert(out, name) end end
	for _, s in box.space._sequence:pairs() do table.insert(out, s.name) end
	table.insert(out, 'triggers ' .. #box.session.on_disconnect())
	table.sort(out)
	return out
end)()`

func attach(dsn string) engine.Config {
	return engine.Config{Durability: model.DurabilityProcess, Storage: vinyl, Schema: schema(), Server: engine.ServerConfig{DSN: dsn, Schema: "guest"}}
}

// What is attached to is left as it was: tables are made and removed, a schema
// that exists is refused, and nothing is stopped.
func TestAttached(t *testing.T) {
	s, owner := hosted(t, "write")
	before := answer(t, owner, everything)
	c := attach("bench:a secret@unix/:" + s.Endpoint().Socket)
	d := open(t, c)
	fill(t, d)
	prepare(t, newSession(t, d), insert(2, model.Fail)).OK(rows(1, 2)...)
	expect.Equal(t, answer(t, owner, "box.space['guest.sale']:count()"), "2", "rows")
	if pids, reason := d.Processes(); len(pids) != 1 || pids[0] != s.PID() || d.DataDir() != s.DataDir() || d.Died() != nil {
		t.Errorf("processes %v %s, data in %q", pids, reason, d.DataDir())
	}
	_, err := Engine{}.Open(t.Context(), c)
	expect.True(t, err != nil && strings.Contains(err.Error(), "has a schema guest already (space guest.sale)") && strings.Contains(hint.Of(err), "--force"), err, hint.Of(err))
	if e, ok := errors.AsType[*engine.ExistsError](err); !ok {
		t.Errorf("%T", e)
	}
	expect.NoError(t, d.Close())
	expect.NoError(t, d.Close())
	expect.Equal(t, answer(t, owner, everything), before, "what the user has changed")
}

// A server that syncs its log gives vinyl level process only, and memtx level os
// only. One that does not sync it gives both level process only.
func TestAttachedDurability(t *testing.T) {
	levels := []model.Durability{model.DurabilityNone, model.DurabilityProcess, model.DurabilityOS}
	for mode, gives := range map[string]map[string]model.Durability{
		"fsync": {memtx: model.DurabilityOS, vinyl: model.DurabilityProcess},
		"write": {memtx: model.DurabilityProcess, vinyl: model.DurabilityProcess},
	} {
		s, _ := hosted(t, mode)
		for storage, given := range gives {
			for _, level := range levels {
				c := attach(s.Endpoint().Socket)
				c.Storage, c.Durability = storage, level
				d, err := Engine{}.Open(t.Context(), c)
				if knob, ok := errors.AsType[*engine.KnobError](err); level != given && (!ok || knob.Knob != "durability") || level == given && err != nil {
					t.Errorf("%s, wal_mode %s, level %s: %v", storage, mode, level, err)
				}
				if err != nil {
					continue
				}
				settings, err := d.Settings(t.Context())
				expect.NoError(t, err)
				for name, value := range map[string]string{"durability": string(given), "wal_mode": mode} {
					expect.True(t, slices.Contains(settings, engine.Setting{Name: name, Value: value, Source: engine.ReadBack}), storage, level, name, value, settings)
				}
				expect.NoError(t, d.Close())
			}
		}
	}
}

// An index may have the name that the primary key's usually has.
func TestIndexCalledPrimary(t *testing.T) {
	s, owner := hosted(t, "write")
	c := attach(s.Endpoint().Socket)
	c.Schema.Tables[0].Indexes[0].Name = "primary"
	d, name := open(t, c), c.Schema.Tables[0].Name
	expect.NoError(t, d.CreateTables(t.Context()))
	expect.NoError(t, d.CreateIndexes(t.Context(), name, "primary"))
	expect.Equal(t, answer(t, owner, "box.space['guest."+name+"'].index.primary.id"), "1", "the index is number")
	expect.NoError(t, d.Close())
}

// With force a schema may exist: only tables that an earlier run has left are replaced, and
// only by CreateTables. The user's are neither used nor replaced.
func TestForce(t *testing.T) {
	s, owner := hosted(t, "write")
	expect.NoError(t, owner.eval(t.Context(), nil, `for _, name in pairs({'sale', 'other'}) do box.schema.space.create('guest.' .. name):create_index('primary') end`))
	c := attach(s.Endpoint().Socket)
	if _, err := (Engine{}).Open(t.Context(), c); err == nil || strings.Contains(hint.Of(err), "--force") {
		t.Errorf("a schema of the user's: %v; hint %q", err, hint.Of(err))
	}
	c.Server.Force = true
	d := open(t, c)
	_, err := newSession(t, d).Prepare(t.Context(), &getOp)
	before := answer(t, owner, everything)
	for subject, err := range map[string]error{"used": err, "changed": d.CreateIndexes(t.Context(), "sale", "customer"),
		"cleared": d.ClearTable(t.Context(), "sale"), "replaced": d.CreateTables(t.Context())} {
		expect.True(t, err != nil && strings.Contains(err.Error(), "sale exists, and rumbench did not make it"),
			"a table of the user's was", subject, err)
	}
	expect.Equal(t, answer(t, owner, everything), before, "what the user has changed")
	expect.NoError(t, d.Close())
	expect.NoError(t, owner.eval(t.Context(), nil, "box.space['guest.sale']:drop()"))
	d = open(t, c)
	fill(t, d)
	again := open(t, c)
	expect.NoError(t, again.CreateTables(t.Context())) // what another run has left
	expect.NoError(t, again.Close())
	expect.NoError(t, d.Close())
	if got := answer(t, owner, everything); strings.Contains(got, "guest.sale") || !strings.Contains(got, "guest.other") {
		t.Errorf("left: %s", got)
	}
}

// A space that a user has made in place of one that a killed run has left is the user's, and a
// run leaves the spaces of a concurrent one that has replaced its own.
func TestReplacedSpace(t *testing.T) {
	s, owner := hosted(t, "write")
	c := attach(s.Endpoint().Socket)
	first := open(t, c)
	fill(t, first)
	c.Server.Force = true
	second := open(t, c)
	fill(t, second)
	expect.NoError(t, first.Close())
	if got := answer(t, owner, everything); !strings.Contains(got, "guest.sale") {
		t.Error("the first run has removed the space of the second")
	}
	expect.NoError(t, owner.eval(t.Context(), nil, "box.space['guest.sale']:drop() box.schema.space.create('guest.sale'):create_index('mine')"))
	third := open(t, c)
	expect.Error(t, third.CreateTables(t.Context()), "rumbench did not make it", "the user's space")
	expect.NoError(t, third.Close())
	expect.NoError(t, second.Close())
	if got := answer(t, owner, everything); !strings.Contains(got, "guest.sale") {
		t.Error("the user's space is gone")
	}
}

// A connection that a proxy ends because it is idle is opened again.
func TestIdleConnection(t *testing.T) {
	s, owner := hosted(t, "write")
	d := open(t, attach(fmt.Sprintf("127.0.0.1:%d", enginetest.HAProxy(t, s.Endpoint(), "4s"))))
	expect.NoError(t, d.CreateTables(t.Context()))
	count := "box.stat.net().CONNECTIONS.current"
	before := answer(t, owner, count)
	for answer(t, owner, count) == before {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(time.Second) // a connection that was just used is not tried
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "customer"))
	expect.NoError(t, d.Counters(t.Context(), &engine.Sample{})) // their connection is idle for longer
	expect.NoError(t, d.Close())
	if got := answer(t, owner, everything); strings.Contains(got, "guest.sale") {
		t.Errorf("left: %s", got)
	}
}

// A server that may only be read is refused, on each connection.
func TestReadOnly(t *testing.T) {
	s, owner := hosted(t, "write")
	d := open(t, attach(s.Endpoint().Socket))
	expect.NoError(t, owner.eval(t.Context(), nil, "box.cfg{read_only = true}"))
	expect.Refused(d.Session(t.Context()))(t, "may only read")
	expect.NoError(t, owner.eval(t.Context(), nil, "box.cfg{read_only = false}"))
}

func TestRefusedUsers(t *testing.T) {
	s, owner := hosted(t, "write")
	expect.NoError(t, owner.eval(t.Context(), nil, "box.schema.user.create('weak', {password = ''})"))
	for user, want := range map[string]string{"bench:wrong": "the password in the dsn", "nobody:": "the user in the dsn", "weak:": "needs the rights"} {
		_, err := Engine{}.Open(t.Context(), attach(user+"@"+s.Endpoint().Socket))
		expect.True(t, engine.ClassOf(err) == engine.Fatal && strings.Contains(hint.Of(err), want) && !strings.Contains(err.Error(), "wrong"), user, err, hint.Of(err))
	}
	_, err := Engine{}.Open(t.Context(), attach("127.0.0.1:1"))
	expect.Equal(t, engine.ClassOf(err), engine.Gone, "nothing listens", err)
}

func TestDSN(t *testing.T) {
	for dsn, want := range map[string]string{
		"localhost:3301":                    "guest@tcp(localhost:3301)/",
		"tarantool://me:p@ss:w@db.com:3301": "me@tcp(db.com:3301)/",
		"me:secret@unix/:/run/t.sock":       "me@unix(/run/t.sock)/",
		"/run/t.sock":                       "guest@unix(/run/t.sock)/",
		"nonsense":                          escape.Hidden,
	} {
		expect.Equal(t, engine.ShowDSN(Engine{}, dsn), want, dsn)
	}
}

// The loser of a conflict is refused at its commit, and its session goes on.
func TestConflict(t *testing.T) {
	d := open(t, config(need.TempDir(t), vinyl))
	fill(t, d)
	one, two := newSession(t, d), newSession(t, d)
	prepare(t, one, insert(2, model.Fail)).OK(rows(1, 2)...)
	transaction := func(s engine.Session) (begin, update, commit *enginetest.Operation) {
		update = prepare(t, s, model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "customer", Add: true}}})
		return prepare(t, s, model.Op{Kind: model.Begin, Isolation: model.Serializable}), update, prepare(t, s, model.Op{Kind: model.Commit})
	}
	begin1, update1, commit1 := transaction(one)
	begin2, update2, commit2 := transaction(two)
	begin1.OK()
	begin2.OK()
	update1.Changes(1, 10, 1)
	update2.Changes(1, 10, 1)
	commit1.OK()
	commit2.Fails(engine.Conflict)
	begin2.OK()
	update2.Changes(1, 10, 1)
	commit2.OK()
	prepare(t, one, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"customer"}}).Want([]any{1}, "21")
	// A failed insert within a transaction leaves no row of its own.
	begin1.OK()
	prepare(t, one, insert(2, model.Fail)).Fails(engine.Duplicate, append(rows(7, 1), rows(1, 1)...)...)
	commit1.OK()
	prepare(t, two, getOp).Want([]any{7})
}

// Vinyl aborts an operation that meets another while it reads from the disk. Outside
// of transactions it is repeated.
func TestRepeated(t *testing.T) {
	const clients, each = 8, 200
	c := config(need.TempDir(t), vinyl)
	c.Options = map[string]any{"vinyl_cache": "0"}
	d := open(t, c)
	fill(t, d)
	one := prepare(t, newSession(t, d), insert(1, model.Fail))
	for id := range clients * each {
		one.OK(id, 0, 0.5, strings.Repeat("x", 1000))
	}
	_, err := d.Settle(t.Context())
	expect.NoError(t, err)
	var wg sync.WaitGroup
	for w := range clients {
		add := prepare(t, newSession(t, d), model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "customer", Add: true}}})
		wg.Go(func() {
			for n := range each {
				if err := add.Run(1, (n+w%2)%each*clients); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sum := model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"customer"}, Aggregate: model.Sum}
	prepare(t, newSession(t, d), sum).Gives(strconv.Itoa(clients * each))
}

// Numbers of 64 bits are added and compared as such, in Lua as well.
func TestGreatNumbers(t *testing.T) {
	for _, storage := range []string{memtx, vinyl} {
		d := open(t, config(need.TempDir(t), storage))
		fill(t, d)
		s := newSession(t, d)
		all := prepare(t, s, insert(3, model.Fail))
		all.OK(math.MinInt64, 1<<62, 0.5, "a", -1, -(1 << 62), 1e300, "b", math.MaxInt64, 1<<60+1, nil, "c")
		sum := model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"customer"}, Aggregate: model.Sum}
		prepare(t, s, sum).Gives("1152921504606846977")
		sum.Columns[0] = "price"
		prepare(t, s, sum).Gives("1e+300")
		between := model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"data"}, Lower: model.Inclusive, Upper: model.Exclusive}
		prepare(t, s, between).Want([]any{math.MinInt64, math.MaxInt64}, `"a"`, `"b"`)
		sorted := model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"data", "price"}, OrderBy: "price", Desc: true, Limit: 2}
		prepare(t, s, sorted).Want(nil, `"b" 1e+300`, `"a" 0.5`)
		prepare(t, s, insert(1, model.Fail)).Fails(engine.Fatal, nil, 1, 1.0, "no key")
		by := model.Op{Kind: model.Update, Table: "sale", Index: "customer", Equal: 1, Set: []model.Assign{{Column: "customer", Add: true}}}
		prepare(t, s, by).Changes(1, 1, 1<<62)
		prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"customer"}}).Want([]any{math.MinInt64}, "4611686018427387905")
	}
}

// What was prepared before an index was built maintains it.
func TestDefinitionsChange(t *testing.T) {
	for _, storage := range []string{memtx, vinyl} {
		d := open(t, config(need.TempDir(t), storage))
		expect.NoError(t, d.CreateTables(t.Context()))
		s := newSession(t, d)
		one, many := prepare(t, s, insert(1, model.Fail)), prepare(t, s, insert(3, model.Fail))
		many.OK(rows(0, 3)...)
		expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "customer"))
		one.OK(rows(3, 1)...)
		many.OK(rows(4, 3)...)
		byIndex := model.Op{Kind: model.Scan, Table: "sale", Index: "customer", Columns: []string{"customer"}, Aggregate: model.Sum}
		prepare(t, s, byIndex).Gives("21")
	}
}

// Tables are made all or none, and so are indexes.
func TestMadeAllOrNone(t *testing.T) {
	for _, storage := range []string{memtx, vinyl} {
		c := config(need.TempDir(t), storage)
		other := c.Schema.Tables[0]
		other.Name = "other"
		other.Indexes = []model.Index{{Name: "price", Columns: []string{"price"}}, {Name: "data", Columns: []string{"data"}, Unique: true}}
		c.Schema.Tables = append(c.Schema.Tables, other)
		d := open(t, c)
		before := answer(t, d.admin, everything)
		expect.NoError(t, d.admin.eval(t.Context(), nil, "box.schema.space.create('rumbench.other')"))
		expect.Error(t, d.CreateTables(t.Context()), "", "a table was made twice")
		expect.NoError(t, d.admin.eval(t.Context(), nil, "box.space['rumbench.other']:drop()"))
		expect.Equal(t, answer(t, d.admin, everything), before, storage, "what the user has changed")
		expect.NoError(t, d.CreateTables(t.Context()))
		put := insert(2, model.Fail)
		put.Table = "other"
		enginetest.PrepareOperation(t, newSession(t, d), c.Schema, put).OK(1, 1, 1.5, "same", 2, 2, 2.5, "same")
		expect.Equal(t, engine.ClassOf(d.CreateIndexes(t.Context(), "other", "price", "data")), engine.Duplicate,
			storage, "a unique index of equal values")
		expect.Equal(t, answer(t, d.admin, "#box.space['rumbench.other'].index"), "0", storage, "indexes are left")
	}
}

// Blind writes read nothing in vinyl, whose replace and delete leave the old
// entries of secondary indexes to compaction.
func TestLookups(t *testing.T) {
	d := open(t, config(need.TempDir(t), vinyl))
	fill(t, d)
	s := newSession(t, d)
	const n = 50
	prepare(t, s, insert(n, model.Fail)).OK(rows(0, n)...)
	for _, c := range []struct {
		name string
		op   model.Op
		want float64
	}{
		{"replace", insert(1, model.Replace), 0},
		{"insert", insert(1, model.Ignore), n},
		{"upsert", func() model.Op { op := insert(1, model.Add); op.AddColumns = []string{"customer"}; return op }(), n},
	} {
		before := lookups(t, d)
		do := prepare(t, s, c.op)
		for i := range n {
			do.OK(rows(i, 1)...)
		}
		expect.Equal(t, lookups(t, d)-before, c.want, n, c.name, "s look up", "times")
	}
}

func lookups(t *testing.T, d *db) (n float64) {
	var s engine.Sample
	expect.NoError(t, d.Counters(t.Context(), &s))
	for _, p := range s.Points {
		if p.Name == "tarantool.index.lookups" {
			n += p.Value
		}
	}
	return n
}

// Data that does not fit is refused with what to do about it.
func TestMemoryFull(t *testing.T) {
	c := config(need.TempDir(t), memtx)
	c.Options = map[string]any{"memtx_memory": "64MiB"}
	d := open(t, c)
	fill(t, d)
	settings, err := d.Settings(t.Context())
	expect.NoError(t, err)
	if i := slices.IndexFunc(settings, func(s engine.Setting) bool { return s.Name == "memtx_memory" }); settings[i].Value != "67108864" {
		t.Errorf("%v", settings[i])
	}
	s := newSession(t, d)
	put := prepare(t, s, insert(1, model.Fail))
	wide := strings.Repeat("x", 900_000)
	for i := 0; err == nil && i < 1000; i++ {
		err = put.Run(i, i, 1.5, wide)
	}
	expect.True(t, engine.ClassOf(err) == engine.Fatal && strings.Contains(hint.Of(err), "memtx_memory"),
		err, "hint", hint.Of(err))
	prepare(t, s, getOp).OK(1)
}

// An expired context stops an operation before it is sent.
func TestExpired(t *testing.T) {
	d := open(t, config(need.TempDir(t), memtx))
	fill(t, d)
	get := prepare(t, newSession(t, d), getOp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.Is(t, get.Stmt.Exec(ctx, []model.Value{model.IntValue(1)}, &get.Result), context.Canceled)
	get.Want([]any{1})
}

func TestWatch(t *testing.T) {
	s, _ := hosted(t, "write")
	w, err := Engine{}.Watch(t.Context(), s.Endpoint().Socket)
	expect.NoError(t, err)
	defer w.Close()
	var sample engine.Sample
	expect.NoError(t, w.Counters(t.Context(), &sample))
	settings, err := w.Settings(t.Context())
	expect.NoError(t, err)
	if pids, _ := w.Processes(); len(sample.Points) < 20 || settings[1].Value != "process" || len(pids) != 1 || w.DataDir() != s.DataDir() {
		t.Errorf("%d points, %v, process %v in %s", len(sample.Points), settings[:2], pids, w.DataDir())
	}
}

// No operation allocates in the client.
func TestAllocations(t *testing.T) {
	d := open(t, config(need.TempDir(t), memtx))
	fill(t, d)
	s := newSession(t, d)
	prepare(t, s, insert(100, model.Fail)).OK(rows(0, 100)...)
	for _, c := range []struct {
		op   model.Op
		args []any
	}{
		{getOp, []any{5}},
		{insert(1, model.Replace), rows(5, 1)},
		{insert(10, model.Replace), rows(5, 10)},
		{model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "data"}}}, []any{"new", 5}},
		{model.Op{Kind: model.Scan, Table: "sale", Index: "customer", Columns: []string{"id"}, Lower: model.Inclusive, Limit: 10}, []any{5}},
		{model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}, Lower: model.Inclusive, Upper: model.Inclusive}, []any{5, 20}},
	} {
		o := prepare(t, s, c.op)
		o.OK(c.args...)
		o.Each = nil
		args := enginetest.Values(c.args)
		ctx := context.Background()
		if n := testing.AllocsPerRun(100, func() { expect.NoError(t, o.Stmt.Exec(ctx, args, &o.Result)) }); n > 0 {
			t.Errorf("%s allocates %v times", c.op.Label(), n)
		}
	}
}

// A server that falls silent while a database is opened is an error.
func TestSilent(t *testing.T) {
	needServer(t)
	enginetest.Silent(t, Engine{}, config("", vinyl), func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) })
}
