package engine

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckDir refuses a data directory that holds something but no file of the
// engine's: opening it would make a second database beside another's. mine is
// a pattern that every directory of the engine has a file for.
func CheckDir(dir, mine string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at the data directory: %w", err)
	}
	if len(entries) == 0 {
		return nil
	}
	for _, e := range entries {
		if ok, err := filepath.Match(mine, e.Name()); err != nil || ok {
			return err
		}
	}
	return fmt.Errorf("%s is not a database of this engine: it holds %s, and no %s", dir, entries[0].Name(), mine)
}
