package cli_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// A target with an image is measured as one with a program of this machine: with the CPU, I/O
// and files of the server, read back settings, and no container left, even after kill -9.
func TestImages(t *testing.T) {
	build := need.Images(t)
	p, err := server.Find(t.Context(), server.Postgres, server.Source{})
	need.Installed(t, err)
	build("localhost/postgres:of-here", need.PostgresPaths(t, p.Path)...)
	h := newHost(t)
	targets := []string{`{name: first, engine: postgres, cache: 16MiB, image: "localhost/postgres:of-here"}`,
		`{name: second, engine: mysql, cache: 16MiB, image: "localhost/mariadb:of-here", storage: rocksdb}`, "{name: host, cache: 16MiB, engine: postgres}"}
	h.write("plan.yaml", planFor(targets[0], targets[2]))
	_, stderr := h.run(2, "run", "plan.yaml", "--dry-run", "--set", "targets.first.image=localhost/none:1")
	expect.True(t, strings.Contains(stderr, "image localhost/none:1 is not on this machine"),
		"an image that is missing in a dry run", stderr)
	const fetched = "fetching image localhost:1/none:1"
	elsewhere := "targets.first.image=localhost:1/none:1"
	for _, c := range []struct {
		status int
		args   []string
		want   string
		fetch  bool
	}{
		{1, nil, "fetch image localhost:1/none:1: ", true},
		{2, []string{"--set", "targets.first.pull=never"}, "is not on this machine", false},
		{2, []string{"--set", "targets.host.cache=none"}, "cache", false},
		{2, []string{"--set", "targets.first.binary=/bin/true"}, "an image or a binary, not both", false},
		{1, []string{"--out", "."}, "is not empty", false},
	} {
		_, stderr = h.run(c.status, append([]string{"run", "plan.yaml", "--set", elsewhere}, c.args...)...)
		expect.True(t, strings.Contains(stderr, c.want) && strings.Contains(stderr, fetched) == c.fetch,
			c.args, "with an image that is to be fetched", stderr)
	}
	need.Long(t) // internal/server starts containers in make test
	build("localhost/mariadb:of-here", need.MariaDBPaths()...)
	h.write("plan.yaml", planFor(targets...))
	h.run(0, "run", "plan.yaml", "--out", "out", "--set", "params.query_seconds=0.3")
	for _, name := range []string{"first", "second"} {
		trial := h.trial("out/trials/" + name + ".1")
		image := trial.Versions.Value(result.ImageFact)
		expect.True(t, strings.Contains(image, "sha256:") && strings.HasSuffix(image, "run by podman") && trial.Contained(), name, image)
		expect.Must(t, !trial.Unseen && len(trial.Steps) == 3, name, "unseen", trial.Unseen, len(trial.Steps), "steps")
		for _, number := range []string{"server_cpu_us", "write_kb", "server_memory_bytes", "db_bytes"} {
			if m := trial.Steps[0].Find(number, "", ""); m == nil {
				t.Errorf("%s: %s is unknown", name, number)
			}
		}
	}
	text, _ := h.run(0, "compare", "out", "--base", "host")
	expect.True(t, strings.Contains(text, "ran in a container, whose filter"),
		"the comparison does not say that one ran in a container", text)
	if page := h.file("out/report.html"); !strings.Contains(page, "in a container") {
		t.Error("the report does not say what ran in a container")
	}

	c := h.start("run", "plan.yaml", "--out", "killed", "--no-preflight")
	c.during("killed/trials/first.1", "qr100")
	child := c.child()
	send(t, c.cmd.Process, syscall.SIGKILL)
	send(t, child, syscall.SIGKILL)
	c.end()
	wait(t, "no server runs", func() bool { return len(h.servers("killed")) == 0 })
	wait(t, "no container is left", func() bool {
		out, err := exec.Command("podman", "ps", "--all", "--quiet").Output()
		return err == nil && len(out) == 0
	})
	build("localhost/postgres:of-here", append(need.PostgresPaths(t, p.Path), "/etc/hostname")...)
	_, stderr = h.run(1, "run", "--resume", "killed")
	if want := fmt.Sprintf("%s is another image now", "localhost/postgres:of-here"); !strings.Contains(stderr, want) {
		t.Errorf("going on with another image: %s", stderr)
	}
}
