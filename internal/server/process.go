package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// goneTime is how long processes may take to vanish after they were killed: the
// kernel gives back the memory of a large one slowly.
const goneTime = 30 * time.Second

// waitGone waits until no process works in a directory any more: a server that
// was killed with the process that started it needs a moment.
func waitGone(ctx context.Context, dir string) error {
	deadline := time.Now().Add(goneTime)
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

// Sweep ends the servers that still run in a private directory after the
// process that started them has died, and removes what they leave elsewhere.
// It must only be given a directory that nobody else uses.
func Sweep(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(abs); err != nil {
		return nil // there is nothing
	}
	for _, pid := range workers(abs) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	err = waitGone(context.Background(), abs)
	removeSharedMemory(filepath.Join(abs, "data"))
	return err
}

// workers lists the processes whose working directory is dir or below it.
// Servers work in their data directory.
func workers(dir string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() && inside(pid, dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// inside tells whether a process works in a directory or below it. Of one that
// has ended and was not waited for it is false.
func inside(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && (cwd == dir || strings.HasPrefix(cwd, dir+"/"))
}

func command(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}

// descendants lists the processes below one.
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
