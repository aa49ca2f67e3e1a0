// Package wire is a stream of bytes over a connected socket, for protocols of
// questions and answers. A read waits in the kernel, on the client's own
// thread, as it does in clients that are written in C: Go's poller takes more
// calls to the system and a hand-over between threads for the same. With many
// connections it is the better way all the same, and is then taken; see crowd.
//
// It knows no protocol, encrypts nothing and follows no context: who wants to
// stop a read calls Break from elsewhere.
package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is one end of a connection. One goroutine at a time reads, writes and
// closes it; Break may be called by any.
type Conn struct {
	conn     net.Conn       // how it is read where Go's poller waits; nil: by poll
	poll     [1]unix.PollFd // the socket, which does not block
	counted  bool           // among the threads
	yielded  time.Duration  // when the goroutine last let others run
	buf      []byte         // what was read: the bytes from..to are still to be taken
	from, to int

	mu     sync.Mutex // between Break, Close and leave
	closed bool
}

// usual is the size of a buffer that no answer has been too long for.
const usual = 16 << 10

// Take makes a Conn of a connection, which must not be used any more, not even
// to be closed. A connection that is no socket of the kernel's, such as an
// encrypted one, is used as it is.
func Take(conn net.Conn) (*Conn, error) {
	c := &Conn{conn: conn, buf: make([]byte, usual)}
	switch conn.(type) {
	case *net.UnixConn, *net.TCPConn:
	default:
		return c, nil
	}
	c.counted = true
	threads.enter()
	if threads.crowded() {
		return c, nil
	}
	if err := c.take(conn.(syscall.Conn)); err != nil {
		return nil, fmt.Errorf("take the socket: %w", errors.Join(err, c.Close()))
	}
	// While Go's poller knows the socket, every answer wakes the thread that polls.
	return c, conn.Close()
}

// take makes a descriptor of its own for the socket.
func (c *Conn) take(conn syscall.Conn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	var dup error
	err = raw.Control(func(socket uintptr) { fd, dup = unix.FcntlInt(socket, unix.F_DUPFD_CLOEXEC, 0) })
	if err := errors.Join(err, dup); err != nil {
		return err
	}
	c.conn, c.poll[0].Fd = nil, int32(fd)
	return nil
}

// leave has Go's poller wait from now on. The process has grown a crowd.
func (c *Conn) leave() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := os.NewFile(uintptr(c.poll[0].Fd), "socket")
	conn, err := net.FileConn(f) // with a descriptor of its own
	if err != nil {
		return fmt.Errorf("give the socket to the poller: %w", err)
	}
	c.conn = conn
	return f.Close()
}

// Write writes all of b.
func (c *Conn) Write(b []byte) error {
	if c.conn != nil {
		_, err := c.conn.Write(b)
		return err
	}
	for len(b) > 0 {
		n, err := syscall.Write(int(c.poll[0].Fd), b)
		switch err {
		case nil:
			b = b[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			if err := c.wait(unix.POLLOUT); err != nil {
				return err
			}
		default:
			return os.NewSyscallError("write", err)
		}
	}
	return nil
}

// Peek returns the next n bytes of the stream, and waits for them. They are
// valid until the next Peek. A stream that ends before the first of them is
// io.EOF; within them, io.ErrUnexpectedEOF.
func (c *Conn) Peek(n int) ([]byte, error) {
	if c.to-c.from < n {
		if err := c.fill(n); err != nil {
			return nil, err
		}
	}
	return c.buf[c.from : c.from+n], nil
}

// Skip passes over the next n bytes, which have been peeked at. They stay valid
// until the next Peek.
func (c *Conn) Skip(n int) { c.from += n }

// Buffered is the number of bytes that can be peeked at without waiting.
func (c *Conn) Buffered() int { return c.to - c.from }

// fill reads until n bytes are there.
func (c *Conn) fill(n int) error {
	if c.from == c.to {
		c.from, c.to = 0, 0
	}
	if c.from+n > len(c.buf) {
		old := c.buf
		if n > len(old) {
			c.buf = make([]byte, max(n, 2*len(old)))
		}
		c.to = copy(c.buf, old[c.from:c.to])
		c.from = 0
	}
	for c.to-c.from < n {
		got, err := c.read(c.buf[c.to:])
		c.to += got
		switch {
		case err == io.EOF && c.to > c.from:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// read reads at least one byte.
func (c *Conn) read(b []byte) (int, error) {
	if c.conn == nil && threads.crowded() {
		if err := c.leave(); err != nil {
			return 0, err
		}
	}
	if c.conn != nil {
		n, err := c.conn.Read(b)
		if n > 0 {
			err = nil // it comes again
		}
		return n, err
	}
	for {
		// The answer is never there yet, so waiting comes first. A read that
		// waited by itself would wake up in vain when the server takes the
		// question from a unix socket.
		if err := c.wait(unix.POLLIN); err != nil {
			return 0, err
		}
		n, err := syscall.Read(int(c.poll[0].Fd), b)
		switch {
		case err == syscall.EINTR, err == syscall.EAGAIN:
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// slice is how long a goroutine may go without passing through Go's scheduler.
// After ten milliseconds the scheduler takes its processor away at every call
// to the system, and asks for that every twenty microseconds.
const slice = 8 * time.Millisecond

var start = time.Now()

// wait waits until the socket can be read or written.
func (c *Conn) wait(events int16) error {
	if now := time.Since(start); now-c.yielded > slice {
		c.yielded = now
		runtime.Gosched()
	}
	c.poll[0].Events = events
	for {
		switch _, err := unix.Poll(c.poll[:], -1); err {
		case nil:
			return nil // if it is broken, reading or writing will tell
		case unix.EINTR:
		default:
			return os.NewSyscallError("poll", err)
		}
	}
}

// Break ends the stream in both directions: a read or write that waits, and all
// that follow, fail. Close is still to be called.
func (c *Conn) Break() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.conn != nil:
		_ = c.conn.Close()
	default:
		_ = unix.Shutdown(int(c.poll[0].Fd), unix.SHUT_RDWR) // it may have ended already
	}
}

// Close ends the connection. It does nothing the second time.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.counted {
		threads.leave()
	}
	if c.conn != nil {
		return c.conn.Close()
	}
	return os.NewSyscallError("close", unix.Close(int(c.poll[0].Fd)))
}
