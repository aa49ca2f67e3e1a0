package enginetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/internal/server"
)

// PgBouncer starts PgBouncer in front of a PostgreSQL server until the test's end, and
// returns its port. mode is its pool_mode, settings are further lines of its configuration.
func PgBouncer(t testing.TB, at server.Endpoint, mode, settings string) (port int) {
	t.Helper()
	dir := need.TempDir(t)
	port = freePort(t)
	config := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
%s
`, at.Port, at.User, at.Password, port, mode, settings)
	args := []string{"-q", writeConfig(t, dir, "pgbouncer.ini", config)}
	if os.Geteuid() == 0 { // it does not run as root
		args = append(args, "-u", "postgres")
	}
	startProxy(t, port, "pgbouncer", args...)
	return port
}

// HAProxy starts HAProxy in front of a server's unix socket until the test's end, and
// returns its port. It ends connections that are silent for the timeout, such as "4s".
func HAProxy(t testing.TB, at server.Endpoint, timeout string) (port int) {
	t.Helper()
	dir := need.TempDir(t)
	port = freePort(t)
	config := fmt.Sprintf(`global
  maxconn 200
defaults
  mode tcp
  timeout connect 5s
  timeout client %s
  timeout server %s
listen server
  bind 127.0.0.1:%d
  server a unix@%s
`, timeout, timeout, port, at.Socket)
	startProxy(t, port, "haproxy", "-db", "-q", "-f", writeConfig(t, dir, "haproxy.cfg", config))
	return port
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func writeConfig(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	check(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// startProxy starts a program that scripts/setup.sh installs, and waits until it listens.
func startProxy(t testing.TB, port int, name string, args ...string) {
	t.Helper()
	path := "/usr/sbin/" + name
	_, err := os.Stat(path)
	need.Installed(t, err)
	cmd := exec.Command(path, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			check(t, c.Close())
			return
		}
		fatalIf(t, time.Now().After(end), "%s does not listen: %v", name, err)
	}
}

// Silent checks that a server which falls silent while a database is opened, after any
// number of answers, is an error and not waited for without end. dsn is a data source name
// for a port of this host.
func Silent(t *testing.T, e engine.Engine, c engine.Config, dsn func(port int) string) {
	t.Helper()
	s := Share(t, e, c)
	at := s.endpoint.Socket
	for _, answers := range []int64{0, 1, 2, 3, 4, 6, 8, 12, 16, 24} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			if answers > 0 {
				need.Long(t)
			}
			t.Parallel() // it waits
			port := falterAfter(t, at, answers)
			c := s.Config(c.Schema)
			c.Server.DSN = dsn(port)
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
			defer cancel()
			db, err := e.Open(ctx, c)
			switch {
			case ctx.Err() != nil:
				t.Errorf("after %d answers the server is waited for without end", answers)
			case err == nil: // it needs fewer answers
				_ = db.Close() // which cannot remove anything
			case engine.ClassOf(err) != engine.Gone:
				t.Errorf("after %d answers: %v, of class %s", answers, err, engine.ClassOf(err))
			}
		})
	}
}

// falterAfter passes connections on to a unix socket until the test's end. After a number of
// answers, of all connections, none is passed on any more.
func falterAfter(t *testing.T, socket string, answers int64) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	var left atomic.Int64
	left.Store(answers)
	var conns sync.WaitGroup
	done := make(chan struct{})
	pass := func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("unix", socket)
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close() // the client has left
		}()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if left.Add(-1) < 0 {
				<-done
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { pass(c) })
		}
	})
	t.Cleanup(func() {
		close(done)
		_ = l.Close()
		conns.Wait()
	})
	return l.Addr().(*net.TCPAddr).Port
}
