// Package wire is a stream of bytes over a connected socket, for protocols of
// questions and answers, at less cost than a net.Conn has: see
// docs/decisions/0014-wire.md.
//
// It knows no protocol and encrypts nothing. A wait ends when Break is called
// from elsewhere, as an Interrupter does.
package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn is one end of a connection. One goroutine at a time asks, peeks and
// closes it; Break may be called by any.
//
// A socket's question is sent when the wait for its answer has been announced to
// Go's poller, and is then waited for at once: trying to read first, as a
// net.Conn does, is a call to the system for nothing; and one call of the poller
// finds the answers of all connections that have one.
//
// The poller does not look at the socket itself, since that would also wake it
// when the server has taken a question. It looks at a set of events that holds
// the answers only.
type Conn struct {
	conn     net.Conn // no socket of the kernel's; nil: the others are used
	socket   int
	events   *os.File // an epoll of the socket's answers
	waiting  syscall.RawConn
	step     func(uintptr) bool
	out      []byte // still to be sent
	begun    bool   // some of it was
	in       []byte // to be read into
	n        int    // bytes read
	err      error
	buf      []byte // what was read: the bytes from..to are still to be taken
	from, to int

	mu     sync.Mutex // between Break and Close
	closed bool
}

// usual is the size of a buffer that no answer has been too long for.
const usual = 16 << 10

// Take makes a Conn of a connection, which must not be used any more: if it
// cannot be taken, it is closed. One that is no socket of the kernel's, such as
// an encrypted one, is used as it is.
func Take(conn net.Conn) (*Conn, error) {
	s := &Conn{conn: conn, socket: -1, buf: make([]byte, usual)}
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

// take takes a socket, and closes what it came by. What it has opened when it
// fails is closed by Close.
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
	err = errors.Join(unix.SetNonblock(set, true), unix.EpollCtl(set, unix.EPOLL_CTL_ADD, s.socket, &unix.EpollEvent{Events: unix.EPOLLIN}))
	s.events = os.NewFile(uintptr(set), "answers")
	if err != nil {
		return os.NewSyscallError("epoll", err)
	}
	s.waiting, err = s.events.SyscallConn()
	return err
}

// Ask has b be sent when its answer is waited for. It must stay as it is until
// the answer has come.
func (s *Conn) Ask(b []byte) { s.out, s.begun = b, false }

// Send sends b at once, for what has no answer.
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

// poll waits for the socket without Go's poller, for what is so long that the
// cost does not matter.
func (s *Conn) poll(events int16) error {
	set := []unix.PollFd{{Fd: int32(s.socket), Events: events}}
	if _, err := unix.Poll(set, -1); err != nil && err != unix.EINTR {
		return os.NewSyscallError("poll", err)
	}
	return nil
}

// Peek returns the next n bytes, and waits for them. They are valid until the
// next Peek.
func (s *Conn) Peek(n int) ([]byte, error) {
	if s.to-s.from < n {
		if err := s.fill(n); err != nil {
			return nil, err
		}
	}
	return s.buf[s.from : s.from+n], nil
}

// Skip passes over the next n bytes, which have been peeked at. They stay valid
// until the next Peek.
func (s *Conn) Skip(n int) { s.from += n }

func (s *Conn) fill(n int) error {
	if s.from == s.to {
		s.from, s.to = 0, 0
	}
	// An answer may begin before its question has been sent to the end.
	for s.to-s.from < n || len(s.out) > 0 {
		s.grow(max(n, s.to-s.from+1))
		got, err := s.read(s.buf[s.to:])
		s.to += got
		switch {
		case got > 0 || err == nil:
		case s.to-s.from >= n: // the server has answered before it hung up
			s.out = nil
		case err == io.EOF && s.to > s.from:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	return nil
}

// grow makes room for n bytes from the first one that is still to be taken.
func (s *Conn) grow(n int) {
	if s.from+n <= len(s.buf) {
		return
	}
	old := s.buf
	if n > len(old) {
		s.buf = make([]byte, max(n, 2*len(old)))
	}
	s.to = copy(s.buf, old[s.from:s.to])
	s.from = 0
}

// read sends what is to be sent, and reads at least one byte; or none, when it
// has sent the end of a long question whose answer may have been read already.
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
		// The socket did not take all at once. A server that answers meanwhile
		// may not take more before that is read.
		if err := s.poll(unix.POLLIN | unix.POLLOUT); err != nil {
			return 0, err
		}
	}
}

// exchange is called when the poller has been readied, and then whenever there
// is something to read. It returns whether it need not be called again.
func (s *Conn) exchange(uintptr) bool {
	long := s.begun
	if len(s.out) > 0 {
		n, err := s.call(syscall.SYS_WRITE, s.out)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
		case err != 0:
			s.out, s.err = nil, err // the server may have said why
		default:
			s.out = s.out[n:]
		}
		s.begun = len(s.out) > 0
		if !long && !s.begun && s.err == nil {
			return false // the answer takes its time
		}
		// There may be an answer that the poller tells of no more.
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

// call reads or writes the socket, which does not block. The scheduler is not
// told of it: it would wake its watcher for every call of a process that was at
// rest.
func (s *Conn) call(number uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(number, uintptr(s.socket), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), 0
}

// Break ends the stream in both directions: who waits gets an error. It may be
// called from anywhere.
func (s *Conn) Break() {
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

// Close ends the connection. It does nothing the second time.
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
