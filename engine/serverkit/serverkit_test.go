package serverkit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
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
		if (err == nil) != (knob == "") || err != nil && (!errors.As(err, &k) || k.Knob != knob) {
			t.Errorf("%s: %v", knob, err)
		}
		if err == nil && (!s.Attached() || s.Server.Schema != engine.DefaultSchema) {
			t.Errorf("%+v", s)
		}
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
	if f.comment == "" {
		return nil
	}
	return each([]model.Value{model.StringValue([]byte(f.comment))})
}

var errExists = errors.New("it exists")

// A schema that is not ours is refused or left; what we made is removed.
func TestPlace(t *testing.T) {
	dialect := &sqlkit.Dialect{
		Quote: `"`, Classify: func(err error) error { return err },
		Literal: func(dst []byte, v model.Value) []byte { return sqlkit.AppendQuoted(dst, v.Buf(), true) },
	}
	for _, c := range []struct {
		name      string
		server    fake
		mustBeNew bool
		exists    bool
		left      string // the last statement of leaving; "": nothing is removed
	}{
		{"new", fake{}, true, false, `DROP SCHEMA "it's"`},
		{"exists", fake{comment: "theirs"}, true, true, ""},
		{"exists, with force", fake{comment: "theirs"}, false, false, `DROP TABLE IF EXISTS "it's"."sale"`},
		{"made meanwhile", fake{fails: errExists}, true, true, ""},
	} {
		p := place{schema: "it's", Schemas: Schemas{
			Find: "FIND {text}", Create: "CREATE {name} {comment}", Drop: "DROP SCHEMA {name}", Hurry: "HURRY",
			Exists: func(err error) bool { return errors.Is(err, errExists) },
		}}
		admin, err := sqlkit.Connect(t.Context(), c.server.Connect, dialect)
		if err != nil {
			t.Fatal(err)
		}
		err = p.take(t.Context(), admin, dialect, c.mustBeNew)
		var exists *engine.ExistsError
		if errors.As(err, &exists) != c.exists || err != nil && !c.exists {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.server.log[0] != "FIND 'it''s'" {
			t.Errorf("%s: it asked %s", c.name, c.server.log[0])
		}
		if err == nil {
			p.made = []string{"sale"}
		}
		c.server.log = nil
		err = p.leave(&c.server, dialect)
		var want []string
		if c.left != "" {
			want = []string{"HURRY", c.left}
		}
		if err != nil || !slices.Equal(c.server.log, want) {
			t.Errorf("%s: left with %q, %v", c.name, c.server.log, err)
		}
	}
}

func TestLevels(t *testing.T) {
	d := &Setup{}
	if err := d.CheckLevel("anything"); err != nil {
		t.Error(err)
	}
	d.Isolation = model.RepeatableRead
	for level, ok := range map[string]bool{"REPEATABLE-READ": true, "repeatable read": true, "serializable": false} {
		if err := d.CheckLevel(level); (err == nil) != ok {
			t.Errorf("%s: %v", level, err)
		}
	}
	d.Durability = model.DurabilityOS
	err := d.CheckDurability([]model.Durability{model.DurabilityNone, model.DurabilityInterval}, []string{"sync = off"})
	if err == nil || !strings.Contains(err.Error(), "keeps level none and interval (sync = off)") {
		t.Error(err)
	}
	if err := d.CheckDurability([]model.Durability{model.DurabilityOS}, nil); err != nil {
		t.Error(err)
	}
	d.Variables = []server.Setting{{Name: "b"}, {Name: "z"}}
	if got := d.ReadBack(map[string]string{"a": "1", "b": "2", "c": "3"}, "a", "b", "none"); len(got) != 2 || got[1].Value != "2" {
		t.Errorf("%v", got)
	}
}
