package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/need"
)

// TestOnce: set-up makes a thing once, and again where its recipe or one of its files is
// not what it was.
func TestOnce(t *testing.T) {
	dir := t.TempDir()
	recipe, product := filepath.Join(dir, "make.sh"), filepath.Join(dir, "opt/thing/file")
	write := func(path, text string) { t.Helper(); need.Write(t, path, text, 0o755) }
	// Like the real ones, it keeps what is there.
	script := "#!/bin/sh\nmkdir -p $1\n[ -e $1/file ] || echo new >$1/file\n"
	write(recipe, script)
	run := func() ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), "../../scripts/once.sh", "name", "thing", recipe, filepath.Dir(product))
		cmd.Env = append(os.Environ(), "RUMBENCH_OPT="+filepath.Join(dir, "opt"))
		return cmd.CombinedOutput()
	}
	once := func(reason string, want bool) {
		t.Helper()
		out, err := run()
		if err != nil {
			t.Fatalf("%s: %v: %s", reason, err, out)
		}
		if made := strings.TrimSpace(string(out)) == "name"; made != want {
			t.Errorf("%s: made: %v, want %v: %s", reason, made, want, out)
		}
		if text, _ := os.ReadFile(product); string(text) != "new\n" {
			t.Errorf("%s: the product is %q", reason, text)
		}
	}
	once("nothing is there", true)
	once("all is there", false)
	write(product, "damaged")
	once("a file differs", true)
	need.Must(t, os.Remove(product))
	once("a file is missing", true)
	write(recipe, script+"# changed\n")
	once("the recipe differs", true)
	once("all is there again", false)

	write(recipe, "#!/bin/sh\nrm -r $1\n")
	if out, err := run(); err == nil || !strings.Contains(string(out), "thing was not made") {
		t.Errorf("a recipe that makes nothing: %v: %s", err, out)
	}
}
