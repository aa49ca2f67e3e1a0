// Package wire is a byte stream over a connected socket for request-response
// protocols, at a lower cost than a net.Conn: see docs/decisions/0007-client-cost.md.
//
// It knows no protocol and does no encryption. A wait ends when Break is called
// concurrently, as an Interrupter does.
package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Conn is one end of a connection. It is used by one goroutine at a time; only
// Break may be called concurrently.
//
// On a socket, a request is sent after the wait for its response has been
// registered with Go's poller, and the wait begins at once: trying a read first,
// as a net.Conn does, wastes a system call; and one call of the poller finds the
// responses of all connections.
//
// The poller does not watch the socket itself, which would also wake it when the
// server has read a request. It watches an epoll of readable events only.
type Conn struct {
	conn       net.Conn // set if it is not a kernel socket; else the fields below are used
	socket     int
	events     *os.File // an epoll of the socket's readable events
	waiting    syscall.RawConn
	step       func(uintptr) bool
	out        []byte // still to be sent
	begun      bool   // part of the request was sent
	in         []byte // the buffer of the read in progress
	n          int    // bytes read
	err        error
	buf        []byte // received; the bytes from..to are not yet consumed
	start, end int

	failed atomic.Bool // it was broken, or could not be read
	life
}

// life is guarded by its mutex: between Break and Close.
type life struct {
	mu     sync.Mutex
	closed bool
}

// bufferSize is the initial size of a buffer, which grows for longer responses.
const bufferSize = 16 << 10

// Take returns a Conn on a connection and takes it over, also if it fails: then
// the connection is closed. One that is not a kernel socket, such as an encrypted
// one, is used as it is.
func Take(conn net.Conn) (*Conn, error) {
	s := &Conn{conn: conn, socket: -1, buf: make([]byte, bufferSize)}
	s.step = s.exchange // made once: a method value allocates
	var err error
	switch conn := conn.(type) {
	case *net.UnixConn:
		err = s.take(conn)
	case *net.TCPConn:
		err = s.take(conn)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// take duplicates a socket and closes the original. If it fails, Close closes
// the files that it has opened.
func (s *Conn) take(conn interface {
	syscall.Conn
	io.Closer
}) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { s.socket, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(err, os.NewSyscallError("fcntl", failed)); err != nil {
		return err
	}
	s.conn = nil
	if err := conn.Close(); err != nil {
		return err
	}
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	err = errors.Join(unix.SetNonblock(set, true),
		unix.EpollCtl(set, unix.EPOLL_CTL_ADD, s.socket, &unix.EpollEvent{Events: unix.EPOLLIN}))
	s.events = os.NewFile(uintptr(set), "responses")
	if err != nil {
		return os.NewSyscallError("epoll", err)
	}
	s.waiting, err = s.events.SyscallConn()
	return err
}

// Ask queues request b, which is sent by the next Peek. It must not change until
// the response has arrived.
func (s *Conn) Ask(b []byte) { s.out, s.begun = b, false }

// Send sends b at once, for messages without a response.
func (s *Conn) Send(b []byte) error {
	if s.conn != nil {
		_, err := s.conn.Write(b)
		return err
	}
	for len(b) > 0 {
		n, err := s.call(syscall.SYS_WRITE, b)
		switch err {
		case 0:
			b = b[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			if err := s.poll(unix.POLLOUT); err != nil {
				return err
			}
		default:
			return os.NewSyscallError("write", err)
		}
	}
	return nil
}

// poll waits for the socket without Go's poller, for transfers so long that its
// cost does not matter.
func (s *Conn) poll(events int16) error {
	set := []unix.PollFd{{Fd: int32(s.socket), Events: events}}
	if _, err := unix.Poll(set, -1); err != nil && err != unix.EINTR {
		return os.NewSyscallError("poll", err)
	}
	return nil
}

// Peek waits for the next n bytes and returns them. They are valid until the next
// Peek.
func (s *Conn) Peek(n int) ([]byte, error) {
	if s.end-s.start < n {
		if err := s.fill(n); err != nil {
			return nil, err
		}
	}
	return s.buf[s.start : s.start+n], nil
}

// Skip consumes the next n bytes, which Peek has returned. They stay valid until
// the next Peek.
func (s *Conn) Skip(n int) { s.start += n }

func (s *Conn) fill(n int) error {
	if s.start == s.end {
		s.start, s.end = 0, 0
	}
	// A response may begin before its request has been sent completely.
	for s.end-s.start < n || len(s.out) > 0 {
		s.grow(max(n, s.end-s.start+1))
		got, err := s.read(s.buf[s.end:])
		s.end += got
		switch {
		case got > 0 || err == nil:
		case s.end-s.start >= n: // the server responded before it hung up
			s.out = nil
		case err == io.EOF && s.end > s.start:
			return io.ErrUnexpectedEOF
		default:
			s.failed.Store(true)
			return err
		}
	}
	return nil
}

// grow makes room for n bytes from the first one that is not consumed.
func (s *Conn) grow(n int) {
	if s.start+n <= len(s.buf) {
		return
	}
	old := s.buf
	if n > len(old) {
		s.buf = make([]byte, max(n, 2*len(old)))
	}
	s.end = copy(s.buf, old[s.start:s.end])
	s.start = 0
}

// read sends the queued data and reads at least one byte; or none, when it has
// sent the end of a long request whose response may have been read already.
func (s *Conn) read(b []byte) (int, error) {
	if s.conn != nil {
		if len(s.out) > 0 {
			_, err := s.conn.Write(s.out)
			if s.out = nil; err != nil {
				return 0, err
			}
		}
		return s.conn.Read(b)
	}
	s.in, s.n, s.err = b, 0, nil
	for {
		if err := s.waiting.Read(s.step); err != nil {
			return 0, err
		}
		if s.n > 0 || s.err != nil || len(s.out) == 0 {
			return s.n, s.err
		}
		// The socket did not accept everything. A server that responds
		// concurrently may accept no more until its response is read.
		if err := s.poll(unix.POLLIN | unix.POLLOUT); err != nil {
			return 0, err
		}
	}
}

// exchange is called once the wait is registered with the poller, and then
// whenever there is something to read. It returns whether it is done.
func (s *Conn) exchange(uintptr) bool {
	long := s.begun
	if len(s.out) > 0 {
		n, err := s.call(syscall.SYS_WRITE, s.out)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
		case err != 0:
			s.out, s.err = nil, err // the server may have sent the reason
		default:
			s.out = s.out[n:]
		}
		s.begun = len(s.out) > 0
		if !long && !s.begun && s.err == nil {
			return false // wait for the response
		}
		// There may be a response that the poller reported before.
	}
	for {
		n, err := s.call(syscall.SYS_READ, s.in)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return s.err != nil || long || s.begun
		case err != 0:
			s.err = err
		case n == 0:
			s.err = io.EOF
		}
		s.n = n
		return true
	}
}

// call reads or writes the non-blocking socket. It bypasses the scheduler, which
// would wake its monitor thread for every call of an idle process.
func (s *Conn) call(number uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(number, uintptr(s.socket), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), 0
}

// Break shuts the stream down in both directions, so that a wait fails. It may be
// called concurrently.
func (s *Conn) Break() {
	s.failed.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case s.conn != nil:
		_ = s.conn.Close()
	default:
		_ = unix.Shutdown(s.socket, unix.SHUT_RDWR) // it may have ended already
	}
}

// Ended reports whether the other end has ended the connection while no operation needed it:
// none has failed by it. It sends nothing.
func (s *Conn) Ended() bool {
	if s.failed.Load() {
		return false
	}
	if s.conn != nil {
		return Ended(s.conn)
	}
	return hungUp(s.socket)
}

// Ended reports whether the other end of a connection has ended it.
func Ended(conn net.Conn) (ended bool) {
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok { // an encrypted one
		conn = inner.NetConn()
	}
	if socket, ok := conn.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { ended = hungUp(int(fd)) }) // one that was closed is no longer idle
		}
	}
	return ended
}

func hungUp(socket int) bool {
	set := []unix.PollFd{{Fd: int32(socket), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0
}

// Close closes the connection. Closing again does nothing.
func (s *Conn) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.conn != nil {
		if err := s.conn.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
	var err error
	if s.events != nil {
		err = s.events.Close()
	}
	return errors.Join(err, os.NewSyscallError("close", unix.Close(s.socket)))
}
