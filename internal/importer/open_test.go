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
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return int64(b.Len())
}

func TestOpenText(t *testing.T) {
	dir := t.TempDir()
	log := strings.Repeat("[ 1s ] thds: 4 tps: 100.00 qps: 100.00\n", 1000)
	plain, small, bomb := filepath.Join(dir, "log"), filepath.Join(dir, "log.gz"), filepath.Join(dir, "bomb.gz")
	if err := os.WriteFile(plain, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	zipped(t, small, log, 1)
	for _, path := range []string{plain, small} {
		r, err := openText(path)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != log {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
		r.Close()
	}
	size := zipped(t, bomb, strings.Repeat("\n", 1<<20), 64)
	r, err := openText(bomb)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir} {
		_, err := Read([]string{path}, Options{})
		if err == nil {
			t.Errorf("%s was read", path)
		} else if path == pipe && !strings.Contains(err.Error(), regular.ErrNot.Error()) {
			t.Error(err)
		}
	}
}
