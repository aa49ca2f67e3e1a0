package server

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrElsewhere says that the other end of a connection is no process that can
// be seen from here.
var ErrElsewhere = errors.New("the server's process cannot be seen from here")

// Peer finds the process that listens at the other end of a connection, if it
// is on this host and may be seen. Its name must hold one of the names given: a
// proxy or a tunnel may listen there for a server that is elsewhere.
func Peer(c net.Conn, names ...string) (pid int, err error) {
	switch c := c.(type) {
	case *net.UnixConn:
		pid, err = socketPeer(c)
	case *net.TCPConn:
		pid, err = listener(c.RemoteAddr().(*net.TCPAddr))
	default:
		return 0, fmt.Errorf("%w: it is connected by a %T", ErrElsewhere, c)
	}
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
		return 0, fmt.Errorf("%w: there is no process %d", ErrElsewhere, pid)
	}
	name := command(pid)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(name, n) }) {
		return 0, fmt.Errorf("%w: process %d, which was connected to, is a %s", ErrElsewhere, pid, name)
	}
	return pid, nil
}

// socketPeer asks the kernel who has made a unix socket listen.
func socketPeer(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
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

// listener finds the process that listens on a port of this host.
func listener(at *net.TCPAddr) (int, error) {
	if !at.IP.IsLoopback() {
		return 0, fmt.Errorf("%w: it is reached at %v", ErrElsewhere, at.IP)
	}
	socket, err := listening(at)
	if err != nil {
		return 0, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, err
	}
	owners := map[int]bool{}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == socket {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			owners[pid] = true
		}
	}
	for pid := range owners {
		if !owners[parent(pid)] { // children may have inherited the socket
			return pid, nil
		}
	}
	return 0, fmt.Errorf("%w: no process that may be looked at listens on port %d; root may look at all", ErrElsewhere, at.Port)
}

// listening finds the socket that listens at an address or at all of the host,
// as links to it read.
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

// hexAddress writes an address as /proc/net/tcp does: in words of four bytes,
// each in the order of this machine.
func hexAddress(ip net.IP) string {
	var b strings.Builder
	for word := range slices.Chunk([]byte(ip), 4) {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(word))
	}
	return b.String()
}

func parent(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

// WorkDir returns the directory that a process works in, "" if that may not be seen,
// or has another name here: the process may be in a container. Database servers
// work in their data directory.
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
