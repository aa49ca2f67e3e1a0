package blockio

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sector is the unit of the kernel's requests in bytes, whatever the device's
// sector size.
const sector = 512

// extent is a range of a device's sectors that belongs to files of a class.
type extent struct {
	begin, end uint64 // the first sector, and the one after the last
	class      uint32 // an index of classes
}

// sorted sorts extents. If extents overlap, the first one keeps the sectors;
// files that share extents, as copies by reference do, are not distinguished.
func sorted(list []extent) []extent {
	slices.SortFunc(list, func(a, b extent) int { return cmp.Compare(a.begin, b.begin) })
	var out []extent
	at := uint64(0)
	for _, e := range list {
		out = add(out, max(e.begin, at), e.end, e.class)
		at = max(at, e.end)
	}
	return out
}

// add appends a range, if it is not empty, to sorted extents; neighbours of one
// class are one extent.
func add(list []extent, begin, end uint64, class uint32) []extent {
	if begin >= end {
		return list
	}
	if n := len(list); n > 0 && list[n-1].end == begin && list[n-1].class == class {
		list[n-1].end = end
		return list
	}
	return append(list, extent{begin, end, class})
}

// overlay returns the sectors of two sorted lists; sectors in both belong to their
// owners in above.
func overlay(below, above []extent) []extent {
	out := make([]extent, 0, len(below)+len(above))
	i, start := 0, uint64(0) // below is done up to start
	for _, a := range above {
		for ; i < len(below) && below[i].begin < a.begin; i++ {
			b := below[i]
			out = add(out, max(b.begin, start), min(b.end, a.begin), b.class)
			if b.end > a.begin {
				break
			}
		}
		out = add(out, a.begin, a.end, a.class)
		start = a.end
		for i < len(below) && below[i].end <= start {
			i++
		}
	}
	for _, b := range below[i:] {
		out = add(out, max(b.begin, start), b.end, b.class)
	}
	return out
}

// each calls a function for each part of a range of sectors that is in one extent of
// a sorted list, and returns the number of sectors that are in none.
func each(list []extent, begin, end uint64, part func(sectors uint64, class uint32)) (remaining uint64) {
	remaining = end - begin
	i, _ := slices.BinarySearchFunc(list, begin, func(e extent, at uint64) int {
		if e.end <= at {
			return -1
		}
		return 1
	})
	for ; i < len(list) && list[i].begin < end; i++ {
		n := min(list[i].end, end) - max(list[i].begin, begin)
		part(n, list[i].class)
		remaining -= n
	}
	return remaining
}

// The kernel's interface, see Documentation/filesystems/fiemap.rst.
const (
	fsIocFiemap       = 0xC020660B
	fiemapLast        = 0x1
	fiemapUnknown     = 0x2 // not written yet: its place is not decided
	fiemapDataInline  = 0x200
	fiemapExtentCount = 128
)

type fiemap struct {
	start, length             uint64
	flags, mapped, count, pad uint32
	extents                   [fiemapExtentCount]fiemapExtent
}

type fiemapExtent struct {
	logical, physical, length uint64
	_                         [2]uint64
	flags                     uint32
	_                         [3]uint32
}

// place is a part of a file on its file system, in bytes.
type place struct{ logical, physical, length uint64 }

// places returns the places of a file; all is false if parts of it have no
// place yet.
func places(path string, buffer *fiemap) (out []place, all bool, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	all = true
	for start := uint64(0); ; {
		*buffer = fiemap{start: start, length: ^uint64(0) - start, count: fiemapExtentCount}
		if err := ioctl(fd, fsIocFiemap, unsafe.Pointer(buffer)); err != nil {
			return nil, false, err
		}
		found := buffer.extents[:buffer.mapped]
		for _, e := range found {
			switch {
			case e.flags&fiemapUnknown != 0:
				all = false
			case e.flags&fiemapDataInline == 0:
				out = append(out, place{e.logical, e.physical, e.length})
			}
		}
		if len(found) == 0 || found[len(found)-1].flags&fiemapLast != 0 {
			return out, all, nil
		}
		last := found[len(found)-1]
		start = last.logical + last.length
	}
}

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
