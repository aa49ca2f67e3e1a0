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
	"testing"
	"time"
)

// prepared is where tests keep what a command has created, to copy it for the next
// server of the same program, command and settings: creating it anew takes seconds.
// It is "" outside tests, where every server's data is created for it.
func (s *Server) prepared(command []string) (string, error) {
	if !testing.Testing() || s.anew {
		return "", nil
	}
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
	return filepath.Join(parent, fmt.Sprintf("%s-%x", s.Kind, h.Sum(nil)[:8])), nil
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

// passwordName is the name of the copy of a server's password next to its data, which
// may contain it.
const passwordName = "password"

// take copies prepared data into the server's directory. It reports false if there is
// none.
func (s *Server) take(prepared string) (bool, error) {
	if prepared == "" || !isDir(prepared) {
		return false, nil
	}
	now := time.Now()
	err := errors.Join(os.Chtimes(prepared, now, now), os.Remove(s.DataDir()),
		copyAll(filepath.Join(prepared, "data"), s.DataDir(), "--sparse=never"), // as the installation has allocated it
		copyAll(filepath.Join(prepared, passwordName), s.passwordFile()))
	if err != nil {
		return false, err
	}
	return true, s.configure() // with the password of the copy
}

// keepPrepared copies new data to where the next server finds it.
func (s *Server) keepPrepared(prepared string) error {
	if prepared == "" {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(prepared), "new-")
	if err != nil {
		return err
	}
	err = errors.Join(prune(filepath.Dir(prepared)), copyAll(s.DataDir(), filepath.Join(temp, "data"), "--sparse=always"), copyAll(s.passwordFile(), filepath.Join(temp, passwordName)))
	if err == nil {
		err = os.Rename(temp, prepared)
	}
	if err != nil {
		_ = os.RemoveAll(temp)
	}
	if isDir(prepared) { // another process was faster
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
