package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/fsize"
)

// emptyFile is the file below Dir that holds the sizes of the empty server.
const emptyFile = "empty.json"

// NoteEmpty measures the sizes of the server's files by class and stores them. It
// is called before anything is created in the server. For data of an earlier
// start it reads what was stored then.
func (s *Server) NoteEmpty(class func(path string) engine.FileClass) error {
	path := filepath.Join(s.Dir, emptyFile)
	if !s.made {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // unknown
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &s.empty); err != nil {
			return fmt.Errorf("parse %s: %w", path, err)
		}
		return nil
	}
	sums, err := fsize.ByClass(s.Dir, class)
	if err != nil {
		return err
	}
	empty := map[engine.FileClass]int64{}
	for name, sum := range sums {
		empty[name] = sum.Used
	}
	b, err := json.Marshal(empty)
	if err != nil {
		return err
	}
	s.empty = empty
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return err
	}
	return syncAll(s.Dir)
}

// syncAll syncs the file system of a server's directory. What the installation and
// rumbench have written there is needed for a start, and a power cut would
// take it from commits that have been synced.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("sync the file system of %s: %w", dir, err)
	}
	return nil
}

// Empty returns the written bytes of each class of files when the server was
// empty; nil if they are unknown.
func (s *Server) Empty() map[engine.FileClass]int64 {
	if s == nil {
		return nil
	}
	return s.empty
}
