package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Paths in a plan are relative to it, those of an override to the current directory; the stored plan
// names the same files.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"plans", "data", "more"} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("prog", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "workload: ibench # of rows\ntargets: [{engine: pebble, binary: ../prog, data: \"../data\"}, {engine: sqlite, binary: ../prog}]\n"
	p, err := Load("plans/p.yaml", []byte(text), nil, fakes())
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Load("results/x/plan.yaml", p.Source, nil, fakes())
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Source)
	}
	for _, p := range []*Plan{p, stored} {
		for _, target := range p.Targets {
			if got := target.Config.Server.Binary; got != filepath.Join(dir, "prog") {
				t.Errorf("%s: binary %s", target.Name, got)
			}
		}
		if got := p.Targets[0].Data; got != filepath.Join(dir, "data") {
			t.Errorf("data %s", got)
		}
	}
	p, err = Load("plans/p.yaml", []byte(strings.ReplaceAll(text, `"../data"`, "../data")), nil, fakes())
	if err != nil || !strings.Contains(string(p.Source), "# of rows") || !strings.Contains(string(p.Source), "data: "+dir+"/data}, ") {
		t.Errorf("%v: the stored plan does not keep its form:\n%s", err, p.Source)
	}
	p, err = Load("plans/p.yaml", []byte(text), []string{"targets.pebble.data=more"}, fakes())
	if err != nil || p.Targets[0].Data != filepath.Join(dir, "more") {
		t.Errorf("%v, an override: %+v", err, p)
	}
	for _, key := range []string{"binary: prog", "data: more", "dsn_file: prog"} {
		_, err := Load("plans/p.yaml", []byte("workload: ibench\ntargets: [{engine: pebble, "+key+"}]\n"), nil, fakes())
		_, name, _ := strings.Cut(key, " ")
		if want := "hint: paths are relative to the plan's directory: write ../" + name; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	_, err = Load("plans/p.yaml", []byte("workload: ./prog\ntargets: [pebble]\n"), nil, fakes())
	if err == nil || !strings.Contains(err.Error(), "write ../prog") {
		t.Error(err)
	}
}
