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
	need.Long(t) // it builds the program once more, and for packages needs dpkg-deb
	t.Parallel()
	out := t.TempDir()
	output := func(dir, name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "TZ=UTC", "OUT="+out, "VERSION=1.2.3", "SOURCE_DATE_EPOCH=86400", "ARCHES="+runtime.GOARCH)
		text, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, text)
		}
		return string(text)
	}
	output(root, "scripts/dist.sh")
	output(out, "sha256sum", "--check", "SHA256SUMS")
	name := "rumbench-1.2.3-linux-" + runtime.GOARCH
	holds(t, "the archive", strings.ReplaceAll(output(out, "tar", "-tvf", name+".tar.gz"), "0/0", "root"),
		"/rumbench\n", "/README.md\n", "/LICENSE\n", "/plans/quick.yaml\n", "/man/rumbench-run.1\n", "/completions/_rumbench\n",
		"/plan.schema.json\n", "root", "1970-01-02 00:00")
	output(out, "tar", "-xf", name+".tar.gz")
	if got := output(out, filepath.Join(out, name, "rumbench"), "--version"); got != "rumbench version 1.2.3\n" {
		t.Errorf("%q", got)
	}
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return
	}
	deb := "rumbench_1.2.3_" + runtime.GOARCH + ".deb"
	holds(t, "the head of the package", output(out, "dpkg-deb", "--field", deb, "Version", "Architecture"),
		"Version: 1.2.3\nArchitecture: "+runtime.GOARCH+"\n")
	holds(t, "the package", output(out, "dpkg-deb", "--contents", deb), "./usr/bin/rumbench\n", "./usr/share/man/man1/rumbench.1.gz\n",
		"./usr/share/bash-completion/completions/rumbench\n", "./usr/share/rumbench/plans/quick.yaml\n", "./usr/share/doc/rumbench/copyright\n")
}
