package doctest_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/declared"
	"rumbench/workload/workloadtest"
)

// TestWorkloadSchema: the schema of workload files accepts those that come with rumbench.
func TestWorkloadSchema(t *testing.T) {
	s := compiled(t, expect.Value(declared.Schema())(t))
	accepted(t, s, "workload/declared/files/*.yaml", 7)
	for _, wrong := range []string{
		"name: x", "name: x\ntables: {t: {columns: {a: {value: {unifrom: [1, 2]}}}}}\nsteps: [settle]",
		"name: x\ntables: {t: {columns: {a: {value: 1}}}}\nsteps: [{load: t, raws: 1}]",
		"name: x\ntables: {t: {columns: {a: {value: {text: {size: 5, compres: 0.5}}}}}}\nsteps: [settle]",
		"name: x\ntables: {t: {columns: {a: {value: {uniform: [1, 2, 3]}}}}}\nsteps: [settle]",
	} {
		expect.True(t, validate(t, s, values(wrong)) != nil, "the schema accepts", wrong)
	}
}

// TestOwnWorkload: the workloads that are written in the document run.
func TestOwnWorkload(t *testing.T) {
	var file, queue string
	ran := 0
	for _, block := range blocks(read(t, "docs/own-workload.md"), "yaml") {
		var keys map[string]any
		expect.NoError(t, yaml.Unmarshal([]byte(block), &keys))
		switch {
		case keys["workload"] != nil:
			continue
		case keys["tables"] != nil:
			file = block
			if queue == "" {
				queue = file
			}
		case file == "": // operations alone are those of the queue
			file = queue + block + "steps: [{load: queue, rows: rows}, {run: r, seconds: 1, groups: {g: {sequence: [take, report]}}}]\n"
		default:
			file += block
		}
		if !strings.Contains(file, "\nsteps:") {
			continue
		}
		w := expect.Value(declared.Read("own-workload.md", []byte(file)))(t)
		file = ""
		r := expect.Value(workload.NewRun(w, "", map[string]any{"rows": int64(300)}))(t)
		ran++
		if r.(workload.Speaker).Speaks() != nil {
			continue // it has SQL of its own
		}
		db, err := memory.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: r.Schema()})
		expect.NoError(t, err)
		workloadtest.CheckFound(t, "own-workload.md", workloadtest.Lockstep(t, r, db, 1))
		expect.NoError(t, db.Close())
	}
	expect.Equal(t, ran, 3, "workloads were found, not 3")
}
