package doctest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rumbench/internal/need"
)

// TestDist builds what is given away, for this architecture. scripts/check-dist.sh
// checks more, as root.
func TestDist(t *testing.T) {
	need.Setup(t) // it builds the program once more, and for packages needs dpkg-deb
	t.Parallel()
	out := t.TempDir()
	cmd := exec.Command("scripts/dist.sh")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "OUT="+out, "VERSION=1.2.3", "SOURCE_DATE_EPOCH=86400", "ARCHES="+runtime.GOARCH)
	if talk, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, talk)
	}
	output := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = out
		c.Env = append(os.Environ(), "TZ=UTC")
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	output("sha256sum", "--check", "SHA256SUMS")
	name := "rumbench-1.2.3-linux-" + runtime.GOARCH
	list := output("tar", "-tvf", name+".tar.gz")
	for _, want := range []string{"/rumbench\n", "/README.md\n", "/LICENSE\n", "/plans/quick.yaml\n", "/man/rumbench-run.1\n", "/completions/_rumbench\n", "/plan.schema.json\n", "root", "1970-01-02 00:00"} {
		if !strings.Contains(strings.ReplaceAll(list, "0/0", "root"), want) {
			t.Errorf("no %q in the archive:\n%s", want, list)
		}
	}
	output("tar", "-xf", name+".tar.gz")
	if got := output(filepath.Join(out, name, "rumbench"), "--version"); got != "rumbench version 1.2.3\n" {
		t.Errorf("%q", got)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return
	}
	deb := "rumbench_1.2.3_" + runtime.GOARCH + ".deb"
	if got := output("dpkg-deb", "--field", deb, "Version", "Architecture"); got != "Version: 1.2.3\nArchitecture: "+runtime.GOARCH+"\n" {
		t.Errorf("%q", got)
	}
	list = output("dpkg-deb", "--contents", deb)
	for _, want := range []string{"./usr/bin/rumbench\n", "./usr/share/man/man1/rumbench.1.gz\n", "./usr/share/bash-completion/completions/rumbench\n", "./usr/share/rumbench/plans/quick.yaml\n", "./usr/share/doc/rumbench/copyright\n"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in the package:\n%s", want, list)
		}
	}
}
