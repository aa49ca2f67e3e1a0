package serverkit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/server"
)

// Host is where a server runs, as far as that is visible from here: Start starts a
// private one; for another, the first connection leads to its process.
type Host struct {
	Private *server.Server // nil: attached

	programs []string // possible names of its process
	mark     string   // a pattern of files that its data directory has

	empty map[engine.FileClass]int64 // written bytes before it held anything; nil: unknown

	mu      sync.Mutex
	looked  bool
	pid     int    // its first process, the ancestor of all others; 0: unknown
	reason  string // why it is unknown
	network string // of the first connection
	proxy   string // the program that it leads to in place of the server
	dir     string // its data; "": unknown
}

// NewHost returns the host of a server whose process has one of the names, and whose
// data directory holds a file that matches mark.
func NewHost(mark string, programs ...string) *Host { return &Host{programs: programs, mark: mark} }

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	if network == "unix" {
		return server.Dial(ctx, address)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Dial connects, and looks at the other end of the first connection.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := dial(ctx, network, address)
	if err == nil {
		h.look(conn, network)
	}
	return conn, err
}

func (h *Host) look(conn net.Conn, network string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.network = cmp.Or(h.network, network)
	if h.looked {
		return
	}
	h.looked = true
	pid, err := server.Peer(conn, h.programs...)
	if err != nil {
		var proxy *server.Proxy
		if h.reason = err.Error(); errors.As(err, &proxy) {
			h.proxy = proxy.Name
		}
		return
	}
	h.pid, h.dir = pid, server.WorkDir(pid)
	if marks, _ := fs.Glob(os.DirFS(h.dir), cmp.Or(h.mark, ".")); len(marks) == 0 {
		h.dir = "" // it works elsewhere
	}
}

// Processes returns the server's processes, or the reason why they are unknown.
func (h *Host) Processes() (pids []int, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid == 0 {
		return nil, h.reason
	}
	return []int{h.pid}, ""
}

// Kill kills a private server, as a crash would; an attached one is left alone.
func (h *Host) Kill() {
	if h.Private != nil {
		h.Private.Kill()
	}
}

// Endpoint returns where a private server listens.
func (h *Host) Endpoint() server.Endpoint { return h.Private.Endpoint() }

// DataDir returns the directory of the server's data, "" if it is unknown.
func (h *Host) DataDir() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dir
}

// Start starts a private server in the directory of the configuration.
func (h *Host) Start(ctx context.Context, s *Setup, ready func(context.Context, server.Endpoint) error) (err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	h.Private, err = server.Start(ctx, server.Config{
		Kind: s.Server.Kind, Source: s.source(), Dir: s.Dir, Log: s.Server.Log, Settings: s.Settings, Ready: ready,
		Started: s.Server.Started, Listen: s.Server.Listen,
	})
	if err == nil {
		h.looked, h.pid, h.dir = true, h.Private.PID(), h.Private.DataDir()
	}
	return err
}

// dyingTime is how long a server may take to be gone when its connections have broken.
const dyingTime = time.Second

// Blame adds to an error that the private server has died, if it has.
func (h *Host) Blame(err error) error {
	if h.Private != nil && engine.ClassOf(err) == engine.Gone {
		h.Private.Wait(dyingTime)
		if died := h.Died(); died != nil {
			return fmt.Errorf("%w: %w", died, err)
		}
	}
	return err
}

// Stop stops a private server. One that has died has caused the errors before.
func (h *Host) Stop(err error) error {
	switch {
	case h.Private == nil:
		return err
	case h.Died() != nil:
		return h.Private.Stop()
	}
	return errors.Join(err, h.Private.Stop())
}

// Died returns how a private server ended without being stopped.
func (h *Host) Died() error { return h.Private.Died() }

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
