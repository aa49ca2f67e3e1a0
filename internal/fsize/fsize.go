// Package fsize tells how much space files take and how much is left. It only
// looks, and it knows nothing of what is in them.
package fsize

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// blockUnit is the unit of st_blocks, whatever the filesystem's block is.
const blockUnit = 512

// Allocated is the number of bytes allocated to the files under dir. Sparse
// files count what is there. Files that vanish meanwhile are left out.
func Allocated(dir string) (int64, error) {
	sums, err := ByClass(dir, func(string) string { return "" })
	return sums[""].Allocated, err
}

// Sum is the size of several files.
type Sum struct {
	Allocated int64 // bytes on disk
	// Used leaves out what was allocated beyond the end of a file, for what is
	// still to be written.
	Used int64
}

// ByClass sums what Allocated does by a class of each file, which is given its
// path below dir.
func ByClass[C ~string](dir string, class func(path string) C) (map[C]Sum, error) {
	sums := map[C]Sum{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			below, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			name, allocated := class(below), st.Blocks*blockUnit
			sum := sums[name]
			sum.Allocated += allocated
			sum.Used += min(allocated, info.Size())
			sums[name] = sum
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("size of %s: %w", dir, err)
	}
	return sums, nil
}

// Free is the number of bytes that can still be written on the filesystem that
// holds dir.
func Free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space at %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}
