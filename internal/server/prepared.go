package server

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// prepared is the directory in which tests keep what a command has created, to copy it
// for the next server of the same program, command and settings: creating it anew takes
// seconds. Outside tests every server's data is created for it.
type prepared string

func preparedFor(s *Server, command []string) (prepared, error) {
	program, err := os.Stat(s.Program.Path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, s.Program, program.Size(), program.ModTime(), s.owner)
	for _, arg := range command {
		fmt.Fprintln(h, strings.ReplaceAll(arg, s.Dir, ""))
	}
	for _, set := range s.Settings {
		if set.Name != "port" {
			fmt.Fprintln(h, set.Name, strings.ReplaceAll(set.Value, s.Dir, ""))
		}
	}
	parent := filepath.Join(os.TempDir(), fmt.Sprintf("rumbench-prepared-%d", os.Getuid()))
	if err := ownDir(parent); err != nil {
		return "", err
	}
	return prepared(filepath.Join(parent, fmt.Sprintf("%s-%x", s.Kind, h.Sum(nil)[:8]))), nil
}

// ownDir makes a directory that only this process's user can change.
func ownDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(st.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is not a directory of this user alone", path)
	}
	return nil
}

func (p prepared) dataDir() string { return filepath.Join(string(p), "data") }

// passwordFile is the copy of a server's password: its data may contain it.
func (p prepared) passwordFile() string { return filepath.Join(string(p), "password") }

// take copies prepared data into a server's directory. It reports false if there is none.
func (p prepared) take(s *Server) (bool, error) {
	if !isDir(string(p)) {
		return false, nil
	}
	now := time.Now()
	err := errors.Join(os.Chtimes(string(p), now, now), os.Remove(s.DataDir()),
		copyAll(p.dataDir(), s.DataDir(), "--sparse=never"), // as the installation has allocated it
		copyAll(p.passwordFile(), s.passwordFile()))
	if err != nil {
		return false, err
	}
	return true, s.configure() // with the password of the copy
}

// keep copies a server's new data to where the next one finds it.
func (p prepared) keep(s *Server) error {
	parent := filepath.Dir(string(p))
	temp, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return err
	}
	unfinished := prepared(temp)
	err = errors.Join(prune(parent), copyAll(s.DataDir(), unfinished.dataDir(), "--sparse=always"), copyAll(s.passwordFile(), unfinished.passwordFile()))
	if err == nil {
		err = os.Rename(temp, string(p))
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	if isDir(string(p)) { // another process was faster
		return nil
	}
	return err
}

// prune removes what no test has used for days.
func prune(parent string) error {
	entries, err := os.ReadDir(parent)
	for _, e := range entries {
		if info, gone := e.Info(); gone == nil && time.Since(info.ModTime()) > 2*24*time.Hour {
			err = errors.Join(err, os.RemoveAll(filepath.Join(parent, e.Name())))
		}
	}
	return err
}

// copyAll copies a file or a directory with its owners.
func copyAll(from, to string, options ...string) error {
	out, err := exec.Command("cp", append(options, "-a", from, to)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
