package blockio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rumbench/engine"
)

// scanner knows the places of the files of some directories on their device.
type scanner struct {
	dirs         []string
	uses         engine.FileUses
	major, minor uint32 // of the file system
	start        uint64 // its first sector on the device
	classes      *classes

	files   map[uint64]*file // by inode
	layer   []extent         // of all files, sorted
	round   int
	changed bool
	unread  error // why a file's extents could not be read
	buffer  fiemap
}

// file is a file as it was when it was seen last.
type file struct {
	path    string
	born    unix.StatxTimestamp
	blocks  uint64 // of 512 bytes
	size    uint64
	whole   bool // all of it has a place
	round   int  // of the scan that saw it
	extents []extent
}

// scan looks at all files. It reads the extents of those that are new, renamed, of
// another size, or not all written before; of all of them if all is set. Its cost is
// a system call for each other file.
func (s *scanner) scan(all bool) error {
	s.round++
	s.changed = false
	for _, dir := range s.dirs {
		if err := s.walk(dir, all, 0); err != nil {
			return fmt.Errorf("look at the files of %s: %w", dir, err)
		}
	}
	for inode, f := range s.files {
		if f.round != s.round {
			delete(s.files, inode)
			s.changed = true
		}
	}
	if s.changed {
		var list []extent
		for _, f := range s.files {
			list = append(list, f.extents...)
		}
		s.layer = sorted(list)
	}
	return nil
}

// deepest is how deep directories are followed: links may lead in circles.
const deepest = 16

func (s *scanner) walk(dir string, all bool, depth int) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || depth > deepest {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		kind := e.Type()
		if kind&fs.ModeSymlink != 0 { // a log or tables on other places
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				kind = fs.ModeDir
			}
		}
		switch {
		case kind.IsDir():
			err = s.walk(path, all, depth+1)
		case kind.IsRegular():
			err = s.look(path, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look looks at a file, once in a round.
func (s *scanner) look(path string, all bool) error {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_STATX_DONT_SYNC,
		unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "statx", Path: path, Err: err}
	}
	if st.Dev_major != s.major || st.Dev_minor != s.minor {
		return nil
	}
	f := s.files[st.Ino]
	if f == nil {
		f = &file{}
		s.files[st.Ino] = f
	}
	if f.round == s.round {
		return nil // another link to it
	}
	f.round = s.round
	if !all && f.path == path && f.born == st.Btime && f.blocks == st.Blocks && f.size == st.Size && f.whole {
		return nil
	}
	found, complete, err := places(path, &s.buffer)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.unread = &fs.PathError{Op: "read the extents of", Path: path, Err: err}
		}
		return nil
	}
	s.changed = true
	f.path, f.born, f.blocks, f.size, f.whole, f.extents = path, st.Btime, st.Blocks, st.Size, complete,
		s.extents(path, found)
	return nil
}

// extents returns the sectors of a file with their classes.
func (s *scanner) extents(path string, found []place) []extent {
	var whole, parts []extent
	for _, u := range s.uses.Of(path) {
		class := s.classes.index(Class{u.Use, u.Name})
		for _, p := range found {
			begin, end := p.logical, p.logical+p.length
			if u.To == 0 {
				whole = append(whole, s.extent(p, begin, end, class))
			} else if begin, end = max(begin, uint64(u.From)), min(end, uint64(u.To)); begin < end {
				parts = append(parts, s.extent(p, begin, end, class))
			}
		}
	}
	return overlay(sorted(whole), sorted(parts))
}

// extent returns the sectors of the bytes of a file from begin to end, which are in p.
func (s *scanner) extent(p place, begin, end uint64, class uint32) extent {
	at := s.start + (p.physical+begin-p.logical)/sector
	return extent{at, at + (end-begin)/sector, class}
}
