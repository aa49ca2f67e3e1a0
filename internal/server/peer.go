package server

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrElsewhere means that the other end of a connection is not a process that is
// visible on this host.
var ErrElsewhere = errors.New("the server's process is not visible on this host")

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
		return 0, fmt.Errorf("%w: the peer, process %d, is %s", ErrElsewhere, pid, name)
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
	var cerr error
	if err := raw.Control(func(fd uintptr) {
		cred,
			cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if cerr != nil {
		return 0, cerr
	}
	if cred.Pid <= 0 {
		return 0, fmt.Errorf("%w: it is in a container", ErrElsewhere)
	}
	return int(cred.Pid), nil
}

// isOwn reports whether an address is one of this host's network interfaces.
func isOwn(ip net.IP) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
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
	const (
		listenState = "0A"
		any4, any6  = "00000000", "00000000000000000000000000000000"
	)
	own, own4in6 := hexAddress(at.IP.To16()), ""
	if ip := at.IP.To4(); ip != nil {
		own, own4in6 = hexAddress(ip), hexAddress(at.IP.To16())
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		defer f.Close()
		for in := bufio.NewScanner(f); in.Scan(); {
			fields := strings.Fields(in.Text())
			if len(fields) < 10 || fields[3] != listenState {
				continue
			}
			address, port, _ := strings.Cut(fields[1], ":")
			if port == fmt.Sprintf("%04X", at.Port) && slices.Contains([]string{own, own4in6, any4, any6}, address) {
				return "socket:[" + fields[9] + "]", nil
			}
		}
	}
	return "", fmt.Errorf("%w: nothing listens on port %d of this host", ErrElsewhere, at.Port)
}

// hexAddress formats an address as /proc/net/tcp does: in words of four bytes,
// each in native byte order.
func hexAddress(ip net.IP) string {
	var b strings.Builder
	for word := range slices.Chunk([]byte(ip), 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	return b.String()
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
