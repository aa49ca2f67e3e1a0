package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"rumbench/internal/expect"
	"rumbench/internal/text/strictyaml"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// onlyLoad are the wrong plans of testdata/wrong that no schema can refuse, by reason.
var onlyLoad = map[string][]string{
	"it is no YAML, or YAML that plans do not use": {
		"anchors", "colon-in-text", "duplicate-key", "latin-1", "odd-key", "open-bracket", "open-quote", "published-alone", "tab", "tag", "two-documents",
	},
	"what an engine can do": {"engine-refuses", "missing-capability", "capability-spared"},
	"values that do not go together": {
		"duet-one-target", "duet-three-targets", "find-duet", "find-short", "param-combination", "preset-combination", "profile-duet", "profile-inside", "rate-nowhere", "rest-twice",
		"levels-alike", "levels-small", "same-name", "start-data", "start-data-none", "start-last", "stop-min-trials", "stop-one-trial", "stop-sequential", "workload-refuses",
	},
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text := expect.Value(Schema(fakes()))(t)
	doc := expect.Value(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	c := jsonschema.NewCompiler()
	expect.NoError(t, c.AddResource("plan.schema.json", doc))
	s := expect.Value(c.Compile("plan.schema.json"))(t)
	return s
}

// tree returns a plan as an editor reads it, and whether it is YAML that plans use.
func tree(src string) (any, bool) {
	var d strictyaml.Document
	root := d.ReadFile("", []byte(src))
	switch {
	case root == nil: // what is no map is null here: a schema refuses either
		text := d.Problems.Error()
		return nil, strings.Contains(text, "map of keys") || strings.Contains(text, "is empty")
	case len(d.Problems) > 0:
		return nil, false
	}
	return root.Plain(false), true
}

// The schema refuses the wrong plans, but those that only the program can refuse.
func TestSchemaRefuses(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	expect.Must(t, err == nil && len(files) != 0, files, err)
	var excused []string
	for _, list := range onlyLoad {
		excused = append(excused, list...)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		src := expect.Value(os.ReadFile(file))(t)
		plan, ok := tree(string(src))
		refused := ok && s.Validate(plan) != nil
		if at := slices.Index(excused, name); at >= 0 {
			excused = slices.Delete(excused, at, at+1)
			expect.True(t, !refused, "is refused after all", name, s.Validate(plan))
			continue
		}
		expect.True(t, refused, "is accepted", name)
	}
	expect.True(t, len(excused) == 0, "there are no wrong plans", excused)
}

// What the schema refuses, the program refuses too.
func TestSchemaLines(t *testing.T) {
	s := compiled(t)
	check := func(text string, accepted bool) {
		t.Helper()
		plan, ok := tree(text)
		if err := s.Validate(plan); !ok || (err == nil) != accepted {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Load("p.yaml", []byte(text), nil, fakes()); err == nil && !accepted {
			t.Errorf("%s: only the schema refuses it", text)
		}
	}
	for line, accepted := range map[string]bool{
		"name: 2016": true, "name: a b": true, "name: ''": false, "name: [a]": false, "trails: 3": false,
		"trials: 3": true, "trials: 1_000": true, "trials: 1001": false, "trials: '3'": false, "trials: 2.5": false,
		"seed: 18446744073709551615": true, "seed: -1": false, "until: steady": true, "until: steady 8x": true, "until: steady 1x": false, "until: 3": false, "seed: fixed": true, "seed: fixed 7": true, "seed: fixed x": false, "seed: fix": false, "interval: 500ms": true, "interval: 1": true, "interval: 0.01": false, "interval: 5 parsecs": false,
		"cool_down: 1h30m": true, "cool_down: 5 Min": true, "between: {trim: true, rest: 1m}": true, "between: {pause: 1s}": false, "keep: yes": false, "keep: true": true,
		"errors_allowed: 0.1%": true, "errors_allowed: 100%": true, "errors_allowed: 101%": false, "errors_allowed: 2": false,
		"order: duet": true, "order: duett": false, "common:": true, "params:": true, "preset:": false, "preset: quick": true, "preset: quik": false,
		"common: {cache: 64 mb, page: 4096, durability: os}": true, "common: {cache: 1.5GiB}": true, "common: {cache: 64Q}": false, "common: {cache: 0}": false,
		"common: {durability: full}": false, "common: {cpus: 2, memory: 1GiB}": true, "common: {cpus: [0, 1]}": true, "common: {cpus: 0}": false, "common: {memory: 1Q}": false, "common: {name: x}": false, "common: {compression: none, direct_io: false, isolation: serializable, protocol: text}": true,
		"params: {rows: 2M, batch: 1.5k, rates: [1k, 5], label: 007, pause: 90, check: false, skew: 1e-1}": true, "params: {rates: 5, pause: 2min}": true,
		"params: {row: 5}": false, "params: {batch: 20000}": false, "params: {rows: 0}": false, "params: {rows: many}": false, "params: {mode: sorted}": false, "params: {mode: append}": true,
		"params: {skew: -1}": false, "params: {check: 1}": false, "params: {label:}": false,
		"stop: {precision: 2%}": true, "stop: {budget: 2h}": true, "stop: {}": false, "stop: {min_trials: 4}": false, "stop: {budget: 2h, min_trials: 4}": false, "stop: {precision: 0.0001}": false,
		"restart: query": true, "restart: [query, again]": true, "restart: {before: again, caches: kept}": true, "restart: {caches: kept}": false, "restart: {before: query, caches: cold}": false, "restart: []": false,
		"rate: 2000": true, "rate: 2k/s": true, "rate: [500, 1k]": true, "rate: []": false, "rate: -5": false, "rate: 0": false, "rate: fast": false,
		"rate: {at: 5, arrivals: even, queue: 7, lead_in: 2s}": true, "rate: {arrivals: even}": false, "rate: {at: 5, ramp: [1, 2]}": false, "rate: {ramp: [1, 2, 3]}": false, "rate: {steps: [1, 2, 3]}": true,
		"find: p99 < 10ms": true, "find: P99.9_ms<10": true, "find: max < 1 s": true, "find: p98 < 1s": false, "find: fast": false, "find: {promise: p95 < 500us, from: 100, to: 5k, precision: 2%, seconds: 30}": true, "find: {from: 5}": false,
		"question: {steps: l.i1, metrics: [throughput, write_kb], worse_by: 5%}": true, "question: {metrics: latency}": false, "question: {worse_by: 0}": false, "question: {worse_by: 1}": false, "question: {}": false,
		"profile: extra": true, "profile: inside": true, "profile: off": true, "profile: on": false, "profile: true": false, "profile: {cpu: 49}": true, "profile: {mode: inside, cpu: 9}": false, "profile: {hertz: 99}": false, "profile: {files: false, threads: 0}": true, "profile: {files: 5}": false, "profile: {threads: 51}": false, "profile: {}": true,
		"published: []": true, "published: [{source: a, hardware: b, rows: [{name: c, figures: {db_bytes: 18.3GiB, rows_per_s: 5}}]}]": true, "published: [{source: a, hardware: b, rows: []}]": false,
		"published: [{source: a, hardware: b, rows: [{name: c, figures: {rowz: 5}}]}]": false, "published: [{source: a, hardware: b, rows: [{name: c, figures: {rows_per_s: -5}}]}]": false,
	} {
		targets := "[pebble, null]"
		if strings.HasPrefix(line, "restart") { // which null cannot
			targets = "[pebble]"
		}
		check("workload: ibench\ntargets: "+targets+"\n"+line+"\n", accepted)
	}
	for targets, accepted := range map[string]bool{
		"[pebble]": true, "[null]": true, "[{engine: null}]": true, "[]": false, "pebble": false, "[peble]": false, "[{engine: peble}]": false, "[{name: a}]": false, "[[pebble]]": false,
		"[{engine: pebble, options: {mem_table_size: 64M, levels: 5}}]": true, "[{engine: sqlite, options: {levels: 5}}]": false,
		"[{engine: pebble, options:}]": true, "[{engine: pebble, name: a/b}]": false, "[{engine: pebble, name: a-b, data: x, cache: 5MB}]": true,
		"[{engine: pebble, cash: 5}]": false,
	} {
		check("workload: ibench\ntargets: "+targets+"\n", accepted)
	}
}
