package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"rumbench/engine/wire"
	"rumbench/internal/expect"
)

// pair returns a Conn connected to a net.Conn over a kind of network.
func pair(t testing.TB, network string) (*wire.Conn, net.Conn) {
	t.Helper()
	here, there := connect(t, network)
	c, err := wire.Take(here)
	expect.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c, there
}

func connect(t testing.TB, network string) (here, there net.Conn) {
	t.Helper()
	if network == "pipe" {
		here, there = net.Pipe()
	} else {
		at := "127.0.0.1:0"
		if network == "unix" {
			at = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, at)
		expect.NoError(t, err)
		defer l.Close()
		here, err = net.Dial(network, l.Addr().String())
		expect.NoError(t, err)
		there, err = l.Accept()
		expect.NoError(t, err)
	}
	t.Cleanup(func() { there.Close() })
	return here, there
}

var networks = []string{"unix", "tcp", "pipe"}

// The stream does not depend on the sizes of writes and reads.
func TestStream(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			c, there := pair(t, network)
			sent := make([]byte, 80<<10)
			for i := range sent {
				sent[i] = byte(i * 7 / 3)
			}
			go func() {
				for b := sent; len(b) > 0; {
					n := min(len(b), 1+len(b)%997)
					there.Write(b[:n])
					b = b[n:]
				}
				there.Close()
			}()
			var got []byte
			for n := 1; len(got) < len(sent); n = n*3 + 1 {
				n = min(n, len(sent)-len(got))
				b, err := c.Peek(n)
				expect.NoError(t, err)
				again, err := c.Peek(n)
				expect.NoError(t, err)
				expect.Must(t, bytes.Equal(b, again) && len(b) == n, n, "bytes differ when peeked at again")
				got = append(got, b...)
				c.Skip(n)
			}
			expect.True(t, bytes.Equal(got, sent), "the stream read differs from the one written")
			if _, err := c.Peek(1); err != io.EOF {
				t.Errorf("the end is %v", err)
			}
		})
	}
}

// Send sends more than the kernel accepts at once.
func TestSend(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			c, there := pair(t, network)
			sent := bytes.Repeat([]byte("0123456789"), 1<<19)
			var got []byte
			var read sync.WaitGroup
			read.Go(func() { got, _ = io.ReadAll(iotest.HalfReader(there)) })
			expect.NoError(t, c.Send(sent))
			expect.NoError(t, c.Close())
			read.Wait()
			expect.True(t, bytes.Equal(got, sent), len(got), "bytes were read of", len(sent))
		})
	}
}

// A request that the kernel does not accept at once gets its response while it is
// being sent, longer than the kernel buffers; and the next request is not mixed
// up with its rest.
func TestAskLong(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			c, there := pair(t, network)
			request := bytes.Repeat([]byte("0123456789"), 1<<20)
			response := bytes.Repeat([]byte("abcdefg"), 1<<20)
			var got []byte
			var served sync.WaitGroup
			served.Go(func() {
				there.Write(response) // before it reads
				got, _ = io.ReadAll(io.LimitReader(there, int64(2*len(request))))
				there.Write([]byte("end"))
			})
			c.Ask(request)
			for rest := response; len(rest) > 0; {
				b, err := c.Peek(min(len(rest), 1<<10))
				expect.NoError(t, err)
				expect.Must(t, bytes.HasPrefix(rest, b), "the response read differs from the one written")
				rest = rest[len(b):]
				c.Skip(len(b))
			}
			c.Ask(request)
			b, err := c.Peek(3)
			expect.NoError(t, err)
			expect.Equal(t, string(b), "end", "the second response is", b)
			served.Wait()
			expect.True(t, bytes.Equal(got, append(request, request...)),
				len(got), "bytes arrived of", 2*len(request))
		})
	}
}

// What the other end sends before it hangs up is read, however much of the
// request it leaves unread.
func TestHungUp(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		c, there := pair(t, network)
		go func() {
			io.ReadFull(there, make([]byte, 4))
			there.Write([]byte("no"))
			there.Close()
		}()
		c.Ask(make([]byte, 32<<20))
		b, err := c.Peek(2)
		expect.NoError(t, err)
		expect.Equal(t, string(b), "no", network, "the other end sent", b)
		c.Skip(2)
		for range 2 {
			c.Ask([]byte("again"))
			expect.Refused(c.Peek(1))(t, "", network, "a response came from nowhere")
		}
	}
}

func TestEnd(t *testing.T) {
	for _, network := range networks {
		c, there := pair(t, network)
		go func() {
			there.Write([]byte("abc"))
			there.Close()
		}()
		if _, err := c.Peek(4); err != io.ErrUnexpectedEOF {
			t.Errorf("%s: the end within four bytes is %v", network, err)
		}
		expect.NoError(t, c.Close())
		expect.NoError(t, c.Close())
		c.Break() // does nothing any more
	}
}

// Break ends a wait.
func TestBreak(t *testing.T) {
	for _, network := range networks {
		c, _ := pair(t, network)
		failed := make(chan error)
		go func() {
			_, err := c.Peek(1)
			failed <- err
		}()
		c.Break()
		expect.Error(t, <-failed, "", network, "a broken connection was read")
		if network != "pipe" {
			expect.Error(t, c.Send([]byte("x")), "", network, "a broken connection was written")
		}
	}
}

// Many connections are served concurrently, each by its own goroutine.
func TestMany(t *testing.T) {
	var served sync.WaitGroup
	for i := range 64 {
		c, there := pair(t, networks[i%2])
		go io.Copy(there, there)
		served.Go(func() {
			for n := range 100 {
				request := bytes.Repeat([]byte{byte(i)}, 1+n*n)
				c.Ask(request)
				got, err := c.Peek(len(request))
				if err != nil || !bytes.Equal(got, request) {
					t.Errorf("connection %d responds %.10q, %v", i, got, err)
					return
				}
				c.Skip(len(request))
			}
		})
	}
	served.Wait()
}

// A closed connection cannot be taken.
func TestTakeClosed(t *testing.T) {
	here, _ := connect(t, "unix")
	expect.NoError(t, here.Close())
	if _, err := wire.Take(here); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed connection was taken: %v", err)
	}
}

// A connection that cannot be taken is closed, and nothing else.
func TestTakeFails(t *testing.T) {
	here, _ := connect(t, "unix")
	files := openFiles(t)
	var limit unix.Rlimit
	expect.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	free, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	expect.NoError(t, err)
	expect.NoError(t, unix.Close(free))
	expect.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(free), Max: limit.Max}))
	_, err = wire.Take(here)
	expect.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	expect.True(t, errors.Is(err, unix.EMFILE), "without a free descriptor", err)
	expect.Equal(t, openFiles(t), files-1, "descriptors are open where", files, "were")
	if _, err := unix.FcntlInt(0, unix.F_GETFD, 0); err != nil {
		t.Errorf("descriptor 0: %v", err)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	expect.NoError(t, err)
	return len(files)
}
