// Package pagecache measures how much of a directory's files is in the operating system's page
// cache, and drops it. It needs no privileges.
package pagecache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/internal/text/hint"
)

// Share is how much of some files is in memory.
type Share struct {
	Resident, All int64 // bytes, in whole pages
}

// Of returns how much of the files below dir is in memory.
func Of(dir string) (s Share, err error) {
	return s, files(dir, func(f *os.File, size int64) error {
		n, pages, err := resident(f, size)
		s.Resident, s.All = s.Resident+n*pageSize, s.All+pages*pageSize
		return err
	})
}

// leftShare is the share of pages that may stay in memory, such as those that another program maps.
const leftShare = 0.01

// patience is how long the kernel is given to let go of pages: some are on their way to the device.
const patience = 2 * time.Second

// Drop removes the files below dir from memory. Everything dirty must have been synced. It is an error
// if they stay there, as on a file system in memory.
func Drop(dir string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(patience / 20) {
		err := files(dir, func(f *os.File, _ int64) error {
			return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		})
		if err != nil {
			return err
		}
		left, err := Of(dir)
		if err != nil {
			return err
		}
		if float64(left.Resident) <= leftShare*float64(left.All) {
			return nil
		}
		if time.Now().After(deadline) {
			return hint.Errorf("choose another --out, on a file system with a device, and look for programs that use the files",
				"%.0f %% of the files below %s stay in the page cache", 100*float64(left.Resident)/float64(left.All), dir)
		}
	}
}

var pageSize = int64(os.Getpagesize())

// files calls a function for each file below dir that holds anything. Files may vanish meanwhile.
func files(dir string, each func(f *os.File, size int64) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() == 0 {
			return err
		}
		if err := each(f, info.Size()); err != nil {
			return fmt.Errorf("page cache of %s: %w", path, err)
		}
		return nil
	})
}

// span is how much of a file is looked at at a time.
const span = 1 << 30

// resident returns how many pages of a file there are, and how many are in memory.
func resident(f *os.File, size int64) (n, pages int64, err error) {
	for at := int64(0); at < size; at += span {
		length := int(min(span, size-at))
		// Without any right of access: to look brings nothing into memory.
		area, err := unix.Mmap(int(f.Fd()), at, length, unix.PROT_NONE, unix.MAP_SHARED)
		if err != nil {
			return n, pages, err
		}
		state := make([]byte, (int64(length)+pageSize-1)/pageSize)
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&area[0])), uintptr(length),
			uintptr(unsafe.Pointer(&state[0])))
		if err := unix.Munmap(area); err != nil {
			return n, pages, err
		}
		if errno != 0 {
			return n, pages, errno
		}
		pages += int64(len(state))
		for _, in := range state {
			n += int64(in & 1)
		}
	}
	return n, pages, nil
}
