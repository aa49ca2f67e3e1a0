package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/hint"
)

// imageOf makes an image of an installed server.
func imageOf(t *testing.T, kind string) string {
	t.Helper()
	build := need.Images(t)
	source := Source{}
	if kind == MySQL {
		source.Binary = "/opt/rumbench/mysql-5.5.9/bin/mysqld"
	}
	p, err := Find(t.Context(), kind, source)
	need.Installed(t, err)
	name := "localhost/" + kind + ":" + strings.ToLower(rand.Text()) // what is found by a name is kept
	switch kind {
	case Postgres:
		build(name, need.PostgresPaths(t, p.Path)...)
	case MariaDB:
		build(name, need.MariaDBPaths()...)
	case MySQL:
		build(name, p.Path, filepath.Join(p.base(), "data"), filepath.Join(p.base(), "share"), filepath.Join(p.base(), "libs"))
	case Tarantool:
		build(name, p.Path)
	}
	return name
}

func podman(t *testing.T, args ...string) string {
	t.Helper()
	var problem bytes.Buffer
	cmd := exec.Command("podman", args...)
	cmd.Stderr = &problem
	out, err := cmd.Output()
	expect.Must(t, err == nil, "podman", args, err, &problem)
	return strings.TrimSpace(string(out))
}

func TestQualified(t *testing.T) {
	for name, want := range map[string]string{
		"mysql:8.4": "docker.io/library/mysql:8.4", "percona/percona-server:8.0": "docker.io/percona/percona-server:8.0",
		"localhost/x:1": "localhost/x:1", "quay.io/a/b": "quay.io/a/b", "host:5000/a": "host:5000/a",
	} {
		expect.Equal(t, qualified(name), want, name, "is fetched as", "not as")
	}
}

// The digest of an image is the one of the repository in its name, not of another that has it too.
func TestDigest(t *testing.T) {
	const text = `sha256:1234 ["localhost/copy@sha256:aa","mysql@sha256:bb","docker.io/library/mysql-more@sha256:cc"]`
	for name, want := range map[string]string{
		"mysql:8.4": "mysql@sha256:bb", "docker.io/library/mysql": "mysql@sha256:bb", "localhost/copy:1": "localhost/copy@sha256:aa",
		"mysql@sha256:bb": "mysql@sha256:bb", "mysql-more:1": "docker.io/library/mysql-more@sha256:cc", "1234": "localhost/copy@sha256:aa",
	} {
		if i := parseImage("docker", name, text); i.Digest != want || i.ID != "1234" {
			t.Errorf("%s has digest %s and ID %s, not %s", name, i.Digest, i.ID, want)
		}
	}
	if i := parseImage("docker", "x", "sha256:1 []"); i.Digest != "" {
		t.Errorf("an image that was built here has digest %s", i.Digest)
	}
}

// A server of an image is a private server like any other: it runs as the same user in the
// same directory, is stopped, killed and started again, and leaves no container. What a
// container has more are its own files and fewer rights.
func TestImage(t *testing.T) {
	for _, kind := range []string{Tarantool, MariaDB, MySQL, Postgres} {
		t.Run(kind, func(t *testing.T) {
			if kind != Tarantool { // whose image is the smallest
				need.Long(t)
			}
			image := imageOf(t, kind)
			if kind == Tarantool {
				t.Run("swept", func(t *testing.T) { testSweptContainers(t, image) })
				t.Run("kinds", func(t *testing.T) { testImageKinds(t, image) })
			}
			c := Config{Kind: kind, Source: Source{Image: image}, Dir: filepath.Join(need.TempDir(t), need.UgliestName)}
			expect.NoError(t, os.MkdirAll(c.Dir, 0o755))
			s := start(t, c)
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
			expect.NoError(t, err)
			for _, line := range []string{"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
				fmt.Sprintf("Uid:\t%d\t", s.owner.uid)} {
				expect.True(t, strings.Contains(string(status), line), "the process has no", line, status)
			}
			limits := func(pid int) (lines []string) {
				text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
				for line := range strings.Lines(string(text)) {
					if strings.HasPrefix(line, "Max locked memory") || strings.HasPrefix(line, "Max stack size") {
						lines = append(lines, line)
					}
				}
				return lines
			}
			if got, want := limits(s.PID()), limits(os.Getpid()); len(want) != 2 || !slices.Equal(got, want) {
				t.Errorf("its limits are %q, not %q", got, want)
			}
			mounts := func(pid int) string {
				link, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
				return link
			}
			if at := mounts(s.PID()); at == "" || at == mounts(os.Getpid()) {
				t.Errorf("it runs in mount namespace %q, as this process", at)
			}
			expect.True(t, worksFor(s.PID(), s.Dir) && parent(s.PID()) != os.Getpid(),
				"process", s.PID(), command(s.PID()), "is not the server")
			expect.True(t, s.Created(), "the data are not said to be new")
			expect.NoError(t, s.Stop())
			s = start(t, c)
			expect.True(t, !s.Created(), "the data were made again")
			expect.NoError(t, syscall.Kill(s.PID(), syscall.SIGKILL))
			s.Wait(time.Minute)
			expect.Error(t, s.Died(), "signal: killed", "after kill -9")
			s.Kill()
			s = start(t, c)
			s.Kill()
			expect.Equal(t, podman(t, "ps", "--all", "--quiet"), "", "containers are left")
			if pids := workers(s.Dir); len(pids) > 0 {
				t.Errorf("processes are left: %v", pids)
			}
		})
	}
}

// A container does not outlive the process that has started its server. What is left in spite
// of that is swept, and nothing else is.
func testSweptContainers(t *testing.T, image string) {
	dir := need.TempDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RUMBENCH_TEST_SERVER="+dir, "RUMBENCH_TEST_KIND="+Tarantool, "RUMBENCH_TEST_IMAGE="+image)
	out, err := cmd.StdoutPipe()
	expect.NoError(t, err)
	expect.NoError(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	expect.Must(t, len(workers(dir)) != 0, "no server runs")
	cmd.Process.Kill()
	cmd.Wait()
	expect.NoError(t, waitGone(t.Context(), dir))

	id := podman(t, "image", "inspect", "--format", "{{.Id}}", image)
	foreign := podman(t, "create", "--label", label+dir+"2", "--entrypoint", "/bin/sh", id, "-c", "true")
	podman(t, "create", "--label", label+dir, "--entrypoint", "/bin/sh", id, "-c", "true")
	expect.NoError(t, os.WriteFile((&Config{Dir: dir}).runtimeFile(), []byte("podman"), 0o644))
	expect.NoError(t, Sweep(dir))
	expect.Equal(t, podman(t, "ps", "--all", "--quiet", "--no-trunc"), foreign, "left are", "and", "is foreign")
	podman(t, "rm", foreign)
}

// What a server writes into its own directory does not lead root elsewhere.
func TestLinksOfTheServer(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, []byte("ours"), 0o644), os.Mkdir(filepath.Join(dir, "run"), 0o755),
		os.Symlink(target, filepath.Join(dir, "run", "password"))); err != nil {
		t.Fatal(err)
	}
	s := &Server{Config: Config{Dir: dir}}
	password, err := s.password()
	if text, _ := os.ReadFile(target); err != nil || password == "ours" || string(text) != "ours" {
		t.Errorf("the password is %q, %v, and the file that a link named holds %q", password, err, text)
	}
	expect.Equal(t, expect.Value(s.password())(t), password, "is another password")
	expect.NoError(t, os.WriteFile(s.runtimeFile(), []byte("/bin/echo"), 0o644))
	expect.Error(t, removeContainers(dir), "", "a program that is none of those that run containers was run")
}

// The kind of server is that of the image's program, and images without one are refused.
func testImageKinds(t *testing.T, image string) {
	p, err := FindAny(t.Context(), []string{MariaDB, MySQL, Tarantool}, Source{Image: image})
	expect.Must(t, err == nil && p.Kind == Tarantool && p.Image != nil && len(p.Image.ID) == 64, p, err)
	if known, err := Variables(t.Context(), p); err != nil || !known["memtx_memory"] {
		t.Errorf("%d variables, %v", len(known), err)
	}
	for _, c := range []struct {
		image, kind string
		text, help  string
	}{
		{image, Postgres, "has no program of server postgres: it holds no postgres", "PATH must find it"},
		{"localhost/none:1", Postgres, "image localhost/none:1 is not on this machine", "podman pull localhost/none:1"},
		{"--help", Postgres, `"--help" is no image`, ""},
	} {
		_, err := Find(t.Context(), c.kind, Source{Image: c.image})
		expect.True(t, err != nil && strings.Contains(err.Error(), c.text) && strings.Contains(hint.Of(err), c.help),
			c.image, err, "hint", hint.Of(err))
	}
	_, err = Start(t.Context(), Config{Kind: Tarantool, Source: Source{Image: image}, Dir: need.TempDir(t),
		Ready: accepts, Settings: []Setting{{"memtx_memory", "never"}}})
	if died, ok := errors.AsType[*DiedError](err); !ok || !strings.Contains(died.Error(), "memtx_memory") {
		t.Errorf("a wrong setting: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	imagesByName.Delete(image)
	_, err = Find(t.Context(), Postgres, Source{Image: image})
	expect.True(t, err != nil && strings.Contains(err.Error(), "podman is not installed; docker is not installed"),
		"without podman and docker", err)
}
