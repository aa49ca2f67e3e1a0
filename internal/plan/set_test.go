package plan

import (
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
)

const setBase = `
workload: ibench
targets:
  - pebble
  - {name: my.lite, engine: sqlite, page: 4KiB}
trials: 2
`

// A set gives the plan that the file would give with the value written in it.
func TestSet(t *testing.T) {
	tests := []struct {
		name string
		sets []string
		same string
	}{
		{"scalar", []string{"trials=3"}, strings.Replace(setBase, "trials: 2", "trials: 3", 1)},
		{"the last counts", []string{"trials=3", "trials=4"}, strings.Replace(setBase, "trials: 2", "trials: 4", 1)},
		{"missing map", []string{"params.rows=10M", "common.cache=64MiB"}, setBase + "params: {rows: 10M}\ncommon: {cache: 64MiB}\n"},
		{"list", []string{"targets=[null, sqlite]"}, strings.Replace(setBase, setBase[strings.Index(setBase, "\n  -"):strings.Index(setBase, "\ntrials")], " [null, sqlite]", 1)},
		{"option by name", []string{"targets.pebble.options.levels=5"}, strings.Replace(setBase, "- pebble", "- {engine: pebble, options: {levels: 5}}", 1)},
		{"name with a dot", []string{"targets.my.lite.page=8KiB"}, strings.Replace(setBase, "4KiB", "8KiB", 1)},
		{"by number", []string{"targets.1.page=8KiB", "targets.0=null"}, strings.NewReplacer("4KiB", "8KiB", "pebble", "null").Replace(setBase)},
		{"renamed, then by the new name", []string{"targets.0.name=p", "targets.p.cache=1MiB"}, strings.Replace(setBase, "- pebble", "- {name: p, engine: pebble, cache: 1MiB}", 1)},
		{"value with =", []string{"name=a=b"}, setBase + "name: a=b\n"},
		{"map", []string{"params={rows: 20, label: 'x: y'}"}, setBase + "params: {rows: 20, label: 'x: y'}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, want := bare(load(t, setBase, tt.sets...)), bare(load(t, tt.same))
			expect.Same(t, want, got)
		})
	}
}

func TestSetOptionWithDots(t *testing.T) {
	p := load(t, "workload: ibench\ntargets: [null]\n", "targets.null.options.storage.engine.cache=5")
	expect.Equal(t, p.Targets[0].Knobs["options.storage.engine.cache"], "5", "knobs", p.Targets[0].Knobs)
}

// What is stored is the plan that is run: without the overrides it gives the same.
func TestSetSource(t *testing.T) {
	p := load(t, setBase, "interval=2s", "targets.my.lite.page=8KiB")
	expect.Equal(t, p.Interval, 2*time.Second, "interval")
	expect.Same(t, bare(p), bare(load(t, string(p.Source))))
}

func TestSetWrong(t *testing.T) {
	tests := []struct{ set, want string }{
		{"trials", "--set trials: an override is key=value\n    --set trials\n          ^\nhint: as in --set trials=3 or --set params.rows=10M"},
		{"=3", "--set =3: an override is key=value\n    --set =3\n          ^\nhint: as in --set trials=3 or --set params.rows=10M"},
		{"params..rows=3", "--set params..rows=3: an override is key=value\n    --set params..rows=3\n          ^\nhint: as in --set trials=3 or --set params.rows=10M"},
		{"trials=", "--set trials=: trials has no value\n    --set trials=\n                 ^\nhint: give it one, or remove the key"},
		{"trails=3", "--set trails=3: unknown key \"trails\" in the plan\n    --set trails=3\n          ^\nhint: did you mean trials?"},
		{"params.rows=many", "--set params.rows=many: rows: \"many\" is not a whole number such as 250000, 250k or 1.5M\n    --set params.rows=many\n                      ^\nhint: int: rows to insert"},
		{"targets=[sqlite, {engine: pebbel}]", "--set targets=[sqlite, {engine: pebbel}]: there is no engine \"pebbel\"\n    --set targets=[sqlite, {engine: pebbel}]\n                                    ^\nhint: did you mean pebble?"},
		{"targets.pebbel.cache=1MiB", "--set targets.pebbel.cache=1MiB: there is no target \"pebbel\"\n    --set targets.pebbel.cache=1MiB\n                  ^\nhint: did you mean pebble?"},
		{"targets.7.cache=1MiB", "--set targets.7.cache=1MiB: there is no target \"7\"\n    --set targets.7.cache=1MiB\n                  ^\nhint: one of pebble, my.lite"},
		{"targets.pebble.compression=lz4", "--set targets.pebble.compression=lz4: pebble: compression: lz4: it has none of that kind\n    --set targets.pebble.compression=lz4\n                                     ^"},
		{"targets.pebble.options.leveles=4", "--set targets.pebble.options.leveles=4: pebble: options.leveles: the engine has no such option\n    --set targets.pebble.options.leveles=4\n                                 ^\nhint: did you mean levels?"},
		{"workload.x=1", "--set workload.x=1: workload is not a map: it has no key \"x\"\n    --set workload.x=1\n          ^\nhint: set it whole, as workload=VALUE"},
		{"params={rows: 100, rows: 200}", "--set params={rows: 100, rows: 200}: the key \"rows\" is given twice\n    --set params={rows: 100, rows: 200}\n                             ^\nhint: remove one"},
		{"name='ö", "--set name='ö: this is not YAML: could not find end character of single-quoted text\n    --set name='ö\n               ^\nhint: check the indentation and brackets, and quote texts that hold ': ' or ' #' or begin with a special character"},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			expect.Same(t, tt.want, loadWrong(t, setBase, tt.set).Error())
		})
	}
}

// Problems of the file come first, in its order, and hide none of the sets'.
func TestSetWrongInWrongFile(t *testing.T) {
	ps := loadWrong(t, "workload: [\n", "trials", "name='")
	expect.True(t, len(ps) == 3 && ps[0].Line == 1 && ps[1].File == "--set trials" && ps[2].File == "--set name='", ps)
	ps = loadWrong(t, "trials: x\nworkload: ibench\norder: y\ntargets: [pebble]\n", "seed=-1", "keep=1")
	var got []string
	for _, p := range ps {
		got = append(got, string([]rune(p.Shown)[p.Column-1:]))
	}
	expect.Same(t, []string{"x", "y", "-1", "1"}, got)
}
