package serverkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

var rules = &Rules{
	Kinds: []string{server.Postgres}, Options: []engine.Option{{Name: "own"}}, Plain: strings.ToLower,
	Fixed: []string{"datadir"}, Opening: []string{"bind", "cluster_"}, On: "1", Off: "0",
}

// A server that is attached to has no knobs but rumbench's own.
func TestAttachedHasNoKnobs(t *testing.T) {
	yes := true
	for knob, c := range map[string]engine.Config{
		"":               {Options: map[string]any{"own": true}},
		"server":         {Server: engine.ServerConfig{Kind: "postgres"}},
		"binary":         {Server: engine.ServerConfig{Binary: "/x"}},
		"cache":          {Cache: 1},
		"page":           {Page: 1},
		"direct_io":      {DirectIO: &yes},
		"protocol":       {Protocol: "morse"},
		"options.theirs": {Options: map[string]any{"theirs": 1}},
	} {
		c.Server.DSN = "somewhere"
		s, err := rules.Check(t.Context(), c)
		var k *engine.KnobError
		expect.True(t, (err == nil) == (knob == "") && (err == nil || errors.As(err, &k) && k.Knob == knob), knob, err)
		expect.True(t, err != nil || s.Attached() && s.Server.Schema == engine.DefaultSchema, s)
	}
}

// The variables of a private server are checked and written as it reads them.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		option string
		value  any
		force  bool
		want   string // "" if refused
	}{
		{"Speed", 9, false, "speed=9"},
		{"speed", true, false, "speed=1"},
		{"speed", false, false, "speed=0"},
		{"speed", "1G", false, "speed=1G"},
		{"speed", []any{1}, false, ""},
		{"sped", 9, false, ""},
		{"datadir", "/x", true, ""},
		{"bind", "*", false, ""},
		{"bind", "*", true, "bind=*"},
		{"cluster_name", "x", false, ""},
	} {
		s := &Setup{rules: rules, known: map[string]bool{"speed": true, "datadir": true, "bind": true, "cluster_name": true}}
		s.Options, s.Server.Force = map[string]any{c.option: c.value}, c.force
		v, err := s.variable(t.Context(), c.option)
		var k *engine.KnobError
		switch {
		case (err != nil) != (c.want == ""), err == nil && v.Name+"="+v.Value != c.want:
			t.Errorf("%s: %v: %v, %v", c.option, c.value, v, err)
		case err != nil && (!errors.As(err, &k) || k.Knob != "options."+c.option):
			t.Errorf("%s: %v", c.option, err)
		}
	}
}

// fake is a server that has one schema, or none.
type fake struct {
	comment string // of the schema; "": there is none
	fails   error  // of making it
	tables  [][2]string
	log     []string
}

func (f *fake) Connect(context.Context) (sqlkit.Conn, error) { return f, nil }
func (f *fake) Close() error                                 { return nil }

func (f *fake) Prepare(context.Context, string) (sqlkit.Stmt, error) { panic("unused") }

func (f *fake) ExecText(_ context.Context, text string) (rows, id int64, err error) {
	f.log = append(f.log, text)
	if strings.HasPrefix(text, "CREATE") {
		err = f.fails
	}
	return 0, 0, err
}

func (f *fake) QueryText(_ context.Context, text string, _ []model.Type, each func([]model.Value) error) error {
	f.log = append(f.log, text)
	value := func(text string) model.Value { return model.StringValue([]byte(text)) }
	if strings.HasPrefix(text, "TABLES") {
		for _, row := range f.tables {
			if err := each([]model.Value{value(row[0]), value(row[1])}); err != nil {
				return err
			}
		}
		return nil
	}
	if f.comment == "" {
		return nil
	}
	return each([]model.Value{value(f.comment)})
}

var errExists = errors.New("it exists")

var fakeDialect = &sqlkit.Dialect{
	Quote: `"`, Classify: func(err error) error { return err },
	Literal: func(dst []byte, v model.Value) []byte { return sqlkit.AppendQuoted(dst, v.Buf(), true) },
}

// A schema that is not ours is refused or left; what we made is removed, and nothing else.
func TestPlace(t *testing.T) {
	sale, theirs := [2]string{"sale", Maker()}, [2]string{"precious", "of made by rumbench"}
	older := [2]string{"older", "made by rumbench, long ago"}
	const dropTable, dropSchema = `DROP TABLE IF EXISTS "it's"."sale"`, `DROP SCHEMA "it's"`
	for _, c := range []struct {
		name      string
		server    fake
		mustBeNew bool
		exists    bool
		ours      bool        // force is advised
		later     [][2]string // the tables when we leave
		left      []string    // the statements that remove something
	}{
		{"new", fake{}, true, false, false, [][2]string{sale}, []string{dropTable, dropSchema}},
		{"new, and used by others", fake{}, true, false, false, [][2]string{sale, theirs}, []string{dropTable}},
		{"nothing was made in it", fake{}, true, false, false, nil, []string{dropSchema}},
		{"a table of ours was replaced by one of theirs", fake{}, true, false, false, [][2]string{{"sale", ""}}, nil},
		{"theirs was made like ours", fake{}, true, false, false, [][2]string{{"sale", MakerOf("other")}}, nil},
		{"the table says whose it is", fake{}, true, false, false, [][2]string{{"sale", MakerOf("SALE")}}, []string{dropTable, dropSchema}},
		{"a table of ours was replaced by a concurrent run", fake{}, true, false, false, [][2]string{{"sale", "made by rumbench, process 1"}}, nil},
		{"exists", fake{comment: "theirs", tables: [][2]string{older, theirs}}, true, true, false, nil, nil},
		{"exists, of an earlier run", fake{comment: "made by rumbench", tables: [][2]string{older}}, true, true, true, nil, nil},
		{"exists, with force", fake{comment: "theirs"}, false, false, false, [][2]string{sale, theirs, older}, []string{dropTable}},
		{"left by an earlier run, with force", fake{comment: "made by rumbench, long ago"}, false, false, false, [][2]string{sale}, []string{dropTable, dropSchema}},
		{"made meanwhile", fake{fails: errExists}, true, true, false, nil, nil},
	} {
		p := place{schema: "it's", Schemas: Schemas{
			Find: "FIND {text}", Tables: "TABLES {text}", Create: "CREATE {name} {comment}", Drop: "DROP SCHEMA {name}",
			Hurry: "HURRY", Exists: func(err error) bool { return errors.Is(err, errExists) },
		}}
		admin, err := sqlkit.Connect(t.Context(), c.server.Connect, fakeDialect)
		expect.NoError(t, err)
		err = p.take(t.Context(), admin, fakeDialect, c.mustBeNew)
		var exists *engine.ExistsError
		expect.True(t, errors.As(err, &exists) == c.exists && (err == nil || c.exists), c.name, err)
		expect.True(t, !c.exists || exists.Ours == c.ours && strings.Contains(hint.Of(err), "--force") == c.ours,
			c.name, err, "hint", hint.Of(err))
		expect.True(t, c.server.log[0] == "FIND 'it''s'", c.name, c.server.log[0])
		if err == nil {
			p.made = []string{"sale"}
		}
		c.server.log, c.server.tables = nil, c.later
		err = p.leave(c.server.Connect, fakeDialect)
		removed := slices.DeleteFunc(c.server.log, func(text string) bool { return !strings.HasPrefix(text, "DROP") })
		expect.True(t, err == nil && slices.Equal(removed, c.left), c.name, "left with", removed, err)
	}
}

// pooler lends sessions of the server: to each connection one, or to each transaction.
type pooler struct {
	transactions bool
	splits       bool // reads outside of transactions are another server's
	size         int  // of its pool
	free         []int
}

func (p *pooler) Connect(context.Context) (sqlkit.Conn, error) { return &lent{pooler: p}, nil }

// take lends a session: the one that was used last, or a new one.
func (p *pooler) take() (session int, err error) {
	if n := len(p.free); n > 0 {
		session, p.free = p.free[n-1], p.free[:n-1]
		return session, nil
	}
	if p.size--; p.size < 0 {
		return 0, errors.New("the pool is exhausted")
	}
	return 100 + p.size, nil
}

type lent struct {
	*pooler
	session int // 0: none
	inside  bool
}

func (l *lent) Close() error                                         { return nil }
func (l *lent) Prepare(context.Context, string) (sqlkit.Stmt, error) { panic("unused") }

func (l *lent) ExecText(_ context.Context, text string) (rows, id int64, err error) {
	if l.session == 0 {
		if l.session, err = l.take(); err != nil {
			return 0, 0, err
		}
	}
	l.inside = text == "BEGIN" || l.inside && text != "ROLLBACK"
	if l.transactions && !l.inside {
		l.free = append(l.free, l.session)
		l.session = 0
	}
	return 0, 0, nil
}

func (l *lent) QueryText(ctx context.Context, _ string, _ []model.Type, each func([]model.Value) error) error {
	session := l.session
	if session == 0 && len(l.free) > 0 {
		session = l.free[len(l.free)-1]
	}
	if session == 0 {
		session = 99 + l.size
	}
	if _, _, err := l.ExecText(ctx, "SELECT"); err != nil {
		return err
	}
	if l.splits && !l.inside {
		session += 1000
	}
	return each([]model.Value{model.StringValue(fmt.Append(nil, session))})
}

// A pooler that lends sessions for a transaction, or splits reads from writes, is refused, before anything is set in one.
func TestPooling(t *testing.T) {
	for _, c := range []struct {
		pooler pooler
		ok     bool
	}{
		{pooler{size: 9}, true}, {pooler{size: 2}, true}, {pooler{transactions: true, size: 9}, false},
		{pooler{transactions: true, size: 1}, false}, {pooler{splits: true, size: 9}, false},
	} {
		d := New(&Setup{}, &Traits{Serving: "PID", Dialect: fakeDialect})
		d.Connector = &c.pooler
		first, err := meet(t.Context(), d.Connector.Connect, fakeDialect)
		expect.NoError(t, err)
		err = d.checkPooling(t.Context(), first)
		expect.True(t, (err == nil) == c.ok && (err == nil || strings.Contains(hint.Of(err), "pool_mode = session")),
			c.pooler, err)
	}
}

// Every connection is set up, and what its session really is is read back.
func TestSessionIsReadBack(t *testing.T) {
	for schema, ok := range map[string]bool{"own": true, "public": false} {
		d := New(&Setup{Config: engine.Config{Server: engine.ServerConfig{Schema: "own"}}}, &Traits{Dialect: fakeDialect})
		f := &fake{comment: schema}
		d.Connector = f
		d.client = Client{Dialect: fakeDialect, Setup: []string{"SET a", "SET b"}, Check: func(ctx context.Context, c *sqlkit.Admin) error {
			got, err := c.Value(ctx, "SCHEMA")
			return errors.Join(err, d.setup.CheckSession(got, false))
		}}
		_, err := d.connect(t.Context())
		expect.True(t, (err == nil) == ok && (err == nil || strings.Contains(err.Error(), `in schema "public" and not in "own"`) && strings.Contains(hint.Of(err), "pooler")), schema, err)
		expect.True(t, slices.Equal(f.log, []string{"SET a", "SET b", "SCHEMA"}), "it asked", f.log)
	}
	if err := (&Setup{}).CheckSession("", true); err == nil || !strings.Contains(hint.Of(err), "primary") {
		t.Error(err)
	}
}

// A server that accepts and is silent is given up, unless the user gives up before.
func TestSilent(t *testing.T) {
	silent := func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := Hello(t.Context(), silent)
		expect.True(t, engine.ClassOf(err) == engine.Gone && strings.Contains(err.Error(), "did not answer within 10s") && strings.Contains(hint.Of(err), "PgBouncer"), err, hint.Of(err))
		expect.Equal(t, time.Since(start), 10*time.Second, "it took")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Hello(ended, silent); !errors.Is(err, context.Canceled) || engine.ClassOf(err) == engine.Gone {
			t.Error(err)
		}
	})
}

func TestLevels(t *testing.T) {
	d := &Setup{}
	expect.NoError(t, d.CheckLevel("anything"))
	d.Isolation = model.RepeatableRead
	for level, ok := range map[string]bool{"REPEATABLE-READ": true, "repeatable read": true, "serializable": false} {
		if err := d.CheckLevel(level); (err == nil) != ok {
			t.Errorf("%s: %v", level, err)
		}
	}
	d.Durability = model.DurabilityOS
	err := d.CheckDurability([]model.Durability{model.DurabilityNone, model.DurabilityInterval}, []string{"sync = off"})
	expect.True(t, err != nil && strings.Contains(err.Error(), "keeps level none and interval (sync = off)"), err)
	expect.NoError(t, d.CheckDurability([]model.Durability{model.DurabilityOS}, nil))
	d.Variables = []server.Setting{{Name: "b"}, {Name: "z"}}
	if got := d.ReadBack(map[string]string{"a": "1", "b": "2", "c": "3"}, "a", "b", "none"); len(got) != 2 || got[1].Value != "2" {
		t.Errorf("%v", got)
	}
}
