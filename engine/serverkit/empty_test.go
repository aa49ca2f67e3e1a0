package serverkit

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// The sizes of an empty server are measured when its data is created, and known
// for the same data from then on; for other data they are unknown.
func TestEmptyIsMeasuredOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, bytes int) {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o644))
	}
	class := func(path string) engine.FileClass {
		if strings.HasPrefix(path, "log") {
			return engine.RedoFile
		}
		return engine.SystemFile
	}
	write("log.1", 3000)
	write("system", 200)
	if got, err := noteEmpty(dir, false, class); err != nil || got != nil {
		t.Errorf("of earlier data: %v, %v", got, err)
	}
	want := map[engine.FileClass]int64{engine.RedoFile: 3000, engine.SystemFile: 200}
	if got, err := noteEmpty(dir, true, class); err != nil || !maps.Equal(got, want) {
		t.Errorf("when created: %v, %v; want %v", got, err, want)
	}
	write("system", 90_000)
	if got, err := noteEmpty(dir, false, class); err != nil || !maps.Equal(got, want) {
		t.Errorf("when restarted: %v, %v; want %v", got, err, want)
	}
}
