package declared

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
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

// BenchmarkYCSB is the cost of an operation of YCSB C by file, on an engine that does
// nothing.
func BenchmarkYCSB(b *testing.B) {
	for _, group := range []string{"C", "A", "E"} {
		b.Run(group, func(b *testing.B) { benchmarkStep(b, "ycsb", group) })
	}
}

func benchmarkStep(b *testing.B, file, step string) {
	content, _ := File(file)
	w, err := Read(file, content)
	if err != nil {
		b.Fatal(err)
	}
	r, err := workload.NewRun(w, "", map[string]any{"records": int64(1_000_000)})
	if err != nil {
		b.Fatal(err)
	}
	db, err := null.Engine{}.Open(b.Context(), engine.Config{Durability: model.DurabilityNone, Schema: r.Schema()})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, t := range r.(*run).tables {
		t.reset(1_000_000)
	}
	steps := r.Steps()
	s := &steps[slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == step })]
	stage, err := s.Open(b.Context(), workload.Env{DB: db, Seed: 1, Previous: &workload.Live{}})
	if err != nil {
		b.Fatal(err)
	}
	session, err := db.Session(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	client, err := stage.Client(b.Context(), workload.Seat{Session: session})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var out workload.Outcome
		if err := client.(workload.Readier).Ready(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := client.Do(b.Context(), &out); err != nil {
			b.Fatal(err)
		}
	}
}
