package kvkit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/engine"
)

// ReadOptions reads back the options that RocksDB, or a store derived from it,
// runs with: from the newest of the files called OPTIONS-NUMBER that it writes
// when it opens. A setting is named SECTION.NAME.
func ReadOptions(dir string) (out []engine.Setting, err error) {
	files, err := fs.Glob(os.DirFS(dir), "OPTIONS-*[0-9]")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("read back options: %s has no OPTIONS file", dir)
	}
	content, err := os.ReadFile(filepath.Join(dir, slices.Max(files)))
	if err != nil {
		return nil, fmt.Errorf("read back options: %w", err)
	}
	section := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		} else if name, value, ok := strings.Cut(line, "="); ok {
			out = append(out, engine.Setting{Name: section + "." + name, Value: value, Source: engine.ReadBack})
		}
	}
	return out, nil
}
