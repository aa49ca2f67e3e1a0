package pebble

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
)

// unsyncedFS implements level process: a commit waits until the log is written
// to the operating system, as with pebble.Sync, but every sync is a no-op.
// Pebble's own NoSync does not wait for the write, so a killed process would
// lose commits.
type unsyncedFS struct{ vfs.FS }

func unsynced(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return f, err
	}
	return unsyncedFile{f}, nil
}

func (fs unsyncedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(fs.FS.Create(name, c))
}

func (fs unsyncedFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return unsynced(fs.FS.ReuseForWrite(old, name, c))
}

func (fs unsyncedFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return unsynced(fs.FS.OpenReadWrite(name, c, o...))
}

func (fs unsyncedFS) OpenDir(name string) (vfs.File, error) { return unsynced(fs.FS.OpenDir(name)) }

// Unwrap returns the file system below.
func (fs unsyncedFS) Unwrap() vfs.FS { return fs.FS }

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return false, nil }

// logger drops Pebble's informational messages. Pebble calls Fatalf when it
// cannot continue, for instance when the log cannot be written, and expects it
// not to return.
type logger struct{}

func (logger) Infof(string, ...any) {}

func (logger) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pebble: "+format+"\n", args...)
}

func (logger) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pebble cannot continue: "+format+"\n", args...)
	os.Exit(1)
}

// readOptions reads back the options that Pebble runs with, from the file that
// it writes when it opens.
func readOptions(dir string) ([]engine.Setting, error) {
	files, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("read back options: %s has no OPTIONS file", dir)
	}
	sort.Strings(files)
	f, err := os.Open(files[len(files)-1])
	if err != nil {
		return nil, fmt.Errorf("read back options: %w", err)
	}
	defer f.Close()
	var out []engine.Setting
	section := ""
	for in := bufio.NewScanner(f); in.Scan(); {
		line := strings.TrimSpace(in.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(section, "Level") && section != `Level "6"` {
			continue // all levels have the same options
		}
		out = append(out, engine.Setting{Name: section + "." + name, Value: value, Source: engine.ReadBack})
	}
	return out, nil
}
