package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"go.uber.org/goleak"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/quantity"
)

func init() {
	if os.Getenv("RUMBENCH_TEST_LEADER") != "" {
		runtime.LockOSThread() // in the first thread
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("RUMBENCH_TEST_LEADER") != "" { // the first thread ends, and the others until the input does
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	}
	if dir := os.Getenv("RUMBENCH_TEST_SERVER"); dir != "" {
		holdServer(dir)
	}
	goleak.VerifyTestMain(m)
}

// holdServer starts a server and waits to be killed.
func holdServer(dir string) {
	kind := os.Getenv("RUMBENCH_TEST_KIND")
	_, err := Start(context.Background(), Config{Kind: kind, Source: Source{Image: os.Getenv("RUMBENCH_TEST_IMAGE")}, Dir: dir,
		Ready: ready(kind, dir)})
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	os.Stdout.WriteString("ready\n")
	select {}
}

// ready reports whether a server accepts connections and can be killed.
func ready(kind, dir string) func(context.Context, Endpoint) error {
	return func(ctx context.Context, e Endpoint) error {
		if kind == Tarantool { // which listens before its first checkpoint
			if made, _ := fs.Glob(os.DirFS(dir), "*/*.snap"); made == nil {
				return errors.New("there is no checkpoint yet")
			}
		}
		return accepts(ctx, e)
	}
}

// accepts gets a byte from servers of both protocols: one greets, the other
// answers whether it can encrypt.
func accepts(ctx context.Context, e Endpoint) error {
	c, err := Dial(ctx, e.Socket)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

// installedKinds returns the installed kinds of servers; in CI all must be.
func installedKinds(t *testing.T) (kinds []string) {
	t.Helper()
	for _, k := range []string{MariaDB, Postgres, Tarantool} {
		if _, err := Find(t.Context(), k, Source{}); need.Found(t, err) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		need.Setup(t)
	}
	return kinds
}

func start(t *testing.T, c Config) *Server {
	t.Helper()
	if c.Dir == "" {
		c.Dir = need.TempDir(t)
	}
	if c.Ready == nil {
		c.Ready = ready(c.Kind, c.Dir)
	}
	s, err := Start(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { s.Stop() })
	return s
}

// A server whose port is taken before it has started gets another one.
func TestPortIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	defer taken.Close()
	for _, k := range installedKinds(t) {
		if k == Tarantool {
			continue // it has no port
		}
		asked := 0
		s := start(t, Config{Kind: k, freePort: func(address string) (int, error) {
			if asked++; asked <= 2 { // before the data is made, and after
				return taken.Addr().(*net.TCPAddr).Port, nil
			}
			return freePort(address)
		}})
		expect.True(t, asked == 3 && s.Died() == nil && s.created, k, asked, "ports were tried, died", s.Died())
	}
}

// A server is stopped and started on its data, dies by a kill from outside and is swept, and leaves nothing. The path
// of its directory may be longer than the address of a socket, and hold characters that configurations, scripts and
// lists of paths misread.
func TestLife(t *testing.T) {
	usual := Prepare
	t.Cleanup(func() { Prepare = usual })
	Prepare = nil
	for _, k := range installedKinds(t) {
		t.Run(k, func(t *testing.T) {
			dir := filepath.Join(need.TempDir(t), need.UgliestName)
			expect.NoError(t, os.Mkdir(dir, 0o755))
			again := func(created bool) *Server {
				t.Helper()
				s := start(t, Config{Kind: k, Dir: dir})
				expect.True(t, s.PID() > 0 && s.Died() == nil && s.Endpoint().Port != 0 && s.Created() == created,
					"pid", s.PID(), s.Died(), "its data was created", s.Created())
				return s
			}
			nothingLeft := func() {
				t.Helper()
				if w := workers(dir); len(w) > 0 {
					t.Errorf("processes %v are left", w)
				}
			}
			s := again(true)
			var st syscall.Stat_t
			if err := syscall.Stat("/proc/self", &st); err == nil && st.Uid == 0 {
				if err := syscall.Stat(filepath.Join("/proc", itoa(s.PID())), &st); err != nil || st.Uid == 0 {
					t.Errorf("it runs as user %d (%v)", st.Uid, err)
				}
			}
			expect.NoError(t, s.Stop())
			if err := s.Stop(); err != nil { // again does nothing
				t.Error(err)
			}
			expect.True(t, s.Died() == nil, s.Died())
			s = again(false)
			pid := s.PID()
			s.Kill()
			expect.Refused(os.Stat(filepath.Join("/proc", itoa(pid))))(t, "", "the process exists after Kill")

			s = again(false)
			expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
			s.Wait(time.Minute)
			err := s.Died()
			var died *DiedError
			if !errors.As(err, &died) || !strings.Contains(err.Error(), "signal: killed; its last messages: ") ||
				!strings.Contains(died.Hint(), "killed from outside") {
				t.Error(err)
			}
			expect.Error(t, s.Stop(), "", "no error of stopping a dead server")
			nothingLeft()

			s = again(false)
			expect.NoError(t, Sweep(dir))
			s.Wait(time.Minute)
			expect.True(t, s.Died() != nil, "it was swept, and has not died")
			nothingLeft()
		})
	}
	expect.NoError(t, Sweep(filepath.Join(need.TempDir(t), "none")))
}

func itoa(n int) string { return strconv.Itoa(n) }

// A server does not outlive the process that started it, however that dies.
func TestDiesWithItsStarter(t *testing.T) {
	for _, k := range installedKinds(t) {
		t.Run(k, func(t *testing.T) {
			if k == MariaDB { // which has no processes of its own, as Tarantool
				need.Long(t)
			}
			dir := need.TempDir(t)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "RUMBENCH_TEST_SERVER="+dir, "RUMBENCH_TEST_KIND="+k)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			expect.NoError(t, err)
			expect.NoError(t, cmd.Start())
			if _, err := out.Read(make([]byte, 10)); err != nil {
				t.Fatal("it did not start")
			}
			expect.True(t, len(workers(dir)) != 0, "no server runs")
			expect.NoError(t, cmd.Process.Kill())
			cmd.Wait()
			expect.NoError(t, waitGone(t.Context(), dir))
			// The next server starts on the same data.
			expect.NoError(t, start(t, Config{Kind: k, Dir: dir}).Stop())
		})
	}
}

// A process whose first thread has ended is not gone: others have its files, and their locks.
func TestDyingIsNotGone(t *testing.T) {
	dir := expect.Value(filepath.EvalSymlinks(t.TempDir()))(t)
	cmd := exec.Command(os.Args[0])
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "RUMBENCH_TEST_LEADER=1", marker+dir)
	in := expect.Value(cmd.StdinPipe())(t)
	expect.NoError(t, cmd.Start())
	for state := ""; state != "Z"; {
		p := expect.Value(procfs.NewProc(cmd.Process.Pid))(t)
		stat := expect.Value(p.Stat())(t)
		state = stat.State
		time.Sleep(time.Millisecond)
	}
	expect.True(t, worksFor(cmd.Process.Pid, dir) && !worksFor(cmd.Process.Pid, t.TempDir()), "whether it works for the directory")
	expect.NoError(t, in.Close())
	for worksFor(cmd.Process.Pid, dir) { // a zombie until it is waited for
		time.Sleep(time.Millisecond)
	}
	cmd.Wait()
}

// A failed start reports the server's messages and a hint.
func TestFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	wrong := map[string][2]string{
		MariaDB:   {"no_such_option", "unknown variable 'no_such_option=1'"},
		Postgres:  {"no_such_option", `unrecognized configuration parameter "no_such_option"`},
		Tarantool: {"no_such_option", "Incorrect value for option 'no_such_option': unexpected option"},
	}
	for _, k := range installedKinds(t) {
		for _, c := range []struct {
			name        string
			set         Setting
			words, hint string
		}{
			{"port in use", Setting{"port", port}, "in use", "a free one is used"},
			{"wrong option", Setting{wrong[k][0], "1"}, wrong[k][1], "verbatim"},
		} {
			if k == Tarantool && c.set.Name == "port" {
				continue // it has none
			}
			t.Run(k+" "+c.name, func(t *testing.T) {
				dir := need.TempDir(t)
				_, err := Start(t.Context(), Config{Kind: k, Dir: dir, Ready: accepts, Settings: []Setting{c.set}})
				var died *DiedError
				expect.Must(t, errors.As(err, &died), "error", err)
				expect.True(t, strings.Contains(err.Error(), c.words) && strings.Contains(died.Hint(), c.hint),
					"error", err, "hint", died.Hint())
				if w := workers(dir); len(w) > 0 {
					t.Errorf("processes %v are left", w)
				}
			})
		}
	}
}

// What the program that makes the data said is kept in the server's log.
func TestDataNotMade(t *testing.T) {
	if !slices.Contains(installedKinds(t), MariaDB) {
		t.Skip("there is no MariaDB")
	}
	log := filepath.Join(need.TempDir(t), "server.log")
	_, err := Start(t.Context(), Config{Kind: MariaDB, Dir: need.TempDir(t), Log: log, Ready: accepts, Settings: []Setting{{"innodb_page_size", "5000"}}})
	var died *DiedError
	expect.True(t, errors.As(err, &died) && strings.Contains(died.Hint(), "the knob page"), "error", err)
	if text, err := os.ReadFile(log); err != nil || !strings.Contains(string(text), "Invalid page size") {
		t.Errorf("the log: %q, %v", text, err)
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct{ kind, binary, text, hint string }{
		{MariaDB, "/no/such/mariadbd", "program /no/such/mariadbd not found", "binary: is the path"},
		{MariaDB, "/bin/true", "/bin/true is not a program of server mariadb", "binary:"},
		{Postgres, "/etc/passwd", "it cannot be executed", "binary:"},
	} {
		_, err := Find(t.Context(), c.kind, Source{Binary: c.binary})
		var missing *MissingError
		expect.True(t, errors.As(err, &missing) && strings.Contains(err.Error(), c.text) && strings.Contains(missing.Hint(), c.hint), c.binary, err)
	}
	expect.Refused(Find(t.Context(), "oracle", Source{}))(t, "", "a server of an unknown kind was found")
}

// A directory with other files is not touched.
func TestForeignDirectory(t *testing.T) {
	for _, k := range installedKinds(t) {
		dir := need.TempDir(t)
		expect.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644))
		_, err := Start(t.Context(), Config{Kind: k, Dir: dir, Ready: accepts})
		expect.True(t, err != nil && strings.Contains(err.Error(), "it holds precious"), err)
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%v", entries)
		}
	}
}

// Settings reach the configuration as they are.
func TestQuoted(t *testing.T) {
	for value, want := range map[string]string{
		"plain": "plain", "a b": `"a b"`, `a\b`: `"a\\b"`, `say "a"`: `"say \"a\""`, "a#b": `"a#b"`, "a\nb": `"a\nb"`,
	} {
		expect.Equal(t, quoteOption(value), want, value, "is written as")
	}
	s := &Server{Config: Config{Kind: Postgres, Listen: ThisMachine, Dir: t.TempDir(), Settings: []Setting{{"x", `it's a\b`}}}, kind: &postgres}
	expect.NoError(t, configurePostgres(s))
	if b, err := os.ReadFile(s.configFile()); err != nil || !strings.Contains(string(b), `x = 'it''s a\\b'`+"\n") {
		t.Errorf("%s, %v", b, err)
	}
}

// A directory that the server's user cannot reach is refused with the reason.
func TestClosedDirectory(t *testing.T) {
	need.Root(t, "start servers as another user")
	for _, k := range installedKinds(t) {
		dir := filepath.Join(need.TempDir(t), "closed", "data")
		expect.NoError(t, os.MkdirAll(dir, 0o755))
		expect.NoError(t, os.Chmod(filepath.Dir(dir), 0o700))
		_, err := Start(t.Context(), Config{Kind: k, Dir: dir, Ready: accepts})
		var u *UnreachableError
		expect.True(t, errors.As(err, &u) && u.Blocked == filepath.Dir(dir) && strings.Contains(u.Hint(), "/var/tmp"),
			err)
	}
}

func TestVariables(t *testing.T) {
	some := map[string][]string{
		MariaDB:  {"innodb_buffer_pool_size", "max_connections"},
		Postgres: {"shared_buffers", "max_wal_size"},
	}
	for _, k := range installedKinds(t) {
		p, err := Find(t.Context(), k, Source{})
		expect.NoError(t, err)
		known, err := Variables(t.Context(), p)
		expect.NoError(t, err)
		for _, name := range some[k] {
			expect.True(t, known[name], p.Name(), "does not know", name)
		}
		expect.True(t, !known["no_such_option"] && len(known) >= 50, len(known), "variables")
	}
}

func TestNatural(t *testing.T) {
	paths := []string{"/lib/15/bin", "/lib/9.6/bin", "/lib/9.10/bin", "/lib/18/bin"}
	slices.SortFunc(paths, quantity.Natural)
	expect.Equal(t, strings.Join(paths, " "), "/lib/9.6/bin /lib/9.10/bin /lib/15/bin /lib/18/bin")
}

// Sweep leaves foreign processes in the directory alone, follows links in the
// path, and does not follow a link in place of the directory.
func TestSweepLeavesOthers(t *testing.T) {
	above := need.TempDir(t)
	dir := filepath.Join(above, "data")
	expect.NoError(t, os.Mkdir(dir, 0o755))
	other := exec.Command("sleep", "600")
	other.Dir = dir
	expect.NoError(t, other.Start())
	defer func() {
		other.Process.Kill()
		other.Wait()
	}()
	link := filepath.Join(need.TempDir(t), "link")
	expect.NoError(t, os.Symlink(above, link))
	ours := exec.Command("sleep", "600")
	ours.Dir, ours.Env = dir, []string{"PATH=" + os.Getenv("PATH"), marker + dir}
	expect.NoError(t, ours.Start())
	target := filepath.Join(above, "to")
	expect.NoError(t, os.Symlink(dir, target))
	if err := Sweep(target); err != nil || len(workers(dir)) != 1 {
		t.Errorf("the target of a link was swept: %v", err)
	}
	expect.NoError(t, Sweep(filepath.Join(link, "data")))
	expect.Error(t, ours.Wait(), "", "our process was not killed")
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a foreign process was killed: %v", err)
	}
}

func TestRelevant(t *testing.T) {
	const log = "one\n\ntwo\n2026 [Note] x\n2026 [ERROR] first\n2026 [ERROR] second\n"
	if got := relevant(log); strings.Join(got, "|") != "2026 [ERROR] first|2026 [ERROR] second" {
		t.Errorf("%q", got)
	}
	if got := relevant("a\nb\nc\nd\ne\n"); strings.Join(got, "|") != "b|c|d|e" {
		t.Errorf("%q", got)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		k             kind
		said, version string
	}{
		{mariadb, "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", "10.11.19"},
		{mariadb, "/x/bin/mysqld  Ver 10.2.11-MariaDB for Linux on x86_64 (MariaDB Server)", "10.2.11"},
		{mariadb, "mysqld  Ver 5.5.9 for linux2.6 on x86_64 (Source distribution)", ""},
		{mysql, "mysqld  Ver 5.5.9 for linux2.6 on x86_64 (Source distribution)", "5.5.9"},
		{mysql, "/usr/sbin/mysqld  Ver 8.4.7 for Linux on x86_64 (MySQL Community Server - GPL)", "8.4.7"},
		{mysql, "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", ""},
		{postgres, "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"},
		{postgres, "bash 5", ""},
		{tarantool, "Tarantool 2.6.0-0-g47aa4e01e\nTarget: Linux-x86_64-RelWithDebInfo", "2.6.0"},
		{tarantool, "Tarantool Enterprise", ""},
	} {
		if version, ok := c.k.version(c.said); version != c.version || ok != (c.version != "") {
			t.Errorf("%q is version %q, %v", c.said, version, ok)
		}
	}
}

// A server listens on the loopback, unless its settings say otherwise; Tarantool
// at its socket only.
func TestListens(t *testing.T) {
	names := map[string]string{MariaDB: "bind_address", Postgres: "listen_addresses"}
	for _, k := range installedKinds(t) {
		if k == Tarantool {
			s := start(t, Config{Kind: k})
			if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", itoa(s.Endpoint().Port))); err == nil {
				conn.Close()
				t.Error("tarantool listens at a port")
			}
			continue
		}
		dir := need.TempDir(t) // both on the same data, as making it takes seconds
		for _, at := range []string{"", "127.0.0.2"} {
			c := Config{Kind: k, Dir: dir}
			want := "127.0.0.1"
			if at != "" {
				c.Settings, want = []Setting{{names[k], at}}, at
			}
			s := start(t, c)
			for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
				conn, err := net.Dial("tcp", net.JoinHostPort(host, itoa(s.Endpoint().Port)))
				expect.Equal(t, (err == nil), (host == want), k, "at", at, host, "answers", err)
				if err == nil {
					conn.Close()
				}
			}
			expect.NoError(t, s.Stop())
		}
	}
}

// The kinds of warnings in a log are listed without their numbers, whoever wrote it.
func TestWarningsIn(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	expect.NoError(t, os.WriteFile(log, []byte(`2026-11-29  4:00:01 0 [Warning] mariadbd: Couldn't allocate 130023424 bytes (page size 2097152); errno 12
2026-11-29  4:00:01 0 [Warning] mariadbd: Couldn't allocate 99 bytes (page size 2097152); errno 12
2026-11-29T04:00:01.1Z 0 [Warning] [MY-010139] [Server] Changed limits: max_open_files: 1024
2026-11-29T04:00:01.1Z 0 [Note] fine
2026-11-29 04:00:01 UTC [77] WARNING:  could not flush dirty data
{"t":{"$date":"2026-11-29"},"s":"W",  "c":"CONTROL", "id":22120, "msg":"Access control is not enabled"}
2026-11-29 04:00:01.1 [9] main/103/init.lua box W> fiber has been yielding for 3 s
`), 0o600))
	expect.Same(t, []string{`"Access control is not enabled"}`, "Changed limits: max_open_files: N", "could not flush dirty data",
		"fiber has been yielding for N s", "mariadbd: Couldn't allocate N bytes (page size N); errno N"}, WarningsIn(log))
	expect.Equal(t, len(WarningsIn(log+"x")), 0, "of no log")
}
