package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// goneTimeout is how long killed processes may take to vanish: the kernel frees
// the memory of a large one slowly.
const goneTimeout = 30 * time.Second

// waitGone waits until no process runs in a directory: a server that was killed
// with the process that started it needs a moment.
func waitGone(ctx context.Context, dir string) error {
	deadline := time.Now().Add(goneTimeout)
	for {
		pids := workers(dir)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d (%s) runs in %s", pids[0], command(pids[0]), dir)
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// marker is in the environment of every process started for a directory, to
// recognise it: others, such as a shell, may run there too.
const marker = "RUMBENCH_SERVER="

// Sweep kills servers that run in a private directory after the process that
// started them has died, and removes what they leave elsewhere.
func Sweep(dir string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err // missing, or a link, whose target is not ours
	}
	real, err := filepath.EvalSymlinks(dir) // of the directories above
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	for _, pid := range workers(real) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	err = waitGone(context.Background(), real)
	if err == nil {
		removeSharedMemory(filepath.Join(real, "data"))
	}
	return err
}

// workers lists the processes that were started for a directory.
func workers(dir string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && worksFor(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// servers are the programs that run in a data directory. PostgreSQL's processes
// overwrite their environment, so they are recognised by their program.
var servers = []string{"mariadbd", "mysqld", "postgres"}

// worksFor reports whether a process runs in a directory and is a server, or has
// the directory's marker. It is false for zombies.
func worksFor(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
		return false
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err == nil && slices.Contains(servers, filepath.Base(strings.TrimSuffix(exe, " (deleted)"))) {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(b), "\x00"), marker+dir)
}

func command(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}

// descendants lists the descendants of a process.
func descendants(pid int) (all []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		b, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(append(all, child), descendants(child)...)
			}
		}
	}
	return all
}
