package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// Every command that is shown has a page, which man renders without a warning.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	expect.NoError(t, run([]string{dir, "1.2"}))
	pages, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	expect.True(t, len(pages) >= 15, "only", len(pages), "pages", pages)
	expect.Refused(os.Stat(filepath.Join(dir, "rumbench-trial.1")))(t, "", "a hidden command has a page")
	run := expect.Read(t, filepath.Join(dir, "rumbench-run.1"))
	expect.All(t, run, ".TH RUMBENCH-RUN 1 1970-01-02 \"rumbench 1.2\"\n",
		".TP\n\\fB\\-\\-set\\fR \\fIkey=value\\fR\noverride a key", "\nrumbench run plans/quick.yaml \\-\\-dry\\-run\n")
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("there is no man")
	}
	for _, page := range pages {
		cmd := exec.Command("man", "--warnings=w", "-l", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "MANWIDTH=80")
		var talk strings.Builder
		cmd.Stderr = &talk
		if out, err := cmd.Output(); err != nil || talk.Len() > 0 || len(out) == 0 {
			t.Errorf("%s: %v\n%s", page, err, talk.String())
		}
	}
}
