package declared

import (
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

func readTest(t *testing.T, file string, content []byte) *Workload {
	t.Helper()
	w, err := Read(file, content)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newRun(t *testing.T, w workload.Workload, preset string, given map[string]any) workload.Run {
	t.Helper()
	r, err := workload.NewRun(w, preset, given)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openMemory(t *testing.T, r workload.Run) engine.DB {
	t.Helper()
	db, err := memory.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: r.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// Every file that comes with rumbench runs twice alike, and with concurrent clients.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("files/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := readTest(t, file, content)
		for _, preset := range w.Info().Presets {
			t.Run(w.Info().Name+"/"+preset.Name, func(t *testing.T) {
				small := map[string]any{}
				for _, name := range []string{"rows", "records", "objects"} {
					if w.Info().Param(name) != nil {
						small[name] = int64(500)
					}
				}
				once := func() []workloadtest.State {
					r := newRun(t, w, preset.Name, small)
					return workloadtest.Lockstep(t, r, openMemory(t, r), 1)
				}
				states := once()
				workloadtest.CheckFound(t, file, states)
				workloadtest.Compare(t, file, states, once())
				r := newRun(t, w, preset.Name, small)
				workloadtest.Concurrent(t, r, openMemory(t, r), 1)
			})
		}
	}
}
