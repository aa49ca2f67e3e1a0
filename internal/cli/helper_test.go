package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/need"
)

func must(t testing.TB, err error) {
	t.Helper()
	need.Must(t, err)
}

// snapshot reads all files below a directory, by their paths in it.
func snapshot(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = string(b)
		return err
	})
	return out, err
}

// differences returns in what two snapshots differ, "" if they are equal.
func differences(a, b map[string]string) string {
	var out []string
	for path, text := range a {
		switch other, ok := b[path]; {
		case !ok:
			out = append(out, fmt.Sprintf("%s is gone", path))
		case other != text:
			out = append(out, fmt.Sprintf("%s was changed", path))
		}
	}
	for path := range b {
		if _, ok := a[path]; !ok {
			out = append(out, fmt.Sprintf("%s is new", path))
		}
	}
	return strings.Join(out, ", ")
}
