// Package server runs database servers in private directories: it finds the
// installed program, creates a data directory, writes the configuration, starts
// the server as an unprivileged user on its own socket and port, waits until it
// answers, and stops or kills it. A server never outlives the process that
// started it.
//
// It speaks no database protocol and knows no settings but paths and ports:
// engines provide the settings, and the probe whether the server answers.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Setting is a line of a server's configuration. A later one overrides an
// earlier one of the same name.
type Setting struct{ Name, Value string }

// Config is a server to start.
type Config struct {
	Kind string // see Kinds
	Source
	// Dir is an existing private directory. Data is created in it, unless a
	// server of the kind was started there before.
	Dir string
	// Log is the file that the server's messages are appended to; "" is
	// server.log in Dir.
	Log      string
	Settings []Setting
	// Listen is the address that the port is on; "" is 127.0.0.1. Elsewhere a kind needs a password for it.
	Listen string
	// Ready does a round trip in the server's protocol. It is called until it
	// succeeds or the server dies.
	Ready func(context.Context, Endpoint) error
	// Started, if set, is called with the server's process as soon as it runs; an error ends it.
	Started func(pid int) error

	freePort func(address string) (int, error) // the function freePort, except in tests
}

// The paths below Dir.
func (c *Config) configFile() string   { return filepath.Join(c.Dir, c.Kind+".conf") }
func (c *Config) runDir() string       { return filepath.Join(c.Dir, "run") }
func (c *Config) tempDir() string      { return filepath.Join(c.Dir, "tmp") }
func (c *Config) passwordFile() string { return filepath.Join(c.runDir(), "password") }

// seen returns one of these paths as the server's programs get it: relative to their working
// directory, the data directory. Dir may be longer than the address of a socket can be, and hold
// characters that a configuration or a script misreads.
func (c *Config) seen(path string) string {
	rel, _ := filepath.Rel(c.DataDir(), path) // both are below Dir
	return rel
}

// DataDir returns the server's data directory.
func (c *Config) DataDir() string { return filepath.Join(c.Dir, "data") }

func (c *Config) sets(name string) bool {
	return slices.ContainsFunc(c.Settings, func(set Setting) bool { return set.Name == name })
}

// Endpoint is the address that a server listens on.
type Endpoint struct {
	Socket  string // path of the unix socket
	Address string // that the port is on
	Port    int
	User    string // the superuser
	// Password is required at the port. The socket requires none: only root and
	// the server's user can access it.
	Password string
}

// ThisMachine is the address that only this machine reaches.
const ThisMachine = "127.0.0.1"

// Server is a started server. It has a field per resource that it owns.
type Server struct {
	Config
	Program  Program
	endpoint Endpoint
	kind     *kind
	owner    *owner // nil: this process's own user
	log      *os.File
	since    int64 // the offset of this server's messages in the log
	created  bool  // the data was created by this start
	cmd      *exec.Cmd
	release  func() // called when cmd has ended
	pid      int    // the process, which a container's cmd is not

	done    chan struct{} // closed when the process has ended
	ended   error         // how it ended, valid when done is closed
	mu      sync.Mutex
	stopped bool // it was requested to end
}

// Created reports whether this start created the data, rather than an earlier one.
func (s *Server) Created() bool { return s.created }

// startTimeout is how long a server may take until it answers: long enough for
// the recovery of a large database.
const startTimeout = 10 * time.Minute

// poll is the interval between checks whether a server is ready or gone.
const poll = 20 * time.Millisecond

// Start starts a server and waits until it answers.
func Start(ctx context.Context, c Config) (*Server, error) {
	k, err := kindOf(c.Kind)
	if err != nil {
		return nil, err
	}
	c.Listen = cmp.Or(c.Listen, ThisMachine)
	if c.freePort == nil {
		c.freePort = freePort
	}
	if c.Listen != ThisMachine && !k.guarded {
		return nil, fmt.Errorf("a private %s has no password at its port: other machines cannot reach it", c.Kind)
	}
	s := &Server{Config: c, kind: k, done: make(chan struct{})}
	if s.Program, err = Find(ctx, c.Kind, c.Source); err != nil {
		return nil, err
	}
	// The kernel reports working directories without links.
	if s.Dir, err = filepath.EvalSymlinks(c.Dir); err != nil {
		return nil, fmt.Errorf("read the data directory: %w", err)
	}
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		if err := s.openLog(); err != nil {
			return nil, err
		}
		err := s.begin(ctx)
		if err == nil {
			return s, nil
		}
		s.log.Close()
		if tries == maxTries || !lostPort(s, err) {
			return nil, err
		}
		if err := s.configure(); err != nil {
			return nil, err
		}
		s.done, s.stopped = make(chan struct{}), false
	}
}

// maxTries is the number of attempts to start a server that finds its port
// taken: other programs may take a free port before the server does.
const maxTries = 5

// prepare creates the directories, the configuration and the server's data.
func (s *Server) prepare(ctx context.Context) (err error) {
	if s.owner, err = newOwner(s.kind.user); err != nil {
		return err
	}
	if err := s.owner.reaches(s.Dir); err != nil {
		return err
	}
	if err := waitGone(ctx, s.Dir); err != nil {
		return err
	}
	fresh, err := s.fresh()
	if err != nil {
		return err
	}
	for _, dir := range []string{s.runDir(), s.tempDir()} {
		if err := s.owner.makeDir(dir); err != nil {
			return err
		}
	}
	if err := s.configure(); err != nil {
		return err
	}
	if s.created = fresh; !fresh {
		return s.clear()
	}
	if err := create(ctx, s); err != nil {
		return fmt.Errorf("initialize the data directory of %s: %w", s.Kind, err)
	}
	return nil
}

// Prepare, unless nil, fills a server's data directory instead of run, which runs the command for it. Only tests set
// it, by servertest: a measured server's data is created for it.
var Prepare func(s *Server, command []string, run func() error) error

func create(ctx context.Context, s *Server) error {
	if err := s.owner.makeDir(s.DataDir()); err != nil || s.kind.create == nil {
		return err
	}
	command, err := s.kind.create(s)
	if err != nil || command == nil {
		return err
	}
	run := func() error { return s.run(ctx, command) }
	if Prepare == nil || s.Program.Image != nil {
		return run()
	}
	if err := Prepare(s, command, run); err != nil {
		return err
	}
	return s.configure() // with the password of what was prepared
}

// configure chooses where the server listens and writes its configuration.
func (s *Server) configure() (err error) {
	if s.endpoint, err = s.newEndpoint(); err != nil {
		return err
	}
	if s.endpoint.Password, err = s.password(); err != nil {
		return err
	}
	if err := s.kind.configure(s); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// clear removes the remains of a killed server.
func (s *Server) clear() error {
	if s.kind.leftovers == nil {
		return nil
	}
	return s.kind.leftovers(s)
}

// fresh reports whether the data is still to be created. A directory that holds
// anything else is refused.
func (s *Server) fresh() (bool, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return false, fmt.Errorf("read the data directory: %w", err)
	}
	if len(entries) == 0 {
		return true, nil
	}
	if _, err := os.Stat(s.configFile()); err != nil {
		return false, fmt.Errorf("%s is not a directory of server %s: it holds %s, and no %s", s.Dir, s.Kind,
			entries[0].Name(), filepath.Base(s.configFile()))
	}
	if _, err := os.Stat(s.DataDir()); err != nil {
		return true, nil // an earlier start failed before it
	}
	return false, nil
}

// Endpoint returns where the server listens.
func (s *Server) Endpoint() Endpoint { return s.endpoint }

// PID returns the server's main process, the ancestor of all others.
func (s *Server) PID() int { return s.pid }

func (s *Server) openLog() (err error) {
	s.Log = cmp.Or(s.Log, filepath.Join(s.Dir, "server.log"))
	if s.log, err = os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	if s.since, err = s.log.Seek(0, io.SeekEnd); err != nil {
		s.log.Close()
	}
	return err
}

// begin starts the process and waits until the server answers.
func (s *Server) begin(ctx context.Context) error {
	var err error
	s.cmd, s.release, err = s.command(context.Background(), s.Program.Path, s.kind.arguments(s)...)
	if err != nil {
		return err
	}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr.Setsid = true // Ctrl-C must reach only rumbench, which stops the server
	if err := s.launch(); err != nil {
		s.release()
		return fmt.Errorf("start %s: %w", s.Program.Path, err)
	}
	s.pid = s.cmd.Process.Pid
	if s.Program.Image != nil {
		s.pid, err = s.findProcess(ctx)
	}
	if err == nil && s.Started != nil {
		err = s.Started(s.PID())
	}
	if err == nil {
		err = s.await(ctx)
	}
	if err != nil {
		s.Kill()
	}
	return err
}

// launch starts the process from a thread that lives as long as the server: the
// kernel kills the server when that thread ends, however this process dies.
func (s *Server) launch() error {
	s.cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		s.ended = s.cmd.Wait()
		if s.Program.Image != nil {
			s.ended = howEnded(s.ended)
		}
		s.release()
		close(s.done)
	}()
	return <-started
}

func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		err := s.Ready(ctx, s.endpoint)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return &DiedError{What: "start " + s.Program.Name(), How: s.ended, Messages: s.messages()}
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to answer: %w; the last error: %w", s.Program.Name(), ctx.Err(), err)
		case <-time.After(poll):
		}
	}
}

// Died returns how a server ended without being stopped; nil while it runs. A nil
// Server is one that this process has not started.
func (s *Server) Died() error {
	if s == nil {
		return nil
	}
	if s.Program.Image != nil && s.pid != 0 && !worksFor(s.pid, s.Dir) {
		s.Wait(containerTimeout) // its runtime reports later how it has ended
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		if s.stopped {
			return nil
		}
		return &DiedError{What: s.Program.Name() + " ended", How: s.ended, Messages: s.messages()}
	default:
		return nil
	}
}

// Wait waits for a server that may be dying to end.
func (s *Server) Wait(atMost time.Duration) {
	select {
	case <-s.done:
	case <-time.After(atMost):
	}
}

// stopTimeout is how long a server may take to stop: it may have to write all of
// its cache.
const stopTimeout = 10 * time.Minute

// Stop shuts the server down cleanly, so that it writes the data that it holds
// in memory. It is an error if the server has died, or has to be killed because
// it does not end in time.
func (s *Server) Stop() error {
	s.mu.Lock()
	again := s.stopped
	s.mu.Unlock()
	if again {
		return nil
	}
	if err := s.Died(); err != nil {
		s.Kill()
		return err
	}
	defer s.log.Close()
	if !s.signalUntilDone() {
		s.Kill()
		return fmt.Errorf("%s did not stop within %v and was killed", s.Program.Name(), stopTimeout)
	}
	waitGone(context.Background(), s.Dir)
	if _, failed := errors.AsType[*exec.ExitError](s.ended); failed {
		return &DiedError{What: "stop " + s.Program.Name(), How: s.ended, Messages: s.messages()}
	}
	return nil
}

// signalUntilDone sends the stop signal until the server has ended: one that has
// only just started may ignore it.
func (s *Server) signalUntilDone() bool {
	deadline := time.After(stopTimeout)
	for {
		s.signal(s.kind.stop)
		select {
		case <-s.done:
			return true
		case <-deadline:
			return false
		case <-time.After(time.Second):
		}
	}
}

// Kill kills the server and all of its processes, as a crash would, and waits
// until they are gone.
func (s *Server) Kill() {
	if s.pid == 0 { // a container that was not seen to run
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		_ = s.cmd.Cancel()
	}
	s.signal(syscall.SIGKILL)
	if s.Program.Image == nil { // the kernel ends all processes of a container
		for _, pid := range workers(s.Dir) { // they may outlive the first, for as long as a recovery takes
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-s.done
	waitGone(context.Background(), s.Dir)
	_ = s.clear()
	s.log.Close()
}

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	switch {
	case s.Program.Image == nil:
		_ = s.cmd.Process.Signal(sig) // it may have just ended
	case s.pid != 0 && worksFor(s.pid, s.Dir): // the PID may be another process's by now
		_ = syscall.Kill(s.pid, sig)
	}
}
