package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
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
// started them has died, and removes their remains elsewhere.
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
		err = removeContainers(real)
	}
	return err
}

func processes() procfs.Procs {
	procs, _ := procfs.AllProcs()
	return procs
}

// workers lists the processes that were started for a directory.
func workers(dir string) (pids []int) {
	for _, p := range processes() {
		if p.PID != os.Getpid() && worksFor(p.PID, dir) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// servers are the programs that run in a data directory. PostgreSQL's processes
// overwrite their environment, so they are recognised by their program.
var servers = []string{"mariadbd", "mysqld", "postgres", "mongod", "tarantool"}

// worksFor reports whether a process runs in a directory and is a server, or has
// the directory's marker. It is false for zombies, once all their threads have ended:
// until then these have the process's files and their locks.
func worksFor(pid int, dir string) bool {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	if cwd, err := p.Cwd(); err != nil || cwd != "" {
		return serves(p, dir)
	}
	threads, _ := procfs.AllThreads(pid)
	return slices.ContainsFunc(threads, func(p procfs.Proc) bool { return serves(p, dir) })
}

// serves is worksFor of a thread. One that is ending has lost its program and environment before its files.
func serves(p procfs.Proc, dir string) bool {
	cwd, err := p.Cwd()
	if err != nil || cwd != dir && !strings.HasPrefix(cwd, dir+"/") {
		return false
	}
	exe, err := p.Executable()
	if err == nil && (exe == "" || slices.Contains(servers, filepath.Base(strings.TrimSuffix(exe, " (deleted)")))) {
		return true
	}
	env, err := p.Environ()
	return err == nil && slices.Contains(env, marker+dir)
}

// command returns the name of a process, "" if it is gone.
func command(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	name, _ := p.Comm()
	return name
}

// parent returns the parent of a process, 0 if it is gone.
func parent(pid int) int {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	stat, _ := p.Stat()
	return stat.PPID
}
