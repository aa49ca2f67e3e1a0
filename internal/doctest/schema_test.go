package doctest_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"

	planfile "rumbench/internal/plan"
)

// compiled compiles a schema.
func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc := expect.Value(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	c := jsonschema.NewCompiler()
	expect.NoError(t, c.AddResource("schema.json", doc))
	return expect.Value(c.Compile("schema.json"))(t)
}

// planSchema returns the schema of plans with all engines and workloads.
func planSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return compiled(t, expect.Value(planfile.Schema(catalog.Plugins{}))(t))
}

// values reads a plan as an editor does; nil if it is no map.
func values(text string) (plan map[string]any) {
	if yaml.Unmarshal([]byte(text), &plan) != nil {
		return nil
	}
	return plan
}

// accepted checks the files of a pattern.
func accepted(t *testing.T, s *jsonschema.Schema, pattern string, least int) {
	t.Helper()
	files := expect.Value(filepath.Glob(filepath.Join(root, pattern)))(t)
	expect.True(t, len(files) >= least, "only", len(files), "files are", pattern)
	for _, file := range files {
		if plan := values(expect.Read(t, file)); plan == nil {
			t.Errorf("%s is no map", file)
		} else if err := validate(t, s, plan); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// hasKey reports whether a map has a key of plans, but name, which others have too.
func hasKey(m map[string]any, keys map[string]*jsonschema.Schema) bool {
	for key := range m {
		if key != "name" && keys[key] != nil {
			return true
		}
	}
	return false
}

func validate(t *testing.T, s *jsonschema.Schema, plan map[string]any) error {
	t.Helper()
	text := expect.Value(json.Marshal(plan))(t)
	value := expect.Value(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	return s.Validate(value)
}

// The schema accepts the project's plans, and those of its documents; what is left out
// of an excerpt is filled in.
func TestSchemaAccepts(t *testing.T) {
	s := planSchema(t)
	accepted(t, s, "plans/*.yaml", 10)
	documents := expect.Value(filepath.Glob(filepath.Join(root, "docs", "*.md")))(t)
	checked := 0
	for _, file := range append(documents, filepath.Join(root, "README.md")) {
		for _, block := range blocks(expect.Read(t, file), "yaml") {
			plan := values(block)
			if !hasKey(plan, s.Properties) || plan["tables"] != nil || plan["operations"] != nil || plan["steps"] != nil {
				continue // several excerpts, or files of another kind
			}
			checked++
			if plan["workload"] == nil {
				plan["workload"] = "ibench"
			}
			if plan["targets"] == nil {
				plan["targets"] = []any{"pebble"}
			}
			if err := validate(t, s, plan); err != nil {
				t.Errorf("%s: %v in\n%s", file, err, block)
			}
		}
	}
	expect.True(t, checked >= 8, "only", checked, "plans of documents were checked")
}

// What the schema refuses of real engines and workloads, the program refuses.
func TestSchemaRefuses(t *testing.T) {
	s := planSchema(t)
	for text, accepted := range map[string]bool{
		"workload: ibench\ntargets: [{engine: pebble, options: {memtable_size: 64M, bloom_bits: 10}}]":                           true,
		"workload: ibench\ntargets: [{engine: pebble, options: {bloom_bits: ten}}]":                                              false,
		"workload: ibench\ntargets: [{engine: pebble, options: {bloom: 10}}]":                                                    false,
		"workload: ibench\ntargets: [{engine: bbolt, options: {freelist: list}}]":                                                false,
		"workload: ibench\ntargets: [{engine: null, options: {delay: 20us, noise: 0.02}}]":                                       true,
		"workload: ibench\ntargets: [{engine: null, options: {delay: 20}}]":                                                      false,
		"workload: ibench\ntargets: [{engine: mysql, storage: rocksdb, options: {innodb_log_file_size: 1G, skip_unique: true}}]": true,
		"workload: ibench\ntargets: [{engine: mysql, server: oracle}]":                                                           false,
		"workload: ibench\ntargets: [innodb]":                                                                                    false,
		"workload: ibench\npreset: oltp\ntargets: [pebble]":                                                                      false,
		"workload: sysbench\nparams: {rows: 5}\ntargets: [pebble]":                                                               false,
		"workload: sysbench\nparams: {tests: [read_only, write_only], clients: [1, 2]}\ntargets: [sqlite]":                       true,
	} {
		plan := values(text)
		if err := validate(t, s, plan); (err == nil) != accepted {
			t.Errorf("%s: %v", text, err)
		}
		if accepted {
			continue
		}
		if _, err := planfile.Load("p.yaml", []byte(text), nil, catalog.Plugins{}, planfile.Looking(func(*planfile.Target, []string) bool { return false })); err == nil {
			t.Errorf("%s: only the schema refuses it", strings.TrimSpace(text))
		}
	}
}

// The schema takes an engine without servers for one that refuses what only servers have.
func TestSchemaEmbedded(t *testing.T) {
	for _, e := range all.Engines() {
		if len(e.Info().Servers) > 0 {
			continue
		}
		for subject, c := range map[string]engine.Config{
			"storage": {Storage: "x"}, "server": {Server: engine.ServerConfig{Kind: "x"}},
			"dsn": {Server: engine.ServerConfig{DSN: "x"}}, "schema": {Server: engine.ServerConfig{Schema: "x"}}, "an option": {Options: map[string]any{"x": 1}},
		} {
			c.Durability = "process"
			expect.True(t, e.Check(c) != nil, e.Info().Name, "accepts", subject)
		}
	}
}
