package observe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant writes files under a new directory and returns it. A text that begins
// with "-> " makes a symbolic link, a path that ends with "/" a directory.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		write(t, filepath.Join(root, path), content, strings.HasSuffix(path, "/"))
	}
	return root
}

func write(t *testing.T, path, content string, isDir bool) {
	t.Helper()
	if isDir {
		expect.NoError(t, os.MkdirAll(path, 0o755))
		return
	}
	expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if target, isLink := strings.CutPrefix(content, "-> "); isLink {
		expect.NoError(t, os.Symlink(target, path))
		return
	}
	expect.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// collect returns a collector's points by key.
func collect(t *testing.T, c Collector) map[string]float64 {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, c.Collect(context.Background(), &s))
	values := make(map[string]float64)
	for _, p := range s.Points {
		_, twice := values[p.Key()]
		expect.True(t, !twice, "series was sampled twice", p.Key())
		expect.True(t, strings.HasPrefix(p.Name, c.Name()+"."), "series of source", p.Name, c.Name())
		expect.True(t, (p.Kind == engine.Counter || p.Kind == engine.Gauge) && p.Unit != "",
			"series has kind and unit", p.Name, p.Kind, p.Unit)
		values[p.Key()] = p.Value
	}
	return values
}
