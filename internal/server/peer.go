package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ErrElsewhere means that the other end of a connection is not a process that is
// visible on this host.
var ErrElsewhere = errors.New("the server's process is not visible on this host")

// Proxy is the process at the other end of a connection, if that is no server: a proxy, or a tunnel.
type Proxy struct {
	PID  int
	Name string
}

func (p *Proxy) Error() string {
	return fmt.Sprintf("%v: the peer, process %d, is %s", ErrElsewhere, p.PID, p.Name)
}

func (p *Proxy) Unwrap() error { return ErrElsewhere }

// Peer returns the process that listens at the other end of a connection, if it
// is visible on this host. Its name must contain one of names: a proxy or tunnel
// may listen there for a remote server.
func Peer(c net.Conn, names ...string) (pid int, err error) {
	switch c := c.(type) {
	case *net.UnixConn:
		pid, err = socketPeer(c)
	case *net.TCPConn:
		pid, err = listener(c.RemoteAddr().(*net.TCPAddr))
	default:
		return 0, fmt.Errorf("%w: the connection is a %T", ErrElsewhere, c)
	}
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return 0, fmt.Errorf("%w: there is no process %d", ErrElsewhere, pid)
	}
	name := command(pid)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(name, n) }) {
		return 0, &Proxy{PID: pid, Name: name}
	}
	return pid, nil
}

// socketPeer returns the process that listens on a unix socket.
func socketPeer(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := cmp.Or(err, failed); err != nil {
		return 0, err
	}
	if cred.Pid <= 0 {
		return 0, fmt.Errorf("%w: it is in a container", ErrElsewhere)
	}
	return int(cred.Pid), nil
}

// isOwn reports whether an address is one of this host's network interfaces.
func isOwn(ip net.IP) bool {
	addrs, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addrs, func(a net.Addr) bool {
		own, ok := a.(*net.IPNet)
		return ok && own.IP.Equal(ip)
	})
}

// listener returns the process that listens on a port of this host.
func listener(at *net.TCPAddr) (int, error) {
	if !at.IP.IsLoopback() && !isOwn(at.IP) {
		return 0, fmt.Errorf("%w: its address is %v", ErrElsewhere, at.IP)
	}
	socket, err := listening(at)
	if err != nil {
		return 0, err
	}
	owners := map[int]bool{}
	for _, p := range processes() {
		if open, err := p.FileDescriptorTargets(); err == nil && slices.Contains(open, socket) {
			owners[p.PID] = true
		}
	}
	for pid := range owners {
		if !owners[parent(pid)] { // children may have inherited the socket
			return pid, nil
		}
	}
	return 0, fmt.Errorf("%w: no accessible process listens on port %d; root can access all", ErrElsewhere, at.Port)
}

// listening returns the socket that listens on an address, or on all of the
// host, as /proc/PID/fd names it.
func listening(at *net.TCPAddr) (string, error) {
	const listenState = 0x0A
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return "", err
	}
	for _, table := range []func() (procfs.NetTCP, error){proc.NetTCP, proc.NetTCP6} {
		sockets, _ := table() // the host may have no IPv6
		for _, s := range sockets {
			here := s.LocalAddr.Equal(at.IP) || s.LocalAddr.IsUnspecified()
			if here && s.St == listenState && s.LocalPort == uint64(at.Port) {
				return fmt.Sprintf("socket:[%d]", s.Inode), nil
			}
		}
	}
	return "", fmt.Errorf("%w: nothing listens on port %d of this host", ErrElsewhere, at.Port)
}

// WorkDir returns the working directory of a process, "" if it is not accessible
// or has another name here: the process may be in a container. The working
// directory of database servers is their data directory.
func WorkDir(pid int) string {
	link := fmt.Sprintf("/proc/%d/cwd", pid)
	dir, err := os.Readlink(link)
	if err != nil {
		return ""
	}
	there, err1 := os.Stat(link + "/.")
	here, err2 := os.Stat(dir)
	if err1 != nil || err2 != nil || !os.SameFile(there, here) {
		return ""
	}
	return dir
}
