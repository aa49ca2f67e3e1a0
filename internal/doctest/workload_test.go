package doctest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/declared"
	"rumbench/workload/workloadtest"
)

// workloadSchema returns the schema of workload files.
func workloadSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := declared.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workload.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("workload.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWorkloadSchema: the schema of workload files accepts those that come with rumbench.
func TestWorkloadSchema(t *testing.T) {
	s := workloadSchema(t)
	files, err := filepath.Glob(filepath.Join(root, "workload/declared/files/*.yaml"))
	if err != nil || len(files) < 7 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if w, ok := values(t, string(text)); !ok {
			t.Errorf("%s is no map", file)
		} else if err := validate(t, s, w); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, wrong := range []string{
		"name: x", "name: x\ntables: {t: {columns: {a: {value: {unifrom: [1, 2]}}}}}\nsteps: [settle]",
		"name: x\ntables: {t: {columns: {a: {value: 1}}}}\nsteps: [{load: t, raws: 1}]",
		"name: x\ntables: {t: {columns: {a: {value: {text: {size: 5, compres: 0.5}}}}}}\nsteps: [settle]",
		"name: x\ntables: {t: {columns: {a: {value: {uniform: [1, 2, 3]}}}}}\nsteps: [settle]",
	} {
		if w, _ := values(t, wrong); validate(t, s, w) == nil {
			t.Errorf("the schema accepts %s", wrong)
		}
	}
}

// TestOwnWorkload: the workloads that are written in the document run.
func TestOwnWorkload(t *testing.T) {
	var file, queue string
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "docs/own-workload.md"), -1) {
		var keys map[string]any
		if err := yaml.Unmarshal([]byte(block[1]), &keys); err != nil {
			t.Fatal(err)
		}
		switch {
		case keys["workload"] != nil:
			continue
		case keys["tables"] != nil:
			file = block[1]
			if queue == "" {
				queue = file
			}
		case file == "": // operations alone are those of the queue
			file = queue + block[1] + "steps: [{load: queue, rows: rows}, {run: r, seconds: 1, groups: {g: {sequence: [take, report]}}}]\n"
		default:
			file += block[1]
		}
		if !strings.Contains(file, "\nsteps:") {
			continue
		}
		w, err := declared.Read("own-workload.md", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		file = ""
		r, err := workload.NewRun(w, "", map[string]any{"rows": int64(300)})
		if err != nil {
			t.Fatal(err)
		}
		ran++
		if r.(workload.Speaker).Speaks() != nil {
			continue // it has SQL of its own
		}
		db, err := memory.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: r.Schema()})
		if err != nil {
			t.Fatal(err)
		}
		workloadtest.CheckFound(t, "own-workload.md", workloadtest.Lockstep(t, r, db, 1))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if ran != 3 {
		t.Errorf("%d workloads were found, not 3", ran)
	}
}
