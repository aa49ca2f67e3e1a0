package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
)

func TestRun(t *testing.T) {
	log := filepath.Join(t.TempDir(), "hooks.log")
	done, err := Run(t.Context(), "before step s", `echo "target $RUMBENCH_TARGET"`, log, "RUMBENCH_TARGET=x")
	expect.True(t, err == nil && len(done) == 1 && done[0].When == "before step s" && done[0].Failed == "", done, err)
	if done, err = Run(t.Context(), "after trial", "echo no >&2; exit 3", log); err == nil || len(done) != 1 || done[0].Failed != "exit status 3" {
		t.Errorf("%+v, %v", done, err)
	}
	got, _ := os.ReadFile(log)
	expect.True(t, strings.Contains(string(got), "target x\n") && strings.Contains(string(got), "exit 3\nno\n"), got)
	if done, err := Run(t.Context(), "before trial", "", log); done != nil || err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	// Open files that this process has inherited, such as locks, are not passed on.
	inherited := expect.Value(unix.Dup(0))(t)
	defer unix.Close(inherited)
	_, err = Run(t.Context(), "before trial", fmt.Sprintf("test ! -e /proc/self/fd/%d", inherited), log)
	expect.NoError(t, err)
	// The user's end of the campaign ends the command with its children.
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	if _, err := Run(ctx, "before trial", "sleep 60 & wait", log); err == nil || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// A command that prints without end does not fill the disk.
func TestEndlessOutput(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	_, err := Run(t.Context(), "before trial", "yes", log)
	expect.Error(t, err, "longer than 64 MiB")
	info := expect.Value(os.Stat(log))(t)
	expect.True(t, info.Size() > mostOutput, info.Size())
}
