package server_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/server"
)

func TestPeer(t *testing.T) {
	for _, at := range [][2]string{{"unix", filepath.Join(t.TempDir(), "s")}, {"tcp", "127.0.0.1:0"}} {
		l, err := net.Listen(at[0], at[1])
		expect.NoError(t, err)
		defer l.Close()
		c, err := net.Dial(at[0], l.Addr().String())
		expect.NoError(t, err)
		defer c.Close()
		_, err = server.Peer(c, "mysqld")
		var proxy *server.Proxy
		expect.True(t, errors.Is(err, server.ErrElsewhere) && errors.As(err, &proxy) && proxy.Name == "server.test", at[0], err)
		if pid, err := server.Peer(c, "server.test"); err != nil || pid != os.Getpid() {
			t.Errorf("%s: process %d, %v; this is %d", at[0], pid, err, os.Getpid())
		}
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := server.Peer(a); !errors.Is(err, server.ErrElsewhere) {
		t.Error(err)
	}
}

func TestWorkDir(t *testing.T) {
	dir, err := os.Getwd()
	if got := server.WorkDir(os.Getpid()); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
}
