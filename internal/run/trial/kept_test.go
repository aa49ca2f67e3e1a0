package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// idled is a session that others can end. It logs what it executes.
type idled struct {
	number int
	ended  bool
	refuse string // the operation that cannot be prepared
	log    *[]string
}

func (s *idled) Ended() bool  { return s.ended }
func (s *idled) Close() error { *s.log = append(*s.log, fmt.Sprint("close ", s.number)); return nil }

func (s *idled) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Table == s.refuse {
		return nil, errors.New("refused")
	}
	return &idledStmt{s, op.Table}, nil
}

type idledStmt struct {
	session *idled
	name    string
}

func (s *idledStmt) Exec(context.Context, []model.Value, *engine.Result) error {
	if s.session.ended {
		return engine.Errorf(engine.Gone, "the connection is lost")
	}
	*s.session.log = append(*s.session.log, fmt.Sprint(s.name, " ", s.session.number))
	return nil
}

// A session that was ended while idle is opened again with its statements, and nothing is
// repeated. Where another session would not be the same, it is an error that names timeouts.
func TestKeptSession(t *testing.T) {
	kinds := map[string]model.Kind{"get": model.Get, "begin": model.Begin, "commit": model.Commit, "own": model.Own}
	for _, c := range []struct {
		name   string
		before string // operations before it is ended
		refuse string
		want   string // the log
		err    string
	}{
		{"between operations", "get", "", "get 1, close 1, get 2", ""},
		{"after a transaction", "begin get commit", "", "begin 1, get 1, commit 1, close 1, get 2", ""},
		{"within a transaction", "begin get", "", "begin 1, get 1", "within a transaction"},
		{"after custom SQL", "own", "", "own 1", "custom SQL"},
		{"a statement is refused now", "get", "get", "get 1, close 2", "refused"},
	} {
		var log []string
		first := &idled{number: 1, log: &log}
		k := &renewableSession{Session: first, open: func(context.Context) (engine.Session, error) {
			return &idled{number: 2, refuse: c.refuse, log: &log}, nil
		}}
		prepared := map[string]engine.Stmt{}
		exec := func(name string) error {
			if prepared[name] == nil {
				var err error
				if prepared[name], err = k.Prepare(t.Context(), &model.Op{Kind: kinds[name], Table: name}); err != nil {
					t.Fatal(err)
				}
			}
			return prepared[name].Exec(t.Context(), nil, &engine.Result{})
		}
		get := func() error { return exec("get") }
		for _, name := range strings.Fields(c.before) {
			if err := errors.Join(k.awake(t.Context()), exec(name)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		first.ended = true
		err := k.awake(t.Context())
		if err == nil {
			err = get()
		}
		if got := strings.Join(log, ", "); got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.want, c.err)
		}
		expect.True(t, engine.ClassOf(err) != engine.Gone || strings.Contains(hint.Of(err), "timeout client"),
			"hint", c.name, hint.Of(err))
	}
}
