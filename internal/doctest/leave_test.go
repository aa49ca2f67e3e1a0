package doctest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/need"
)

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
			need.Must(t, os.MkdirAll(dir, 0o755)) // the file may be next to it
			need.Write(t, path, text, 0o755)
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
