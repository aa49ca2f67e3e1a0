package serverkit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/engine/fsize"
)

// emptyFile is the file in a private server's directory that holds the sizes of the
// empty server.
const emptyFile = "empty.json"

// NoteEmpty measures the sizes of a private server's files by class and stores them.
// It is called before anything is created in the server. For data of an earlier start
// it reads the sizes stored then.
func (h *Host) NoteEmpty(class func(path string) engine.FileClass) (err error) {
	h.empty, err = noteEmpty(h.Private.Dir, h.Private.Created(), class)
	return err
}

// Empty returns the written bytes of each class of files when the private server was
// empty; nil if they are unknown.
func (h *Host) Empty() map[engine.FileClass]int64 { return h.empty }

func noteEmpty(dir string, created bool, class func(path string) engine.FileClass) (map[engine.FileClass]int64, error) {
	path := filepath.Join(dir, emptyFile)
	empty := map[engine.FileClass]int64{}
	if !created {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // unknown
		}
		if err != nil {
			return nil, err
		}
		return empty, engine.Wrap("parse "+path, json.Unmarshal(b, &empty))
	}
	sums, err := fsize.ByClass(dir, class)
	if err != nil {
		return nil, err
	}
	for name, sum := range sums {
		empty[name] = sum.Used
	}
	b, err := json.Marshal(empty)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return nil, err
	}
	return empty, syncAll(dir)
}

// syncAll syncs the file system of a server's directory. A start needs the files
// that the installation and rumbench have written there: a power cut would take
// them, and with them commits that have been synced.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return engine.Wrap("sync the file system of "+dir, unix.Syncfs(int(f.Fd())))
}
