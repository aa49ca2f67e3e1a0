package fleet

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/plan"
)

// localSSH makes ssh a shell on this machine, with a home of its own, after a filter of its input.
func localSSH(t *testing.T, filter string) (home string) {
	t.Helper()
	home = t.TempDir()
	script := filepath.Join(t.TempDir(), "ssh")
	text := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\n%s | HOME=%s sh -c \"$last\"\n", filter, home)
	expect.NoError(t, os.WriteFile(script, []byte(text), 0o700))
	t.Setenv(SSHVariable, script)
	return home
}

// A copy that is cut off is no program, also for the next that looks for it.
func TestInstallCutOff(t *testing.T) {
	text := []byte("#!/bin/sh\necho a program\n")
	path := filepath.Join(t.TempDir(), "program")
	expect.NoError(t, os.WriteFile(path, text, 0o700))
	digest := fmt.Sprintf("%x", sha256.Sum256(text))
	host := plan.Host{Name: "m1", SSH: "m1"}
	home := localSSH(t, "head -c 10")
	for range 2 {
		expect.Refused(install(t.Context(), host, path, digest))(t, "", "a copy that was cut off is installed")
	}
	left, _ := filepath.Glob(filepath.Join(home, ".cache/rumbench/programs", digest, "*"))
	expect.True(t, len(left) == 0, "it leaves", left)
	home = localSSH(t, "cat")
	for range 2 {
		if _, err := install(t.Context(), host, path, digest); err != nil {
			t.Fatal(err)
		}
	}
	installed := filepath.Join(home, ".cache/rumbench/programs", digest, programName)
	if b, err := os.ReadFile(installed); err != nil || string(b) != string(text) {
		t.Errorf("installed %q, %v", b, err)
	}
	// One that was damaged later is replaced.
	expect.NoError(t, os.WriteFile(installed, text[:10], 0o700))
	if _, err := install(t.Context(), host, path, digest); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(installed); string(b) != string(text) {
		t.Errorf("installed %q", b)
	}
}
