// Package base keeps data that were loaded once, for trials to begin from copies of them. It knows no
// engine: the data are a directory that no process uses.
package base

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
	"rumbench/workload"
)

// Identity is what shapes loaded data, by name: the engine with its version and settings, the workload
// with its parameters, the seed. Data are used again only if all of it is the same.
type Identity map[string]string

// Name returns a directory's name for data of the identity.
func (id Identity) Name(engine string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(id)) {
		fmt.Fprintf(h, "%q %q\n", name, id[name])
	}
	return fmt.Sprintf("%s-%x", engine, h.Sum(nil)[:6])
}

// Base is loaded data. Its fields are those of base.json beside them.
type Base struct {
	Identity Identity      `json:"identity"`
	Campaign string        `json:"campaign"` // the directory of the one that has loaded the data
	Trial    string        `json:"trial"`    // its trial that did
	Made     time.Time     `json:"made"`
	Live     workload.Live `json:"live"` // the user data
	// Knowledge is what the run knows that has loaded the data, if it is a workload.Knowing.
	Knowledge json.RawMessage `json:"knowledge,omitempty"`
	// Steps are the numbers of the load.
	Steps []result.Step `json:"steps"`
	Files []File        `json:"files"`

	dir string
}

const (
	file    = "base.json"
	dataDir = "data"
	pending = ".new" // the suffix of a base that is being made
)

// again is the hint for a base that cannot be used.
const again = "remove that directory: the data are then loaded again"

// limit is the greatest size of the file about a base: of the numbers of many steps, and many files.
const limit = 64 << 20

// Open reads the base of an identity in a directory; nil if there is none.
func Open(dir string, id Identity) (*Base, error) {
	text, err := regular.ReadFile(filepath.Join(dir, file), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := &Base{dir: dir}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	if err == nil && !maps.Equal(b.Identity, id) {
		err = errors.New("they are other data than their directory's name says")
	}
	if err != nil {
		return nil, hint.Errorf(again, "read the loaded data in %s: %w", dir, err)
	}
	return b, nil
}

// Keep makes the data in a directory, which it takes away, a base in the directory dir. If another process
// has made that base meanwhile, its stays. What killed processes have left there is removed.
func (b *Base) Keep(data, dir string) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := removeKilled(dir); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+pending)
	if err != nil {
		return err
	}
	used, err := lock(temp)
	if err == nil {
		defer syscall.Close(used)
		err = os.Chmod(temp, 0o755)
	}
	if err != nil {
		return err
	}
	kept := filepath.Join(temp, dataDir)
	err = os.Rename(data, kept)
	if errors.Is(err, syscall.EXDEV) {
		if b.Files, err = copyTree(data, kept, false); err == nil {
			err = os.RemoveAll(data)
		}
	} else if err == nil {
		b.Files, err = sums(kept)
	}
	if err == nil {
		err = result.WriteJSON(filepath.Join(temp, file), b)
	}
	if err == nil {
		if err = os.Rename(temp, dir); errors.Is(err, fs.ErrExist) {
			return os.RemoveAll(temp)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep the loaded data: %w", err), os.RemoveAll(temp))
	}
	return nil
}

// removeKilled removes what processes have left that were killed while they made a base in a directory.
func removeKilled(dir string) (err error) {
	store, err := os.ReadDir(filepath.Dir(dir))
	for _, e := range store {
		if temp := filepath.Join(filepath.Dir(dir), e.Name()); strings.HasPrefix(temp, dir+pending) {
			if used, lerr := lock(temp); lerr == nil {
				err = errors.Join(err, os.RemoveAll(temp), syscall.Close(used))
			}
		}
	}
	return err
}

// lock locks a directory until its file descriptor is closed; an error if another process has.
func lock(dir string) (fd int, err error) {
	if fd, err = syscall.Open(dir, syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err != nil {
		return fd, err
	}
	if err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = syscall.Close(fd)
	}
	return fd, err
}

// sums returns the regular files below a directory.
func sums(dir string) (files []File, err error) {
	return files, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := summed(path)
		if err != nil {
			return err
		}
		f.Path, err = filepath.Rel(dir, path)
		files = append(files, f)
		return err
	})
}

// Data returns the directory of the data.
func (b *Base) Data() string { return filepath.Join(b.dir, dataDir) }

// CopyTo copies the data to a directory, which is empty or does not exist. With clones set, the copy may
// share blocks with the base; cloned reports whether it does. It is an error if the data are not those
// that were kept.
func (b *Base) CopyTo(dir string, clones bool) (cloned bool, err error) {
	files, err := copyTree(b.Data(), dir, clones)
	if err != nil {
		return false, fmt.Errorf("copy the loaded data: %w", err)
	}
	if !slices.EqualFunc(files, b.Files, File.is) {
		return false, hint.Errorf(again, "the loaded data in %s have changed since they were kept: %s", b.dir,
			changed(files, b.Files))
	}
	return slices.ContainsFunc(files, isCloned), nil
}

func isCloned(f File) bool { return f.cloned }

// changed names a file in which two lists differ.
func changed(now, kept []File) string {
	for _, f := range kept {
		i := slices.IndexFunc(now, func(o File) bool { return o.Path == f.Path })
		switch {
		case i < 0:
			return f.Path + " is missing"
		case !now[i].is(f):
			return "the content of " + f.Path
		}
	}
	return "there are files that were not there"
}

// CopyOwn copies a directory of the user's, which no process may use.
func CopyOwn(source, target string, clones bool) (cloned bool, err error) {
	if source, err = filepath.EvalSymlinks(source); err != nil {
		return false, err
	}
	if who := user(source); who != "" {
		return false, hint.Errorf("stop it, or copy the data yourself while it is stopped",
			"%s is in use by process %s: a copy of it could not be consistent", source, who)
	}
	files, err := copyTree(source, target, clones)
	if err != nil {
		return false, fmt.Errorf("copy %s: %w", source, err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(source, f.Path))
		if err != nil || info.Size() != f.Size || !info.ModTime().Equal(f.Time) {
			return false, fmt.Errorf("%s has changed while it was copied", filepath.Join(source, f.Path))
		}
	}
	return slices.ContainsFunc(files, isCloned), nil
}
