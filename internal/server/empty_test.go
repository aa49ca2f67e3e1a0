package server

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/engine"
)

// The sizes of an empty server are measured when its data is created, and known
// for the same data from then on; for other data they are unknown.
func TestEmptyIsMeasuredOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, bytes int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	class := func(path string) engine.FileClass {
		if strings.HasPrefix(path, "log") {
			return engine.RedoFile
		}
		return engine.SystemFile
	}
	write("log.1", 3000)
	write("system", 200)
	old := &Server{Config: Config{Dir: dir}}
	if err := old.NoteEmpty(class); err != nil || old.Empty() != nil {
		t.Errorf("of earlier data: %v, %v", old.Empty(), err)
	}
	want := map[engine.FileClass]int64{engine.RedoFile: 3000, engine.SystemFile: 200}
	made := &Server{Config: Config{Dir: dir}, made: true}
	if err := made.NoteEmpty(class); err != nil || !maps.Equal(made.Empty(), want) {
		t.Errorf("when created: %v, %v; want %v", made.Empty(), err, want)
	}
	write("system", 90_000)
	again := &Server{Config: Config{Dir: dir}}
	if err := again.NoteEmpty(class); err != nil || !maps.Equal(again.Empty(), want) {
		t.Errorf("when restarted: %v, %v; want %v", again.Empty(), err, want)
	}
}
