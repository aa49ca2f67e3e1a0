package plan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// Paths in a plan are relative to it, those of an override to the current directory; the stored plan
// names the same files.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"plans", "data", "more"} {
		expect.NoError(t, os.Mkdir(name, 0o755))
	}
	expect.NoError(t, os.WriteFile("prog", nil, 0o755))
	const text = "workload: ibench # of rows\ntargets: [{engine: pebble, binary: ../prog, data: \"../data\"}, {engine: sqlite, binary: ../prog}]\n"
	p := expect.Value(Load("plans/p.yaml", []byte(text), nil, fakes()))(t)
	stored, err := Load("results/x/plan.yaml", p.Source, nil, fakes())
	expect.Must(t, err == nil, err, p.Source)
	for _, p := range []*Plan{p, stored} {
		for _, target := range p.Targets {
			expect.Equal(t, target.Config.Server.Binary, filepath.Join(dir, "prog"), target.Name)
		}
		expect.Equal(t, p.Targets[0].Data, filepath.Join(dir, "data"), "data")
	}
	p, err = Load("plans/p.yaml", []byte(strings.ReplaceAll(text, `"../data"`, "../data")), nil, fakes())
	expect.True(t, err == nil && strings.Contains(string(p.Source), "# of rows") && strings.Contains(string(p.Source), "data: "+dir+"/data}, "), err, p.Source)
	p, err = Load("plans/p.yaml", []byte(text), []string{"targets.pebble.data=more"}, fakes())
	expect.True(t, err == nil && p.Targets[0].Data == filepath.Join(dir, "more"), "an override", err, p)
	for _, key := range []string{"binary: prog", "data: more", "dsn_file: prog"} {
		_, err := Load("plans/p.yaml", []byte("workload: ibench\ntargets: [{engine: pebble, "+key+"}]\n"), nil, fakes())
		_, name, _ := strings.Cut(key, " ")
		want := "hint: paths are relative to the plan's directory: write ../" + name
		expect.True(t, err != nil && strings.Contains(err.Error(), want), key, err)
	}
	_, err = Load("plans/p.yaml", []byte("workload: ./prog\ntargets: [pebble]\n"), nil, fakes())
	expect.Error(t, err, "write ../prog")
}
