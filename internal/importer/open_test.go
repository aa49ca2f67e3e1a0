package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result/regular"
)

// zipped writes a text so many times into a compressed file.
func zipped(t *testing.T, path, text string, times int) int64 {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for range times {
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	expect.NoError(t, z.Close())
	expect.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	return int64(b.Len())
}

func TestOpenText(t *testing.T) {
	dir := t.TempDir()
	log := strings.Repeat("[ 1s ] thds: 4 tps: 100.00 qps: 100.00\n", 1000)
	plain, small, bomb := filepath.Join(dir, "log"), filepath.Join(dir, "log.gz"), filepath.Join(dir, "bomb.gz")
	expect.NoError(t, os.WriteFile(plain, []byte(log), 0o644))
	zipped(t, small, log, 1)
	for _, path := range []string{plain, small} {
		r := expect.Value(openText(path))(t)
		b, err := io.ReadAll(r)
		expect.True(t, err == nil && string(b) == log, path, len(b), err)
		r.Close()
	}
	size := zipped(t, bomb, strings.Repeat("\n", 1<<20), 64)
	r := expect.Value(openText(bomb))(t)
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); !errors.Is(err, errBomb) || n > max(grace, growth*size) {
		t.Errorf("%d bytes became %d, %v", size, n, err)
	}
}

// A pipe without a writer does not block an import, whether it is named
// or found.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "run.log")
	expect.NoError(t, syscall.Mkfifo(pipe, 0o644))
	for _, path := range []string{pipe, dir} {
		_, err := Read([]string{path}, Options{})
		if err == nil {
			t.Errorf("%s was read", path)
		} else if path == pipe && !strings.Contains(err.Error(), regular.ErrNot.Error()) {
			t.Error(err)
		}
	}
}
