package watch

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

const secret = "me:password@host"

// fakeEngines are an engine that can be watched and one that cannot.
type fakeEngines struct{ *server }

func (f fakeEngines) Engine(name string) (engine.Engine, bool) {
	switch name {
	case "fake", "postgres":
		return struct {
			engine.Engine
			*server
		}{server: f.server}, true
	case "embedded":
		return struct{ engine.Engine }{}, true
	}
	return nil, false
}

func (f fakeEngines) EngineNames() []string { return []string{"embedded", "fake", "postgres"} }

func TestParseAttachment(t *testing.T) {
	for _, test := range []struct{ text, name, dsn, wrong string }{
		{"fake:" + secret, "fake", secret, ""},
		{"prod=fake:" + secret, "prod", secret, ""},
		{"a.b-c_1=fake:x=y:z", "a.b-c_1", "x=y:z", ""},
		{"fake:user=me host=/tmp", "fake", "user=me host=/tmp", ""},
		{"postgres://me@host/db?a=b", "postgres", "postgres://me@host/db?a=b", ""},
		{"p=postgresql://me@host", "p", "postgresql://me@host", ""},
		{"p=postgres:postgres://me@host", "p", "postgres://me@host", ""},
		{"", "", "", "no engine, or no DSN"},
		{"fake", "", "", "no engine, or no DSN"},
		{"fake:", "", "", "no engine, or no DSN"},
		{"a=:x", "", "", "no engine, or no DSN"},
		{"=fake:x", "", "", `"" is not a name`},
		{"a b=fake:x", "", "", `"a b" is not a name`},
		{"other:" + secret, "", "", `no engine "other"`},
		{"embedded:" + secret, "", "", "embedded is no server"},
	} {
		list, err := ParseAttachments([]string{test.text}, fakeEngines{})
		if test.wrong != "" {
			expect.True(t, err != nil && strings.Contains(err.Error(), test.wrong) && hint.Of(err) != "" && !strings.Contains(err.Error()+hint.Of(err), secret), test.text, err)
			continue
		}
		expect.True(t, err == nil && list[0].Name == test.name && list[0].dsn == test.dsn, test.text, list, err)
	}
	expect.Refused(ParseAttachments([]string{"fake:a", "fake:b"}, fakeEngines{}))(t, "two servers are called fake")
	expect.Equal(t, watchable(fakeEngines{}), "engines that can be attached to: fake, postgres")
}

// TestAttachedServers: two servers are sampled side by side, with the
// processes of each and the device under their data, once.
func TestAttachedServers(t *testing.T) { synctest.Test(t, attachedServers) }

func attachedServers(t *testing.T) {
	s := newServer()
	s.dsn, s.dir, s.pids = secret, t.TempDir(), []int{os.Getpid()}
	targets := expect.Value(ParseAttachments([]string{"one=fake:" + secret, "two=fake:" + secret}, fakeEngines{s}))(t)
	var b bytes.Buffer
	note := func(text string) { b.WriteString(text + "\n") }
	expect.NoError(t, AttachAll(t.Context(), targets, note))
	defer CloseAll(targets)
	c := Config{Interval: 50 * time.Millisecond, Count: 2, Targets: targets, Expressions: Builtins()}
	c.Collectors = expect.Value((&Machine{}).Collectors(targets, note))(t)
	notes := b.String()
	b.Reset()
	expect.NoError(t, Run(t.Context(), c, CSV(&b, nil)))
	expect.All(t, b.String(),
		`one/engine,fake.statements,"target=""one""",rate,count/s,`,
		`two/engine,fake.database.commits,"database=""a"",target=""two""",rate,count/s,`,
		`one/process,process.cpu_ns,"target=""one""",rate,ns/s,`,
		`two/process,process.threads,"target=""two""",gauge,count,`,
		`derived,engine.cache_hit_percent,"target=""one""",derived,percent,90,`)
	rows := expect.Value(csv.NewReader(strings.NewReader(b.String())).ReadAll())(t)
	times := make(map[string]int)
	for _, r := range rows {
		times[r[3]+"{"+r[4]+"}"]++
	}
	for key, n := range times {
		expect.True(t, key == "{}" || n <= 2, key, "was sampled", n, "times in 2 intervals")
	}
	expect.True(t, !strings.Contains(b.String()+notes, "password"), "the password is shown")
}

func TestAttachFails(t *testing.T) {
	list := expect.Value(ParseAttachments([]string{"fake:wrong"}, fakeEngines{newServer()}))(t)
	if err := AttachAll(t.Context(), list, func(string) {}); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "attach fake: ") {
		t.Error(err)
	}
}
