// Package fsize measures used and free disk space. It knows nothing about the
// contents of files.
package fsize

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// blockUnit is the unit of st_blocks, whatever the filesystem's block size.
const blockUnit = 512

// Allocated returns the bytes allocated to the files below dir; holes of sparse
// files do not count. Files that vanish in the meantime are skipped.
func Allocated(dir string) (int64, error) {
	sums, err := ByClass(dir, func(string) string { return "" })
	return sums[""].Allocated, err
}

// Used is Allocated without the bytes that are preallocated beyond the end of a
// file, as for a log that is not full.
func Used(dir string) (int64, error) {
	sums, err := ByClass(dir, func(string) string { return "" })
	return sums[""].Used, err
}

// Sum is the size of several files.
type Sum struct {
	Allocated int64 // bytes on disk
	Used      int64 // without those preallocated beyond the end of a file
}

// ByClass sums the sizes of the files below dir by class, a function of a file's
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
		return nil, fmt.Errorf("measure the size of %s: %w", dir, err)
	}
	return sums, nil
}

// Existing returns the nearest of a path and the directories above it that exists.
func Existing(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "."
	}
	for abs != "/" {
		if _, err := os.Stat(abs); err == nil {
			return abs
		}
		abs = filepath.Dir(abs)
	}
	return abs
}

// Free returns the free bytes of the filesystem that holds dir.
func Free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}
