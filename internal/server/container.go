package server

import (
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A server of an image runs as any private server does: the same directory under the same path,
// the same user, socket, port, limits and processes of the host. The container gives it only the
// image's files, read-only, and takes what a server does not need: capabilities, new privileges.

// label names the private directory that a container works for: it identifies what a killed run
// has left.
const label = "rumbench.dir="

// highestProcesses is a limit of processes that podman lets every user have.
const highestProcesses = 32 << 10

// probeTimeout is how long a program of an image may take to describe itself: without root, a
// runtime copies a new image first.
const probeTimeout = 5 * time.Minute

// containerTimeout is how long a container's program may take to run.
const containerTimeout = time.Minute

// arguments returns the arguments with which the runtime runs a program of an image in a container.
func (i *Image) arguments(name string, options []string, path string, args []string) []string {
	all := []string{"run", "--rm", "--name", name, "--pull", "never", "--log-driver", "none", "--read-only",
		"--tmpfs", "/tmp", "--cap-drop", "all", "--security-opt", "no-new-privileges",
		"--no-healthcheck", // an image's own would run beside the load
		"--init=false",     // it would be the program's parent
		"--pids-limit", "-1",
		"--security-opt", "label=disable", // SELinux would want the directory's files relabelled
		"--ulimit", ulimit("nofile", unix.RLIMIT_NOFILE, 1<<30),
		"--ulimit", ulimit("nproc", unix.RLIMIT_NPROC, highestProcesses),
		"--ulimit", ulimit("memlock", unix.RLIMIT_MEMLOCK, unix.RLIM_INFINITY),
		"--ulimit", ulimit("stack", unix.RLIMIT_STACK, unix.RLIM_INFINITY)}
	switch {
	case i.Runtime == "docker": // its daemon may have users of its own
		all = append(all, "--userns", "host")
	case os.Getuid() != 0:
		all = append(all, "--userns", "keep-id")
	}
	return append(append(append(all, options...), "--entrypoint", path, i.ID), args...)
}

// ulimit returns a limit of this process as an option: the runtimes have limits of their own.
func ulimit(name string, resource int, highest uint64) string {
	var own unix.Rlimit
	_ = unix.Getrlimit(resource, &own) // cannot fail
	// Without a limit it is -1.
	return fmt.Sprintf("%s=%d:%d", name, int64(min(own.Cur, highest)), int64(min(own.Max, highest)))
}

// mount returns an option that shows a directory or file in a container. It has the syntax of
// CSV: paths may hold commas.
func mount(source, target string, extra ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(append([]string{"type=bind", "source=" + source, "target=" + target}, extra...)) // to memory
	w.Flush()
	return strings.TrimSpace(b.String())
}

func containerName() string { return "rumbench-" + strings.ToLower(rand.Text()) }

// output returns what a program of the image prints about itself. It has no network and no rights.
func (i *Image) output(ctx context.Context, path string, args ...string) (string, error) {
	user := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	if os.Getuid() == 0 {
		user = "65534:65534"
	}
	name := containerName()
	options := []string{"--network", "none", "--user", user}
	text, err := outputWithin(ctx, probeTimeout, i.Runtime, i.arguments(name, options, path, args)...)
	if err != nil { // it may go on, or be there, without the program that has started it
		_ = exec.Command(i.Runtime, "rm", "--force", "--volumes", name).Run()
	}
	return text, err
}

// killTries is how often, at intervals of half a second, a container is to be killed that may
// still be on its way to run.
const killTries = 20

// end kills a container as soon as it runs, or does nothing when it has ended.
func (i *Image) end(name string) error {
	var err error
	for range killTries {
		if err = exec.Command(i.Runtime, "kill", name).Run(); err == nil {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	return err
}

// command returns the command that runs a program of the server's installation as its user, in
// its data directory, and a function to call when that has ended.
func (s *Server) command(ctx context.Context, path string, args ...string) (cmd *exec.Cmd, end func(), err error) {
	image := s.Program.Image
	if image == nil {
		cmd = exec.CommandContext(ctx, path, args...)
		cmd.Dir, cmd.Env = s.DataDir(), append(environment(s), "PATH="+os.Getenv("PATH"))
		cmd.SysProcAttr = s.owner.attributes()
		return cmd, func() {}, nil
	}
	uid, gid := os.Getuid(), os.Getgid()
	if s.owner != nil {
		uid, gid = int(s.owner.uid), int(s.owner.gid)
	}
	// Programs such as initdb ask for the name of their user.
	users := filepath.Join(s.Dir, "container.passwd") // not where the server itself may write
	text := fmt.Sprintf("root:x:0:0::/:/bin/sh\n%s:x:%d:%d::/:/bin/sh\n", s.kind.user, uid, gid)
	err = errors.Join(os.WriteFile(users, []byte(text), 0o644),
		os.WriteFile(s.runtimeFile(), []byte(image.Runtime), 0o644))
	if err != nil {
		return nil, nil, err
	}
	name := containerName()
	options := []string{"--label", label + s.Dir, "--network", "host", "--pid", "host",
		"--user", fmt.Sprintf("%d:%d", uid, gid), "--workdir", s.DataDir(),
		"--mount", mount(s.Dir, s.Dir), "--mount", mount(users, "/etc/passwd", "readonly=true")}
	for _, variable := range environment(s) {
		options = append(options, "--env", variable)
	}
	cmd = exec.CommandContext(ctx, image.Runtime, image.arguments(name, options, path, args)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	cmd.Cancel = func() error { return errors.Join(image.end(name), cmd.Process.Kill()) }
	release, err := lifeline(image, name)
	return cmd, func() { release(); _ = os.Remove(s.runtimeFile()) }, err
}

// lifelineScript waits for the end of its input. The container may be about to begin then.
const lifelineScript = `read -r ended
for second in 1 2 3 4 5 6 7 8 9; do "$0" kill "$1" >/dev/null 2>&1 && exit; sleep 1; done`

// lifeline starts a process that kills a container when this process dies, however it does. The
// function that it returns ends that process.
func lifeline(i *Image, name string) (release func(), err error) {
	cmd := exec.Command("/bin/sh", "-c", lifelineScript, i.Runtime, name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	end, err := cmd.StdinPipe() // only this process has it, and the kernel closes it
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("watch over the container: %w", err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = end.Close()
	}, nil
}

// exited is the end of a container's program by a signal, which its runtime reports as a status.
type exited struct{ *exec.ExitError }

func (e exited) Error() string { return fmt.Sprintf("signal: %v", syscall.Signal(e.ExitCode()-128)) }

func (e exited) Unwrap() error { return e.ExitError }

// howEnded returns how the program of a command has ended that was in a container.
func howEnded(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 128 {
		return exited{exit}
	}
	return err
}

// findProcess waits for the container's program to run, and returns its process.
func (s *Server) findProcess(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, containerTimeout)
	defer cancel()
	for {
		pids := workers(s.Dir)
		ancestor := func(pid int) bool { return !slices.Contains(pids, parent(pid)) }
		if i := slices.IndexFunc(pids, ancestor); i >= 0 {
			return pids[i], nil
		}
		select {
		case <-s.done:
			return 0, &DiedError{What: "start " + s.Program.Name(), How: s.ended, Messages: s.messages()}
		case <-ctx.Done():
			return 0, fmt.Errorf("start %s in a container: its process is not visible on this host: %w", s.Program.Name(),
				ctx.Err())
		case <-time.After(poll):
		}
	}
}

// runtimeFile is the file that names the program which runs the containers of a directory.
func (c *Config) runtimeFile() string { return filepath.Join(c.Dir, "container.runtime") }

// removeContainers removes the containers that were started for a directory; their processes have
// been ended.
func removeContainers(dir string) error {
	file := (&Config{Dir: dir}).runtimeFile()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil //nolint:nilerr // no container was
	}
	runtime := string(text)
	if !slices.Contains(Runtimes(), runtime) {
		return fmt.Errorf("%s names no program that runs containers", file)
	}
	list := func() ([]string, error) {
		out, err := Output(context.Background(), runtime, "ps", "--all", "--quiet", "--filter", "label="+label+dir)
		return strings.Fields(out), err
	}
	ids, err := list()
	if err != nil || len(ids) == 0 {
		return err
	}
	_, err = Output(context.Background(), runtime, append([]string{"rm", "--force", "--volumes"}, ids...)...)
	if ids, lerr := list(); lerr == nil && len(ids) == 0 {
		return nil // the runtime may have removed them at the same time
	}
	return err
}
