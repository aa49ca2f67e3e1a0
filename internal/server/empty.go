package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rumbench/engine"
	"rumbench/internal/fsize"
)

// emptyNote is the file below Dir that says what the server's files took before
// anything was made in it.
const emptyNote = "empty.json"

// NoteEmpty measures, by a class of each file, what the server's files take. It
// is called before anything is made in the server. Of data that was there before
// it reads what was noted then.
func (s *Server) NoteEmpty(class func(path string) engine.FileClass) error {
	note := filepath.Join(s.Dir, emptyNote)
	if !s.made {
		b, err := os.ReadFile(note)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is not known
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &s.empty); err != nil {
			return fmt.Errorf("read %s: %w", note, err)
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
	return os.WriteFile(note, append(b, '\n'), 0o644)
}

// Empty returns what the files of each class took before anything was made in the
// server, as far as they were written; nil if that is not known.
func (s *Server) Empty() map[engine.FileClass]int64 { return s.empty }
