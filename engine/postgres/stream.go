package postgres

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

// stream is the bytes of a connection, for protocols of questions and answers.
//
// A socket's question is sent when the wait for its answer has been announced to
// Go's poller, and is then waited for at once: trying to read first, as a
// net.Conn does, is a call to the system for nothing; and one call of the poller
// finds the answers of all connections that have one.
//
// The poller does not look at the socket itself, since that would also wake it
// when the server has taken a question. It looks at a set of events that holds
// the answers only.
type stream struct {
	conn     net.Conn // no socket of the kernel's; nil: the others are used
	socket   int
	events   *os.File // an epoll of the socket's answers
	waiting  syscall.RawConn
	step     func(uintptr) bool
	out      []byte // still to be sent
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

// newStream takes a connection, which must not be used any more unless it is no
// socket of the kernel's.
func newStream(conn net.Conn) (*stream, error) {
	s := &stream{conn: conn, buf: make([]byte, usual)}
	s.step = s.exchange // made once: a method value allocates
	switch conn := conn.(type) {
	case *net.UnixConn:
		return s, s.take(conn)
	case *net.TCPConn:
		return s, s.take(conn)
	}
	return s, nil
}

// take takes a socket, and closes what it came by.
func (s *stream) take(conn interface {
	syscall.Conn
	io.Closer
}) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { s.socket, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(err, failed, conn.Close()); err != nil {
		return err
	}
	s.conn = nil
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

// Ask has b be sent when its answer is waited for. Until then it must stay.
func (s *stream) Ask(b []byte) { s.out = b }

// Peek returns the next n bytes, and waits for them. They are valid until the
// next Peek.
func (s *stream) Peek(n int) ([]byte, error) {
	if s.to-s.from < n {
		if err := s.fill(n); err != nil {
			return nil, err
		}
	}
	return s.buf[s.from : s.from+n], nil
}

// Skip passes over the next n bytes, which have been peeked at. They stay valid
// until the next Peek.
func (s *stream) Skip(n int) { s.from += n }

func (s *stream) fill(n int) error {
	if s.from == s.to {
		s.from, s.to = 0, 0
	}
	if s.from+n > len(s.buf) {
		old := s.buf
		if n > len(old) {
			s.buf = make([]byte, max(n, 2*len(old)))
		}
		s.to = copy(s.buf, old[s.from:s.to])
		s.from = 0
	}
	for s.to-s.from < n {
		got, err := s.read(s.buf[s.to:])
		s.to += got
		switch {
		case got > 0:
		case err == io.EOF && s.to > s.from:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// read sends what is to be sent, and reads at least one byte.
func (s *stream) read(b []byte) (int, error) {
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
		if s.n > 0 || s.err != nil {
			return s.n, s.err
		}
		// The socket did not take all at once.
		room := []unix.PollFd{{Fd: int32(s.socket), Events: unix.POLLOUT}}
		if _, err := unix.Poll(room, -1); err != nil && err != unix.EINTR {
			return 0, os.NewSyscallError("poll", err)
		}
	}
}

// exchange is called when the poller has been readied, and then whenever there
// is something to read. It returns whether it need not be called again.
func (s *stream) exchange(uintptr) bool {
	if len(s.out) > 0 {
		n, err := s.call(syscall.SYS_WRITE, s.out)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
			return true
		case err != 0:
			s.out, s.err = nil, err // the server may have said why
		case n < len(s.out):
			s.out = s.out[n:]
			return true // call again when there is room
		default:
			s.out = nil
			return false // the answer takes its time
		}
	}
	for {
		n, err := s.call(syscall.SYS_READ, s.in)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return s.err != nil
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
func (s *stream) call(number uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(number, uintptr(s.socket), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), 0
}

// look shows the connection as the net package has it.
func (s *stream) look(f func(net.Conn) error) error {
	if s.conn != nil {
		return f(s.conn)
	}
	fd, err := unix.FcntlInt(uintptr(s.socket), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	conn, err := net.FileConn(file) // which leaves the socket as it is: not blocking
	if err != nil {
		return err
	}
	defer conn.Close()
	return f(conn)
}

// Break ends the stream in both directions: who waits gets an error. It may be
// called from anywhere.
func (s *stream) Break() {
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
func (s *stream) Close() error {
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
