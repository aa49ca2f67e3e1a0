// Package servertest lets tests start servers on copies of data that was created once: creating
// it anew takes seconds. A test imports it for that effect; it is for tests only.
package servertest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/server"
)

func init() { server.Prepare = prepare }

// prepare fills a server's data directory with a copy of data that an earlier test has kept, or
// runs the command that creates it, and keeps that.
func prepare(s *server.Server, command []string, run func() error) error {
	p, err := preparedFor(s, command)
	if err != nil {
		return err
	}
	if isDir(string(p)) {
		return p.take(s)
	}
	if err := run(); err != nil {
		return err
	}
	return p.keep(s)
}

// prepared is the directory in which tests keep the data that a command has created,
// to copy it for the next server of the same program, command and settings.
type prepared string

func preparedFor(s *server.Server, command []string) (prepared, error) {
	h := sha256.New()
	for _, path := range []string{s.Program.Path, command[0]} {
		program, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, path, program.Size(), program.ModTime())
	}
	owner, err := os.Stat(s.DataDir())
	if err != nil {
		return "", err
	}
	fmt.Fprintln(h, s.Program, owner.Sys().(*syscall.Stat_t).Uid, command, s.Listen == server.ThisMachine)
	for _, set := range s.Settings { // initdb reads none
		if s.Kind != server.Postgres && !slices.Contains(runtimeSettings, strings.ReplaceAll(set.Name, "-", "_")) {
			fmt.Fprintln(h, set)
		}
	}
	if err := ownDir(preparedDir); err != nil {
		return "", err
	}
	return prepared(filepath.Join(preparedDir, fmt.Sprintf("%s-%x", s.Kind, h.Sum(nil)[:8]))), nil
}

// preparedDir holds all prepared data. It is not in the directory for temporary files, since each
// trial has one of its own.
var preparedDir = fmt.Sprintf("/var/tmp/rumbench-prepared-%d", os.Getuid())

// runtimeSettings are settings of MariaDB and MySQL that matter to a running server only.
var runtimeSettings = []string{
	"innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb_flush_log_at_timeout", "innodb_flush_method",
	"innodb_lock_wait_timeout", "max_connections", "general_log", "general_log_file", "key_buffer_size",
	"aria_pagecache_buffer_size", "performance_schema", "transaction_isolation", "rocksdb_block_cache_size",
	"rocksdb_flush_log_at_trx_commit", "rocksdb_manual_wal_flush"}

// ownDir makes a directory that only this process's user can change.
func ownDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(st.Uid) != os.Getuid() ||
		info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s is not a directory of this user alone", path)
	}
	return nil
}

func (p prepared) dataDir() string { return filepath.Join(string(p), "data") }

// passwordFile is the copy of a server's password: its data may contain it.
func (p prepared) passwordFile() string { return filepath.Join(string(p), "password") }

// passwordOf is where a server's password is.
func passwordOf(s *server.Server) string { return filepath.Join(s.Dir, "run", "password") }

// take copies prepared data into a server's directory.
func (p prepared) take(s *server.Server) error {
	now := time.Now()
	return errors.Join(os.Chtimes(string(p), now, now), os.Remove(s.DataDir()),
		copyAll(p.dataDir(), s.DataDir(), "--sparse=never"), // as the installation has allocated it
		copyAll(p.passwordFile(), passwordOf(s)))
}

// keep stores a copy of a server's new data for the next server.
func (p prepared) keep(s *server.Server) error {
	parent := filepath.Dir(string(p))
	temp, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) // if it was not renamed
	unfinished := prepared(temp)
	err = errors.Join(prune(parent), copyAll(s.DataDir(), unfinished.dataDir(), "--sparse=always"),
		copyAll(passwordOf(s), unfinished.passwordFile()))
	if err == nil {
		err = os.Rename(temp, string(p))
	}
	if isDir(string(p)) { // it is kept, possibly by another process that was faster
		return nil
	}
	return err
}

// prune removes data that no test has used for days. It is renamed first, so that no
// test takes a part of it.
func prune(parent string) error {
	entries, err := os.ReadDir(parent)
	for _, e := range entries {
		info, gone := e.Info()
		if gone != nil || time.Since(info.ModTime()) < 2*24*time.Hour {
			continue
		}
		old := filepath.Join(parent, "old-"+e.Name())
		if os.Rename(filepath.Join(parent, e.Name()), old) == nil { // else another process removes it
			err = errors.Join(err, os.RemoveAll(old))
		}
	}
	return err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// copyAll copies a file or a directory with its owners.
func copyAll(source, target string, options ...string) error {
	out, err := exec.Command("cp", append(options, "-a", source, target)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy %s: %w: %s", source, err, out)
	}
	return nil
}
