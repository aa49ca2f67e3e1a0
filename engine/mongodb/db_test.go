package mongodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/description"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// A key of several columns is a document, which is ordered column by column.
func TestCompositeKey(t *testing.T) {
	d := open(t, config(t))
	s := session1(t, d)
	op := func(op model.Op) *enginetest.Operation { return enginetest.PrepareOperation(t, s, schema(), op) }
	insert := op(model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "data", "version"}, Rows: 1})
	for _, row := range [][]any{{1, "a", []byte{0}, 1}, {1, "b", nil, 2}, {2, "a", nil, 3}, {2, "aa", nil, nil}, {2, "b", nil, 5}, {3, "", nil, 6}, {-1, "zz", nil, 7}} {
		insert.OK(row...)
	}
	insert.Fails(engine.Duplicate, 2, "aa", nil, 9)
	scan := model.Op{Kind: model.Scan, Table: "link", Columns: []string{"from", "to"}}
	extra := func(set func(o *model.Op)) *enginetest.Operation {
		o := scan
		set(&o)
		return op(o)
	}
	extra(func(o *model.Op) {}).Want(nil, `-1 "zz"`, `1 "a"`, `1 "b"`, `2 "a"`, `2 "aa"`, `2 "b"`, `3 ""`)
	extra(func(o *model.Op) { o.Equal = 1 }).Want([]any{2}, `2 "a"`, `2 "aa"`, `2 "b"`)
	extra(func(o *model.Op) { o.Equal, o.Desc, o.Limit = 1, true, 2 }).Want([]any{2}, `2 "b"`, `2 "aa"`)
	extra(func(o *model.Op) { o.Equal = 2 }).Want([]any{2, "aa"}, `2 "aa"`)
	extra(func(o *model.Op) { o.Equal, o.Lower = 1, model.Exclusive }).Want([]any{2, "a"}, `2 "aa"`, `2 "b"`)
	extra(func(o *model.Op) { o.Equal, o.Upper = 1, model.Inclusive }).Want([]any{2, "aa"}, `2 "a"`, `2 "aa"`)
	extra(func(o *model.Op) { o.Equal, o.Lower, o.Upper = 1, model.Inclusive, model.Exclusive }).Want([]any{2, "a", "b"}, `2 "a"`, `2 "aa"`)
	extra(func(o *model.Op) { o.Lower = model.Exclusive }).Want([]any{1}, `2 "a"`, `2 "aa"`, `2 "b"`, `3 ""`)
	extra(func(o *model.Op) { o.Lower, o.Upper = model.Inclusive, model.Inclusive }).Want([]any{-1, 1}, `-1 "zz"`, `1 "a"`, `1 "b"`)
	extra(func(o *model.Op) { o.Upper = model.Exclusive }).Want([]any{1}, `-1 "zz"`)
	get := op(model.Op{Kind: model.Get, Table: "link", Keys: 2, Columns: []string{"to", "version"}})
	get.Want([]any{2, "aa", 7, "x"}, `"aa" NULL`)
	op(model.Op{Kind: model.Get, Table: "link", Columns: []string{"data"}}).Want([]any{1, "a"}, "x'00'")
	op(model.Op{Kind: model.Update, Table: "link", Set: []model.Assign{{Column: "version", Add: true}}}).Changes(1, 10, 2, "b")
	op(model.Op{Kind: model.Scan, Table: "link", Index: "version", Lower: model.Exclusive, Columns: []string{"version", "from", "to"}}).
		Want([]any{5}, `6 3 ""`, `7 -1 "zz"`, `15 2 "b"`)
	op(model.Op{Kind: model.Scan, Table: "link", Equal: 1, Aggregate: model.Sum, Columns: []string{"version"}}).Gives("18", 2)
	op(model.Op{Kind: model.Scan, Table: "link", Equal: 1, Distinct: true, Columns: []string{"from"}}).Want([]any{2}, "2")
	op(model.Op{Kind: model.Delete, Table: "link", Keys: 2}).Changes(2, 1, "a", 1, "b")
	conflict := op(model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "version"}, Rows: 2, OnConflict: model.Add, AddColumns: []string{"version"}})
	conflict.Changes(2, 2, "b", 100, 9, "new", 1)
	get.Want([]any{2, "b", 9, "new"}, `"b" 115`, `"new" 1`)
}

// A unique index with NULLs is partial: what it lacks is not read from it.
func TestPartial(t *testing.T) {
	l := newLayout(&schema().Tables[1])
	for _, c := range []struct {
		op   model.Op
		want bool
	}{
		{model.Op{Kind: model.Scan, Index: "code"}, false},
		{model.Op{Kind: model.Scan, Index: "code", Upper: model.Inclusive}, true},
		{model.Op{Kind: model.Scan, Index: "code", Equal: 1}, true},
		{model.Op{Kind: model.Scan, Index: "version"}, true},
		{model.Op{Kind: model.Scan}, false},
	} {
		expect.Equal(t, newFilter(l, &c.op).hinted(c.op.Index), c.want, c.op)
	}
	ix, _ := l.Index("code")
	if text := l.indexDefinition(ix).String(); !strings.Contains(text, `"partialFilterExpression":{"code":{"$gte"`) {
		t.Error(text)
	}
}

// The conditions that FerretDB does not know, as MongoDB reads them.
func TestFilters(t *testing.T) {
	l := newLayout(&schema().Tables[1])
	short := newFilter(l, &model.Op{Kind: model.Scan, Where: []model.Condition{{Column: "to", Is: model.ShorterThan}}})
	data := newFilter(l, &model.Op{Kind: model.Scan, Where: []model.Condition{{Column: "data", Is: model.ShorterThan}}, Index: "code", Upper: model.Exclusive})
	for _, c := range []struct {
		filter *filter
		args   []any
		want   string
	}{
		{short, []any{7}, `{"$and": [{"$expr": {"$lt": [{"$strLenBytes": {"$ifNull": ["$_id.to",""]}},{"$numberLong":"7"}]}}]}`},
		{data, []any{5, 7}, `{"code": {"$gte": {"$numberLong":"-9223372036854775808"},"$lt": {"$numberLong":"5"}},` +
			`"$and": [{"data": {"$gte": {"$binary":{"base64":"","subType":"00"}}}},` +
			`{"$expr": {"$lt": [{"$binarySize": {"$ifNull": ["$data",{"$binary":{"base64":"","subType":"00"}}]}},{"$numberLong":"7"}]}}]}`},
	} {
		b, err := newCommand(c.filter.condition()).fill(nil, enginetest.Values(c.args))
		if got := rawText(b); err != nil || got != c.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
		}
	}
}

// An attached server is left as it was found.
func TestAttached(t *testing.T) {
	host := open(t, config(t))
	dsn := "mongodb://" + url.PathEscape(host.Private.Endpoint().Socket) + "/"
	c := engine.Config{Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{DSN: dsn, Schema: "other"}}
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	expect.NoError(t, d.CreateTables(t.Context()))
	if pids, reason := d.(engine.Hosted).Processes(); len(pids) != 1 || pids[0] != host.Private.PID() {
		t.Errorf("%v, %s", pids, reason)
	}
	var exists *engine.ExistsError
	if _, err := (Engine{}).Open(t.Context(), c); !errors.As(err, &exists) || !strings.Contains(exists.Comment, "made by rumbench") {
		t.Errorf("%v", err)
	}
	c.Server.Force = true
	forced, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	expect.NoError(t, forced.CreateTables(t.Context()))
	expect.NoError(t, forced.Close())
	expect.NoError(t, d.Close())
	names, err := host.client.ListDatabaseNames(t.Context(), map[string]any{})
	expect.NoError(t, err)
	expect.True(t, !strings.Contains(strings.Join(names, " "), "other"), "left", names)
	w, err := Engine{}.Watch(t.Context(), dsn)
	expect.NoError(t, err)
	var s engine.Sample
	expect.NoError(t, w.Counters(t.Context(), &s))
	expect.True(t, len(s.Points) != 0, "no counters")
	expect.NoError(t, w.Close())
	c.Server.DSN += "?replicaSet=rs0"
	expect.Refused((Engine{}).Open(t.Context(), c))(t, "", "a server without a replica set was taken for one")
}

// A database of the user's is not touched, also with force; one that is empty but for what
// an earlier run has left is replaced.
func TestForeign(t *testing.T) {
	host := open(t, config(t))
	at := host.client.Database("mine")
	for _, name := range []string{"sale", "other"} {
		_, err := at.Collection(name).InsertOne(t.Context(), map[string]any{"precious": name})
		expect.NoError(t, err)
	}
	dsn := "mongodb://" + url.PathEscape(host.Private.Endpoint().Socket) + "/"
	c := engine.Config{Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{DSN: dsn, Schema: "mine"}}
	if _, err := (Engine{}).Open(t.Context(), c); err == nil || strings.Contains(hint.Of(err), "--force") {
		t.Errorf("%v; hint %q", err, hint.Of(err))
	}
	c.Server.Force = true
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	s := session1(t, d)
	_, err = s.Prepare(t.Context(), &model.Op{Kind: model.Get, Table: "sale", Columns: []string{"product"}})
	for subject, err := range map[string]error{"used": err, "cleared": d.ClearTable(t.Context(), "sale"), "replaced": d.CreateTables(t.Context())} {
		expect.True(t, err != nil && strings.Contains(err.Error(), "sale exists, and rumbench did not make it"),
			"a collection of the user's was", subject, err)
	}
	expect.NoError(t, s.Close())
	expect.NoError(t, d.Close())
	for _, name := range []string{"sale", "other"} {
		if n, err := at.Collection(name).CountDocuments(t.Context(), map[string]any{"precious": name}); n != 1 || err != nil {
			t.Errorf("%s: %d documents, %v", name, n, err)
		}
	}
	expect.NoError(t, at.Drop(t.Context()))

	c.Server.Schema, c.Server.Force = "left", false
	left, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	expect.NoError(t, left.CreateTables(t.Context()))
	if _, err := (Engine{}).Open(t.Context(), c); !strings.Contains(hint.Of(err), "--force") {
		t.Errorf("%v; hint %q", err, hint.Of(err))
	}
	_, err = host.client.Database("left").Collection("theirs").InsertOne(t.Context(), map[string]any{"a": 1})
	expect.NoError(t, err)
	expect.NoError(t, left.Close())
	names, err := host.client.Database("left").ListCollectionNames(t.Context(), map[string]any{})
	expect.NoError(t, err)
	expect.True(t, slices.Contains(names, "theirs") && !slices.Contains(names, "sale"), "left", names)
}

// A collection that a user has created in place of one that a killed run has left is the user's,
// and a run leaves the collections of a concurrent one that has replaced its own. One that the
// killed process could not note any more is ours as long as it is empty.
func TestReplacedCollection(t *testing.T) {
	host := open(t, config(t))
	at := host.client.Database("other")
	dsn := "mongodb://" + url.PathEscape(host.Private.Endpoint().Socket) + "/"
	c := engine.Config{Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{DSN: dsn, Schema: "other"}}
	start := func() engine.DB {
		d, err := Engine{}.Open(t.Context(), c)
		expect.NoError(t, err)
		return d
	}
	count := func() int64 {
		n, err := at.Collection("sale").CountDocuments(t.Context(), map[string]any{})
		expect.NoError(t, err)
		return n
	}
	add := func() {
		_, err := at.Collection("sale").InsertOne(t.Context(), map[string]any{"precious": 1})
		expect.NoError(t, err)
	}
	first := start()
	expect.NoError(t, first.CreateTables(t.Context()))
	c.Server.Force = true
	second := start()
	expect.NoError(t, second.CreateTables(t.Context()))
	add()
	expect.NoError(t, first.Close())
	expect.Equal(t, count(), 1, "the first run has removed the collection of the second")
	expect.NoError(t, at.Collection("sale").Drop(t.Context()))
	add()
	third := start()
	expect.Error(t, third.CreateTables(t.Context()), "rumbench did not make it", "the user's collection")
	expect.NoError(t, third.Close())
	expect.NoError(t, second.Close())
	expect.Equal(t, count(), 1, "the user's collection is gone")
	expect.NoError(t, at.Collection("sale").Drop(t.Context()))
	expect.NoError(t, at.CreateCollection(t.Context(), "sale"))
	_, err := at.Collection(catalogName).UpdateOne(t.Context(), doc(idField, "sale"), doc("$unset", doc("id", "")), options.UpdateOne().SetUpsert(true))
	expect.NoError(t, err)
	for _, empty := range []bool{false, true} {
		if !empty {
			add()
		}
		d := start()
		if err := d.CreateTables(t.Context()); (err == nil) != empty {
			t.Errorf("not noted, empty: %v: %v", empty, err)
		}
		expect.NoError(t, d.Close())
		_, err := at.Collection("sale").DeleteMany(t.Context(), map[string]any{})
		expect.NoError(t, err)
	}
}

// A connection that a proxy ends because it is idle is opened again.
func TestIdleConnection(t *testing.T) {
	host := open(t, config(t))
	port := enginetest.HAProxy(t, host.Private.Endpoint(), "4s")
	c := engine.Config{Durability: model.DurabilityOS, Schema: schema(),
		Server: engine.ServerConfig{DSN: fmt.Sprintf("mongodb://127.0.0.1:%d/", port), Schema: "other"}}
	d, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	expect.NoError(t, d.CreateTables(t.Context()))
	time.Sleep(5 * time.Second) // neither the driver nor the server reports its connections
	expect.NoError(t, d.CreateIndexes(t.Context(), "sale", "market"))
	expect.NoError(t, d.Close())
}

// A database that was made for other tables is refused.
func TestOtherDefinitions(t *testing.T) {
	c := config(t)
	expect.NoError(t, open(t, c).Close())
	for words, set := range map[string]func(*engine.Config){
		"":                                     func(*engine.Config) {},
		"link exists with another definition":  func(c *engine.Config) { c.Schema.Tables[1].Columns[3].Width = 4 },
		"link.code exists with another":        func(c *engine.Config) { c.Schema.Tables[1].Indexes[0].Unique = false },
		"the database holds link.version":      func(c *engine.Config) { c.Schema.Tables[1].Indexes = c.Schema.Tables[1].Indexes[:1] },
		"sale exists with another definition:": func(c *engine.Config) { c.Compression = model.CompressionNone },
	} {
		other := c
		other.Schema = schema()
		set(&other)
		d, err := Engine{}.Open(t.Context(), other)
		if err == nil {
			expect.NoError(t, d.Close())
		}
		expect.True(t, (words != "" || err == nil) && (words == "" || err != nil && strings.Contains(err.Error(), words)), err, words)
	}
}

// A stand-in is marked where its version is shown.
func TestMarked(t *testing.T) {
	d := open(t, config(t))
	if program(t) != ferretDB {
		t.Skip("it is MongoDB")
	}
	settings, err := d.Settings(t.Context())
	expect.NoError(t, err)
	if got := settings[0]; got.Name != engine.ServerVersion || !strings.Contains(got.Value, "FerretDB-protocol-test (not MongoDB") {
		t.Errorf("%+v", got)
	}
}

func TestCheck(t *testing.T) {
	const dsn = "mongodb://me:secret@localhost:1/"
	base := func() engine.Config {
		return engine.Config{Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{DSN: dsn}}
	}
	enginetest.CheckKnobs(t, Engine{}, base, []struct {
		Name string
		Set  func(*engine.Config)
		Knob string // refused; "" if accepted
	}{
		{"dsn", func(c *engine.Config) {}, ""},
		{"replica set", func(c *engine.Config) {
			c.Server.DSN += "?replicaSet=rs0"
			c.Isolation = model.RepeatableRead
		}, ""},
		{"isolation without one", func(c *engine.Config) { c.Isolation = model.RepeatableRead }, "isolation"},
		{"nonsense", func(c *engine.Config) { c.Server.DSN = "mongodb://me:secret@/?w=nonsense=1" }, "dsn"},
		{"several", func(c *engine.Config) { c.Server.DSN = "mongodb://me:secret@a,b/" }, "dsn"},
		{"by name service", func(c *engine.Config) { c.Server.DSN = "mongodb+srv://me:secret@a/" }, "dsn"},
		{"cache", func(c *engine.Config) { c.Cache = 1 << 30 }, "cache"},
		{"replica set option", func(c *engine.Config) { c.Options = map[string]any{"replica_set": true} }, "options.replica_set"},
		{"server's option", func(c *engine.Config) { c.Options = map[string]any{"oplogSize": 1} }, "options.oplogSize"},
		{"process", func(c *engine.Config) { c.Durability = model.DurabilityProcess }, "durability"},
		{"interval", func(c *engine.Config) { c.Durability = model.DurabilityInterval }, ""},
		{"schema", func(c *engine.Config) { c.Server.Schema = "admin" }, "schema"},
		{"zstd", func(c *engine.Config) { c.Compression = model.CompressionZstd }, ""},
	})
	conf := engine.Config{Durability: model.DurabilityOS, Schema: schema(), Server: engine.ServerConfig{Binary: "/no/such/mongod"}}
	if err := (Engine{}).Check(conf); err == nil || !strings.Contains(hint.Of(err), "binary: PATH") {
		t.Errorf("%v; hint %q", err, hint.Of(err))
	}
	replicated := engine.Config{Server: engine.ServerConfig{DSN: dsn + "?replicaSet=rs0"}}
	expect.True(t, slices.Contains(engine.InfoOf(Engine{}, replicated).Capabilities, model.CapTransactions),
		"a replica set has no transactions")
	a, err := Engine{}.ReadDSN(dsn)
	expect.True(t, err == nil && a.String() == "me@tcp(localhost:1)/", a, err)
	conf.Schema.Tables[1].Indexes[0].Columns = []string{"data"}
	expect.Error(t, (Engine{}).Check(conf), "orders by length")
}

// What a mongod counts, which FerretDB does not.
func TestSections(t *testing.T) {
	reply, err := bson.Marshal(doc(
		"mem", doc("resident", 3), "transactions", doc("totalCommitted", 4),
		"wiredTiger", doc("log", doc("log bytes written", int64(7), "log sync time duration (usecs)", 5, "other", 1)),
	))
	expect.NoError(t, err)
	var s engine.Sample
	add(sections, &s, reply, "")
	want := []engine.Point{
		{Name: "mongodb.memory.resident_bytes", Kind: engine.Gauge, Unit: "bytes", Value: 3 << 20},
		{Name: engine.Commits, Labels: `explicit_only="true"`, Kind: engine.Counter, Unit: "count", Value: 4},
		{Name: engine.LogBytes, Kind: engine.Counter, Unit: "bytes", Value: 7},
		{Name: "mongodb.wiredtiger.log.sync_ns", Kind: engine.Counter, Unit: "ns", Value: 5000},
	}
	expect.True(t, slices.Equal(s.Points, want), s.Points)
}

// A server that falls silent while a database is opened is an error.
func TestSilent(t *testing.T) {
	enginetest.Silent(t, Engine{}, config(t), func(port int) string { return fmt.Sprintf("mongodb://127.0.0.1:%d/", port) })
}

// A server that cannot be reached is gone, also if the driver waited for it to come back.
func TestWaitedForIsGone(t *testing.T) {
	for last, want := range map[error]engine.Class{
		syscall.ECONNREFUSED: engine.Gone, io.EOF: engine.Gone, os.ErrDeadlineExceeded: engine.Timeout, nil: engine.Timeout,
	} {
		waited := topology.ServerSelectionError{Wrapped: context.DeadlineExceeded, Desc: description.Topology{Servers: []description.Server{{LastError: last}}}}
		expect.Equal(t, engine.ClassOf(classify("insert", waited)), want, last)
	}
}
