package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/cli/doctor"
	"rumbench/internal/expect"
	"rumbench/internal/need"
)

// script writes a command into a directory that comes first in PATH.
func script(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

// doctor runs the command with a program that is there once its file is.
func examine(t *testing.T, o doctorOptions, file string) (stdout, stderr string, code int) {
	t.Helper()
	var out, talk strings.Builder
	lock := filepath.Join(t.TempDir(), "lock")
	a := &App{Stdout: &out, Stderr: &talk, Getenv: func(string) string { return lock }}
	o.dir, o.seconds = t.TempDir(), 0.05
	err := runDoctor(context.Background(), a, o, func(context.Context) []doctor.Program {
		p := doctor.Program{Name: "server", Package: "a-server"}
		if _, err := os.Stat(file); err == nil {
			p.Found = file
		}
		return []doctor.Program{p}
	})
	if err != nil {
		code = a.explain(err)
	}
	return out.String(), talk.String(), code
}

// Without --yes the commands are printed and nothing else; with it they are
// run, and the host is checked again.
func TestInstall(t *testing.T) {
	dir := script(t, "apt-get", `echo "apt-get says $*"; test $1 = update || touch "$(dirname "$0")/server"`)
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	file := filepath.Join(dir, "server")

	stdout, stderr, code := examine(t, doctorOptions{install: true}, file)
	expect.True(t, code == ExitOK && stderr == "" && strings.HasSuffix(stdout, "apt-get install -y --no-install-recommends a-server\n") && strings.Count(stdout, "\n") == 2, code, stdout, stderr)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("it was installed without --yes")
	}

	stdout, stderr, code = examine(t, doctorOptions{install: true, yes: true}, file)
	expect.True(t, code == ExitOK || code == ExitUnfit, "exit code", code)
	expect.All(t, stderr, "apt-get update\napt-get says update\n",
		"apt-get says install -y --no-install-recommends a-server\n")
	expect.True(t, strings.Contains(stdout, "server   "+file) && !strings.Contains(stdout, "missing") && strings.Contains(stdout, "clock source"), stdout)

	stdout, stderr, code = examine(t, doctorOptions{install: true}, file)
	expect.True(t, code == ExitOK && stdout == "" && stderr == "nothing is missing\n",
		"exit code", code, stdout, stderr)
}

func TestInstallFails(t *testing.T) {
	need.Root(t, "install without sudo")
	script(t, "apt-get", "echo no network; exit 100")
	stdout, stderr, code := examine(t, doctorOptions{install: true, yes: true}, "/missing")
	expect.True(t, code == ExitError && stdout == "" && strings.Contains(stderr, "no network\nrumbench: apt-get update: exit status 100\n"), code, stdout, stderr)
	t.Setenv("PATH", t.TempDir())
	_, stderr, code = examine(t, doctorOptions{install: true, yes: true}, "/missing")
	expect.True(t, code == ExitError && strings.Contains(stderr, "hint: packages are installed with apt"),
		"exit code", code, stderr)
}
