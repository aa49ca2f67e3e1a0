package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A plan that is written anew reads the same.
func TestRender(t *testing.T) {
	files, err := filepath.Glob("../../plans/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d plans, %v", len(files), err)
	}
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
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = string(b)
	}
	for name, text := range texts {
		b := &binder{}
		root := b.ReadFile(name, []byte(text))
		again := b.ReadFile(name+" written anew", root.YAML())
		if len(b.Problems) > 0 {
			t.Fatalf("%v\n%s", b.Problems, root.YAML())
		}
		if d := cmp.Diff(root.Plain(false), again.Plain(false)); d != "" {
			t.Errorf("%s: %s\n%s", name, d, root.YAML())
		}
	}
}

// A plan that names no server is stored as it was written, with its overrides; of another the data
// source names are kept apart, and what is stored attaches to the same servers.
func TestSeal(t *testing.T) {
	const plain = "workload: ibench # of old\ntargets: [pebble]\n"
	for set, want := range map[string]string{"": plain, "trials=2": "workload: ibench\ntargets:\n  - pebble\ntrials: 2\n"} {
		p, err := Load("t.yaml", []byte(plain), strings.Fields(set), fakes())
		if err != nil || string(p.Source) != want || len(p.Secrets) > 0 {
			t.Errorf("%v: %q, %q", err, p.Source, p.Secrets)
		}
	}

	t.Setenv("RUMBENCH_DSN_1", "another:word@tcp(h)/") // the file comes first
	t.Setenv("PROD", "me:geheim@tcp(prod)/")
	text := "workload: ibench\n# me:geheim@tcp(old)/\ntargets:\n- {name: a, engine: null, dsn: 'me:geheim a@tcp(h)/'}\n- {name: b, engine: null, dsn: '${PROD}'}\n- {name: c, engine: null}\n"
	p, err := Load("t.yaml", []byte(text), []string{"targets.c.dsn=me:geheim c@tcp(h)/", "trials=3"}, fakes())
	if err != nil {
		t.Fatal(err)
	}
	want := "workload: ibench\ntargets:\n  -\n    name: a\n    engine: \"null\"\n    dsn: \"${RUMBENCH_DSN_1}\"\n" +
		"  -\n    name: b\n    engine: \"null\"\n    dsn: \"${PROD}\"\n  -\n    name: c\n    engine: \"null\"\n    dsn: \"${RUMBENCH_DSN_2}\"\ntrials: 3\n"
	if d := cmp.Diff(want, string(p.Source)); d != "" {
		t.Error(d)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, SecretFile), p.Secrets, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Load(filepath.Join(dir, "plan.yaml"), p.Source, nil, fakes())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"me:geheim a@tcp(h)/", "me:geheim@tcp(prod)/", "me:geheim c@tcp(h)/"} {
		if got := again.Targets[i].Config.Server.DSN; got != want || p.Targets[i].Config.Server.DSN != want || again.Targets[i].Knobs["dsn"] != "***" {
			t.Errorf("target %d attaches to %q, shown as %q; want %q", i, got, again.Targets[i].Knobs["dsn"], want)
		}
	}
	if again.Trials != 3 {
		t.Errorf("%d trials", again.Trials)
	}
}

// Plans are shown without their secrets, or not at all.
func TestWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"targets: [pebble] # as it is\n":                                       "targets: [pebble] # as it is\n",
		"# dsn: a:geheim@/\ntargets: [{engine: mysql, dsn: 'a:geheim b@/'}]\n": "targets:\n  -\n    engine: mysql\n    dsn: \"***\"\n",
		"targets: [{dsn: '${PROD}'}, {dsn: 'me@tcp(h:1)/'}]\n":                 "targets:\n  -\n    dsn: \"${PROD}\"\n  -\n    dsn: \"me@tcp(h:1)/\"\n",
		"targets: [{dsn: 'geheim\n":                                            "# It names a data source, cannot be read, and is not shown.\n",
	} {
		if got := string(WithoutSecrets([]byte(text))); got != want {
			t.Errorf("%s becomes\n%s, want\n%s", text, got, want)
		}
	}
}
