package postgres

import (
	"errors"
	"io"
	"net"
	"syscall"
	"unsafe"
)

// stream is the bytes of a connection, for protocols of questions and answers.
// A socket's question is sent when the wait for its answer has been announced to
// Go's poller, and is then waited for at once: trying to read first, as a
// net.Conn does, is a call to the system for nothing; and one call of the poller
// finds the answers of all connections that have one.
type stream struct {
	conn     net.Conn
	raw      syscall.RawConn // nil: conn is no socket of the kernel's
	step     func(fd uintptr) bool
	out      []byte // still to be sent
	in       []byte // to be read into
	n        int    // bytes read
	err      error
	buf      []byte // what was read: the bytes from..to are still to be taken
	from, to int
}

// usual is the size of a buffer that no answer has been too long for.
const usual = 16 << 10

func newStream(conn net.Conn) *stream {
	s := &stream{conn: conn, buf: make([]byte, usual)}
	s.step = s.exchange // made once: a method value allocates
	switch conn := conn.(type) {
	case *net.UnixConn:
		s.raw, _ = conn.SyscallConn()
	case *net.TCPConn:
		s.raw, _ = conn.SyscallConn()
	}
	return s
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
	if s.raw == nil {
		if err := s.send(); err != nil {
			return 0, err
		}
		return s.conn.Read(b)
	}
	s.in, s.n, s.err = b, 0, nil
	for {
		if err := s.raw.Read(s.step); err != nil {
			return 0, err
		}
		if s.n > 0 || s.err != nil {
			return s.n, s.err
		}
		if err := s.send(); err != nil { // the socket did not take all at once
			return 0, err
		}
	}
}

func (s *stream) send() (err error) {
	if len(s.out) > 0 {
		_, err = s.conn.Write(s.out)
		s.out = nil
	}
	return err
}

// exchange is called when the poller has been readied, and then whenever there
// is something to read. It returns whether it need not be called again.
func (s *stream) exchange(fd uintptr) bool {
	if len(s.out) > 0 {
		n, err := call(syscall.SYS_WRITE, fd, s.out)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
			return true
		case err != 0:
			s.out, s.err = nil, err // the server may have said why
		case n < len(s.out):
			s.out = s.out[n:]
			return true
		default:
			s.out = nil
			return false // the answer takes its time
		}
	}
	for {
		n, err := call(syscall.SYS_READ, fd, s.in)
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

// call reads or writes a socket that does not block. The scheduler is not told of
// it: it would wake its watcher for every call of a process that was at rest.
func call(number, fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, err := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), 0
}

// Break ends the stream: who waits for an answer gets an error.
func (s *stream) Break() { _ = s.conn.Close() }

// Close ends the connection.
func (s *stream) Close() error {
	err := s.conn.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
