package engine

import (
	"fmt"
	"os"
	"path/filepath"
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
