package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
)

var update = flag.Bool("update", false, "write the golden files anew")

func programs() []Program {
	return []Program{
		{Name: "mariadb", Package: "mariadb-server", Found: "/usr/sbin/mariadbd", Version: "10.11.14"},
		{Name: "myrocks", Package: "mariadb-plugin-rocksdb"},
		{Name: "postgres", Package: "postgresql", Found: "/usr/lib/postgresql/15/bin/postgres", Version: "15.14", Problem: "it does not start: no libicu"},
	}
}

// troubled is a host of which every group has something to show.
func troubled(t *testing.T) *Report {
	f := with(
		files{
			"proc/stat":    stat(1000, 100000, 0),
			"proc/meminfo": meminfo(32*gib, 30*gib, 8*gib, 8*gib),
			"proc/77/stat": processStat(77, "mysqld", 100),
		},
		files{"proc/stat": stat(1600, 100200, 0), "proc/77/stat": processStat(77, "mysqld", 500)},
		files{
			"virtualization": "virtual machine: QEMU Standard PC", "distribution": "Debian GNU/Linux 12 (bookworm)",
			"cpu governor": "", "cpu turbo": "", "device scheduler": "bfq", "device read-ahead": "8192 KiB",
		},
		mounted("rw,relatime,discard"),
	)
	return checked(f.machine(t))
}

// Whatever is found, only commands may be wider than the page.
func TestText(t *testing.T) {
	for name, r := range map[string]*Report{
		"troubled.txt": troubled(t), "quiet.txt": checked(quiet().machine(t)), "": checked(nothing(t)),
	} {
		var b bytes.Buffer
		list := programs()
		if name != "troubled.txt" {
			list = list[:1]
		}
		expect.NoError(t, r.Text(&b, list, 100))
		for line := range strings.Lines(b.String()) {
			expect.True(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= 100, "wider than 100", line)
		}
		if name != "" {
			expect.Golden(t, *update, name, b.String())
		}
	}
}

func TestJSON(t *testing.T) {
	r := troubled(t)
	var b bytes.Buffer
	expect.NoError(t, r.JSON(&b, programs()))
	var got []Finding
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	expect.NoError(t, d.Decode(&got))
	n := len(r.Findings)
	expect.Equal(t, cmp.Diff(r.Findings, got[:n]), "")
	expect.Must(t, len(got) == n+3, len(got), "findings", n, "and 3 programs")
	for i, want := range []struct {
		status Status
		found  string
	}{{OK, "/usr/sbin/mariadbd 10.11.14"}, {Warn, "missing"}, {Warn, "/usr/lib/postgresql/15/bin/postgres 15.14: it does not start: no libicu"}} {
		if f := got[n+i]; f.Status != want.status || f.Found != want.found || f.Why == "" || f.Wanted == "" {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	if fix := got[n+1].Fix; !strings.HasSuffix(fix, "apt-get install -y --no-install-recommends mariadb-plugin-rocksdb") {
		t.Errorf("fix %q", fix)
	}
}

func TestInstallCommands(t *testing.T) {
	if got := InstallCommands(programs()[:1], 0); got != nil {
		t.Errorf("nothing is missing, but %v", got)
	}
	list := append(programs(), Program{Name: "again", Package: "mariadb-plugin-rocksdb"}, Program{Name: "tarantool", Package: "tarantool"}, Program{Name: "no package"})
	want := [][]string{{"apt-get", "update"}, {"apt-get", "install", "-y", "--no-install-recommends", "mariadb-plugin-rocksdb", "tarantool"}}
	expect.Equal(t, cmp.Diff(want, InstallCommands(list, 0)), "")
	for i := range want {
		want[i] = append([]string{"sudo"}, want[i]...)
	}
	expect.Equal(t, cmp.Diff(want, InstallCommands(list, 1000)), "")
}

func TestInstall(t *testing.T) {
	var out bytes.Buffer
	err := Install(context.Background(), [][]string{{"echo", "first"}, {"sh", "-c", "echo second $DEBIAN_FRONTEND >&2"}}, &out)
	if want := "+ echo first\nfirst\n+ sh -c echo second $DEBIAN_FRONTEND >&2\nsecond noninteractive\n"; err != nil || out.String() != want {
		t.Errorf("%v: %q, want %q", err, out.String(), want)
	}
	out.Reset()
	err = Install(context.Background(), [][]string{{"false"}, {"echo", "not reached"}}, &out)
	expect.True(t, err != nil && strings.HasPrefix(err.Error(), "false: ") && !strings.Contains(out.String(), "reached"),
		err, out.String())
	expect.Is(t, Install(context.Background(), [][]string{{"no-such-command"}}, &out), exec.ErrNotFound)
}
