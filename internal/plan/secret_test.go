package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
)

// A plan that is written anew reads the same.
func TestRender(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yaml")
	expect.Must(t, err == nil && len(files) >= 5, len(files), "plans", err)
	texts := map[string]string{"odd": `
name: "two  words: # \u202e \x07 \\ \""
workload: ibench
params: {rows: 1.5k, label: 007, mode: "null", rates: [], skew: 1e-1, check: true, pause: ~}
common: {}
targets:
  - null
  - name: "1"
    options:
      "a.b": [1, {c: 0x10}, "0x10", -.5, []]
      "": |
        two
        lines
`}
	for _, f := range files {
		b := expect.Value(os.ReadFile(f))(t)
		texts[f] = string(b)
	}
	for name, text := range texts {
		b := &binder{}
		root := b.ReadFile(name, []byte(text))
		again := b.ReadFile(name+" written anew", root.YAML())
		expect.Must(t, len(b.Problems) == 0, b.Problems, root.YAML())
		d := cmp.Diff(root.Plain(false), again.Plain(false))
		expect.True(t, d == "", name, d, root.YAML())
	}
}

// A plan that names no server is stored as it was written, with its overrides; of another the data
// source names are kept apart, and what is stored attaches to the same servers.
func TestSeal(t *testing.T) {
	const plain = "workload: ibench # of old\ntargets: [pebble]\n"
	for set, want := range map[string]string{"": plain, "trials=2": "workload: ibench\ntargets:\n  - pebble\ntrials: 2\n"} {
		p, err := Load("t.yaml", []byte(plain), strings.Fields(set), fakes())
		expect.True(t, err == nil && string(p.Source) == want && len(p.Secrets) == 0, err, p.Source, p.Secrets)
	}

	t.Setenv("RUMBENCH_DSN_1", "another:word@tcp(h)/") // the file comes first
	t.Setenv("PROD", "me:geheim@tcp(prod)/")
	text := "workload: ibench\n# me:geheim@tcp(old)/\ntargets:\n- {name: a, engine: null, dsn: 'me:geheim a@tcp(h)/'}\n- {name: b, engine: null, dsn: '${PROD}'}\n- {name: c, engine: null}\n"
	p, err := Load("t.yaml", []byte(text), []string{"targets.c.dsn=me:geheim c@tcp(h)/", "trials=3"}, fakes())
	expect.NoError(t, err)
	want := "workload: ibench\ntargets:\n  -\n    name: a\n    engine: \"null\"\n    dsn: \"${RUMBENCH_DSN_1}\"\n" +
		"  -\n    name: b\n    engine: \"null\"\n    dsn: \"${PROD}\"\n  -\n    name: c\n    engine: \"null\"\n    dsn: \"${RUMBENCH_DSN_2}\"\ntrials: 3\n"
	expect.Same(t, want, string(p.Source))
	dir := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, SecretFile), p.Secrets, 0o600))
	again := expect.Value(Load(filepath.Join(dir, "plan.yaml"), p.Source, nil, fakes()))(t)
	for i, want := range []string{"me:geheim a@tcp(h)/", "me:geheim@tcp(prod)/", "me:geheim c@tcp(h)/"} {
		if got := again.Targets[i].Config.Server.DSN; got != want || p.Targets[i].Config.Server.DSN != want || again.Targets[i].Knobs["dsn"] != "***" {
			t.Errorf("target %d attaches to %q, shown as %q; want %q", i, got, again.Targets[i].Knobs["dsn"], want)
		}
	}
	expect.Equal(t, again.Trials, 3, "trials")
}

// Plans are shown without their secrets, or not at all.
func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"targets: [pebble] # as it is\n":                                       "targets: [pebble] # as it is\n",
		"# dsn: a:geheim@/\ntargets: [{engine: mysql, dsn: 'a:geheim b@/'}]\n": "targets:\n  -\n    engine: mysql\n    dsn: \"***\"\n",
		"targets: [{dsn: '${PROD}'}, {dsn: 'me@tcp(h:1)/'}]\n":                 "targets:\n  -\n    dsn: \"${PROD}\"\n  -\n    dsn: \"me@tcp(h:1)/\"\n",
		"targets: [{dsn: 'geheim\n":                                            "# It names a data source, cannot be read, and is not shown.\n",
	} {
		expect.Equal(t, string(WithoutSecrets([]byte(text))), want, "becomes", text)
	}
}
