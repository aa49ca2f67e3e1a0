package engine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// CheckDir refuses a data directory that is not empty and holds no file that
// matches pattern: opening it would create a database among unrelated files.
// Every data directory of the engine holds a file that matches pattern.
func CheckDir(dir, pattern string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the data directory: %w", err)
	}
	if len(entries) == 0 {
		return nil
	}
	for _, e := range entries {
		if ok, err := filepath.Match(pattern, e.Name()); err != nil || ok {
			return err
		}
	}
	return fmt.Errorf("%s is not a database of this engine: it holds %s, and no %s", dir, entries[0].Name(), pattern)
}

// ModuleVersion returns the version of a Go module that this binary was built
// with, "unknown" if the build information lacks it.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return cmp.Or(m.Replace, m).Version
			}
		}
	}
	return "unknown"
}
