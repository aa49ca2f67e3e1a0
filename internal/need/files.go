package need

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Failing is a test that can end, also one of package rapid.
type Failing interface {
	Helper()
	Fatal(args ...any)
}

// Must ends a test at an error.
func Must(t Failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the text of a file.
func Read(t Failing, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	Must(t, err)
	return string(text)
}

// Write writes a file, in new directories if they are missing.
func Write(t Failing, path, text string, mode os.FileMode) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Must(t, os.WriteFile(path, []byte(text), mode))
}

// Value returns the value of a call that must not fail.
func Value[T any](value T, err error) func(Failing) T {
	return func(t Failing) T {
		t.Helper()
		Must(t, err)
		return value
	}
}

// Golden compares a text with a file of testdata, or writes it anew.
func Golden(t testing.TB, update bool, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		Write(t, path, got, 0o644)
	}
	if d := cmp.Diff(Read(t, path), got); d != "" {
		t.Errorf("%s differs, -update writes it anew (-want +got)\n%s", path, d)
	}
}

// Contains looks for texts in another one.
func Contains(t testing.TB, subject, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s holds no %q:\n%s", subject, w, text)
		}
	}
}
