package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pair connects a Conn with a plain connection over a kind of network.
func pair(t testing.TB, network string) (*Conn, net.Conn) {
	t.Helper()
	here, there := connect(t, network)
	c, err := Take(here)
	must(t, err)
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
		must(t, err)
		defer l.Close()
		here, err = net.Dial(network, l.Addr().String())
		must(t, err)
		there, err = l.Accept()
		must(t, err)
	}
	t.Cleanup(func() { there.Close() })
	return here, there
}

var networks = []string{"unix", "tcp", "pipe"}

// What is sent in pieces of any size is read in pieces of any other.
func TestStream(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			c, there := pair(t, network)
			sent := make([]byte, 5*usual)
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
				must(t, err)
				again, err := c.Peek(n)
				must(t, err)
				if !bytes.Equal(b, again) || len(b) != n {
					t.Fatalf("%d bytes were peeked at twice and are not the same", n)
				}
				got = append(got, b...)
				c.Skip(n)
			}
			if !bytes.Equal(got, sent) {
				t.Error("another stream was read than was written")
			}
			if _, err := c.Peek(1); err != io.EOF {
				t.Errorf("the end is %v", err)
			}
		})
	}
}

// More is written than the kernel takes at once.
func TestWrite(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			c, there := pair(t, network)
			sent := bytes.Repeat([]byte("0123456789"), 1<<19)
			var got []byte
			var read sync.WaitGroup
			read.Go(func() { got, _ = io.ReadAll(iotest.HalfReader(there)) })
			must(t, c.Write(sent))
			must(t, c.Close())
			read.Wait()
			if !bytes.Equal(got, sent) {
				t.Errorf("%d bytes were read of %d", len(got), len(sent))
			}
		})
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
		must(t, c.Close())
		must(t, c.Close())
		c.Break() // does nothing any more
	}
}

// Break wakes who waits.
func TestBreak(t *testing.T) {
	for _, network := range networks {
		c, _ := pair(t, network)
		failed := make(chan error)
		go func() {
			_, err := c.Peek(1)
			failed <- err
		}()
		c.Break()
		if err := <-failed; err == nil {
			t.Errorf("%s: a broken connection was read", network)
		}
		if network != "pipe" {
			if err := c.Write([]byte("x")); err == nil {
				t.Errorf("%s: a broken connection was written", network)
			}
		}
	}
}

// With many connections all leave their threads to the poller, and GOMAXPROCS
// is what it was.
func TestCrowd(t *testing.T) {
	base := runtime.GOMAXPROCS(0)
	var conns []*Conn
	var theirs []net.Conn
	answer := func() {
		t.Helper()
		for i, c := range conns {
			must(t, c.Write([]byte{'?'}))
			var b [1]byte
			if _, err := io.ReadFull(theirs[i], b[:]); err != nil {
				t.Fatal(err)
			}
			if _, err := theirs[i].Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			got, err := c.Peek(1)
			must(t, err)
			if got[0] != byte(i) {
				t.Fatalf("connection %d answers %d", i, got[0])
			}
			c.Skip(1)
		}
	}
	for range most {
		c, there := pair(t, "unix")
		conns, theirs = append(conns, c), append(theirs, there)
	}
	if n := runtime.GOMAXPROCS(0); n < base+most {
		t.Errorf("GOMAXPROCS is %d with %d connections, and %d without", n, most, base)
	}
	answer()
	for _, c := range conns {
		if c.conn != nil {
			t.Fatal("a connection of few does not wait by itself")
		}
	}
	c, there := pair(t, "unix")
	conns, theirs = append(conns, c), append(theirs, there)
	answer()
	for _, c := range conns {
		if c.conn == nil {
			t.Fatal("a connection of many waits by itself")
		}
	}
	if n := runtime.GOMAXPROCS(0); n != base {
		t.Errorf("GOMAXPROCS is %d with many connections, and was %d", n, base)
	}
	for _, c := range conns {
		must(t, c.Close())
	}
	if n := runtime.GOMAXPROCS(0); n != base || threads.live.Load() != 0 {
		t.Errorf("GOMAXPROCS is %d with %d connections left, and was %d", n, threads.live.Load(), base)
	}
}

// What is no connection any more cannot be taken, and is not counted.
func TestTakeClosed(t *testing.T) {
	here, _ := connect(t, "unix")
	must(t, here.Close())
	if _, err := Take(here); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed connection was taken: %v", err)
	}
	if n := threads.live.Load(); n != 0 {
		t.Errorf("%d connections are counted", n)
	}
}

// A question and its answer take no memory.
func BenchmarkRoundTrip(b *testing.B) {
	for _, network := range []string{"unix", "tcp"} {
		b.Run(network, func(b *testing.B) {
			c, there := pair(b, network)
			go io.Copy(there, there)
			question := make([]byte, 30)
			b.ReportAllocs()
			for b.Loop() {
				must(b, c.Write(question))
				_, err := c.Peek(len(question))
				must(b, err)
				c.Skip(len(question))
			}
		})
	}
}
