package expect

import (
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
)

// Read returns the text of a file.
func Read(t Reporter, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	NoError(t, err)
	return string(text)
}

// Write writes a file, in new directories if they are missing.
func Write(t Reporter, path, text string, mode os.FileMode) {
	t.Helper()
	NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	NoError(t, os.WriteFile(path, []byte(text), mode))
}

// Golden compares a text with a file of testdata, or writes it anew.
func Golden(t Reporter, update bool, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		Write(t, path, got, 0o644)
	}
	if d := cmp.Diff(Read(t, path), got); d != "" {
		t.Errorf("%s differs, -update writes it anew (-want +got)\n%s", path, d)
	}
}
