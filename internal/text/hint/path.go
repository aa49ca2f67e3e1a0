package hint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Paths returns the paths that were probably meant by one that does not exist: its first
// missing folder or file is replaced by those with a near name, with or without the ending.
// Only paths that fit are returned; nil fits all that exist.
func Paths(path string, fit func(path string) bool) (out []string) {
	path = filepath.Clean(path)
	folder, name, rest := filepath.Dir(path), filepath.Base(path), ""
	for ; !exists(folder) && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		name, rest = filepath.Base(folder), filepath.Join(name, rest)
	}
	var names []string
	byName := map[string]string{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		meant := filepath.Join(folder, e.Name(), rest)
		if !exists(meant) || fit != nil && !fit(meant) {
			continue
		}
		for _, n := range []string{e.Name(), strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))} {
			if byName[n] == "" {
				names, byName[n] = append(names, n), meant
			}
		}
	}
	for _, n := range Near(name, names) {
		if !slices.Contains(out, byName[n]) {
			out = append(out, byName[n])
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
