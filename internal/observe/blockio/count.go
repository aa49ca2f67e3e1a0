package blockio

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Extents returns how many extents the regular files below a directory have, and how many files with any
// there are. The error is that of a file system that does not report them.
func Extents(dir string) (extents, files int, err error) {
	var buffer fiemap
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a folder, or removed since
		}
		found, _, err := places(path, &buffer)
		if err == nil && len(found) > 0 {
			extents, files = extents+len(found), files+1
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since
		}
		return err
	})
	return extents, files, err
}
