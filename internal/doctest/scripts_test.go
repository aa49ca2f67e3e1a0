package doctest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"rumbench/internal/expect"
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
		expect.Must(t, err == nil, name, args, err, text)
		return string(text)
	}
	output(root, "scripts/dist.sh")
	output(out, "sha256sum", "--check", "SHA256SUMS")
	name := "rumbench-1.2.3-linux-" + runtime.GOARCH
	expect.All(t, strings.ReplaceAll(output(out, "tar", "-tvf", name+".tar.gz"), "0/0", "root"),
		"/rumbench\n", "/README.md\n", "/LICENSE\n", "/plans/quick.yaml\n", "/man/rumbench-run.1\n", "/completions/_rumbench\n",
		"/plan.schema.json\n", "root", "1970-01-02 00:00")
	output(out, "tar", "-xf", name+".tar.gz")
	expect.Equal(t, output(out, filepath.Join(out, name, "rumbench"), "--version"), "rumbench version 1.2.3\n")
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return
	}
	deb := "rumbench_1.2.3_" + runtime.GOARCH + ".deb"
	expect.All(t, output(out, "dpkg-deb", "--field", deb, "Version", "Architecture"),
		"Version: 1.2.3\nArchitecture: "+runtime.GOARCH+"\n")
	expect.All(t, output(out, "dpkg-deb", "--contents", deb), "./usr/bin/rumbench\n", "./usr/share/man/man1/rumbench.1.gz\n",
		"./usr/share/bash-completion/completions/rumbench\n", "./usr/share/rumbench/plans/quick.yaml\n", "./usr/share/doc/rumbench/copyright\n")
}

// TestScriptsLeaveFilesAlone: scripts that write to a directory that the user names remove
// nothing there that they have not made.
func TestScriptsLeaveFilesAlone(t *testing.T) {
	for _, c := range []struct {
		script, file string
		setting      string // of the environment, for the directory; "": it is the argument
	}{
		{"dist.sh", "letter", "OUT="},
		{"dist.sh", ".hidden", "OUT="},
		{"mysql-5.5.9.sh", "data/ibdata1", ""},
		{"mysql-5.5.9.sh", "share/doc/letter", ""},
		{"duckdb.sh", "letter", ""},
		{"duckdb.sh", "pyvenv.cfg", ""},
		{"ferretdb.sh", "ferretdb", ""},
		{"postgres.sh 12.22.0", "postgres-12.22.0/letter", "RUMBENCH_OPT="},
		{"wiredtiger.sh", "../wiredtiger-11.3.1/src/letter", "RUMBENCH_LIB="},
	} {
		t.Run(c.script+" "+filepath.Base(c.file), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "dir")
			path := filepath.Join(dir, c.file)
			const text = "#!/bin/sh\necho something else\n"
			expect.NoError(t, os.MkdirAll(dir, 0o755)) // the file may be next to it
			expect.Write(t, path, text, 0o755)
			words := strings.Fields(c.script)
			cmd := exec.CommandContext(t.Context(), "scripts/"+words[0], words[1:]...)
			cmd.Dir = root
			// Nothing can be fetched or built.
			cmd.Env = append(os.Environ(), "GO=false", "GOPROXY=off", "MAVEN_ARGS=--offline", "PIP_NO_INDEX=1")
			if c.setting == "" {
				cmd.Args = append(cmd.Args, dir)
			} else {
				cmd.Env = append(cmd.Env, c.setting+dir)
			}
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("it was not refused: %s", out)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != text {
				t.Errorf("%s is now %q, %v", c.file, b, err)
			}
		})
	}
}

// TestOnce: set-up makes a thing once, and again where its recipe or one of its files is
// not what it was.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	recipe, product := filepath.Join(dir, "make.sh"), filepath.Join(dir, "opt/thing/file")
	write := func(path, text string) { t.Helper(); expect.Write(t, path, text, 0o755) }
	// Like the real ones, it keeps what is there.
	script := "#!/bin/sh\nmkdir -p $1\n[ -e $1/file ] || echo new >$1/file\n"
	write(recipe, script)
	run := func() ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), root+"/scripts/once.sh", "name", "thing", recipe, filepath.Dir(product))
		cmd.Env = append(os.Environ(), "RUMBENCH_OPT="+filepath.Join(dir, "opt"))
		return cmd.CombinedOutput()
	}
	once := func(reason string, want bool) {
		t.Helper()
		out, err := run()
		expect.Must(t, err == nil, reason, err, out)
		expect.Equal(t, strings.TrimSpace(string(out)) == "name", want, reason, "made", out)
		if text, _ := os.ReadFile(product); string(text) != "new\n" {
			t.Errorf("%s: the product is %q", reason, text)
		}
	}
	once("nothing is there", true)
	once("all is there", false)
	write(product, "damaged")
	once("a file differs", true)
	expect.NoError(t, os.Remove(product))
	once("a file is missing", true)
	write(recipe, script+"# changed\n")
	once("the recipe differs", true)
	once("all is there again", false)

	write(recipe, "#!/bin/sh\nrm -r $1\n")
	if out, err := run(); err == nil || !strings.Contains(string(out), "thing was not made") {
		t.Errorf("a recipe that makes nothing: %v: %s", err, out)
	}
}
