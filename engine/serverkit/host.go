package serverkit

import (
	"context"
	"net"
	"path/filepath"
	"sync"

	"rumbench/internal/server"
)

// Host is where a server runs, as far as that can be seen from here: the first
// connection to it leads to its process.
type Host struct {
	programs []string // what its process may be called
	mark     string   // a pattern of files that its data directory has

	mu     sync.Mutex
	looked bool
	pid    int    // its first process, of which all others descend; 0: not known
	why    string // it is not known
	dir    string // its data; "": not known
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
		h.look(conn)
	}
	return conn, err
}

func (h *Host) look(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.looked {
		return
	}
	h.looked = true
	pid, err := server.Peer(conn, h.programs...)
	if err != nil {
		h.why = err.Error()
		return
	}
	h.pid, h.dir = pid, server.WorkDir(pid)
	if marks, _ := filepath.Glob(filepath.Join(h.dir, h.mark)); len(marks) == 0 {
		h.dir = "" // it works elsewhere
	}
}

// Processes returns the server's, or why they are not known.
func (h *Host) Processes() (pids []int, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pid == 0 {
		return nil, h.why
	}
	return []int{h.pid}, ""
}

// DataDir is where the server keeps its data, "" if that is not known.
func (h *Host) DataDir() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dir
}
