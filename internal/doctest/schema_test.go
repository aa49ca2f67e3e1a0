package doctest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/internal/cli/catalog"

	planfile "rumbench/internal/plan"
)

// planSchema returns the schema of plans with all engines and workloads.
func planSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := planfile.Schema(catalog.Plugins{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// values reads a plan as an editor does; ok is whether it is a map.
func values(t *testing.T, text string) (plan map[string]any, ok bool) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &plan); err != nil || plan == nil {
		return nil, false
	}
	return plan, true
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
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// The schema accepts the project's plans, and those of its documents; what is left out
// of an excerpt is filled in.
func TestSchemaAccepts(t *testing.T) {
	s := planSchema(t)
	plans, err := filepath.Glob(filepath.Join(root, "plans", "*.yaml"))
	if err != nil || len(plans) < 10 {
		t.Fatal(plans, err)
	}
	for _, file := range plans {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan, ok := values(t, string(text))
		if err := validate(t, s, plan); !ok || err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range append(documents, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			plan, ok := values(t, block[1])
			if !ok || !hasKey(plan, s.Properties) || plan["tables"] != nil || plan["operations"] != nil || plan["steps"] != nil {
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
				t.Errorf("%s: %v in\n%s", file, err, block[1])
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d plans of documents were checked", checked)
	}
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
		plan, _ := values(t, text)
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
			if e.Check(c) == nil {
				t.Errorf("%s accepts %s", e.Info().Name, subject)
			}
		}
	}
}
