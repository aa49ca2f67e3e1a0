package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// A file system that cannot be trimmed, here one in memory, is refused before anything is made.
func TestTrimRefused(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "rumbench-trim")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	var unfit *UnfitError
	if c, _ := config(dir, says(result.Complete)); Fits(c) != nil {
		t.Fatal(Fits(c))
	}
	c, _ := config(dir, says(result.Complete), "between={trim: true}")
	_, err = Run(context.Background(), c)
	expect.True(t, errors.As(err, &unfit) && hint.Of(err) != "" && strings.Contains(err.Error(), "file system of "+dir+" cannot be trimmed"), err)
	expect.Refused(os.Stat(c.Dir))(t, "", "a directory was made")
	c.Plan.Targets[0].Config.Server.DSN, c.Plan.Targets[1].Config.Server.DSN = "x", "y"
	if err := Fits(c); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "no target has data of its own") {
		t.Errorf("attached: %v", err)
	}
	for err, want := range map[error]string{unix.EPERM: "root", unix.EOPNOTSUPP: "discards nothing", unix.ENOTTY: "ext4"} {
		expect.Contains(t, trimHint(err), want, err)
	}
}

// File systems are trimmed before each trial, once each, which is recorded and shown.
func TestTrims(t *testing.T) {
	need.Root(t, "trim file systems")
	dir := t.TempDir()
	c, p := config(dir, says(result.Complete), "between={trim: true, rest: 1ms}", "trials=1")
	c.Plan.Targets[0].Data = filepath.Dir(c.Dir) // the same file system
	dirs := trimDirs(c)
	expect.True(t, len(dirs) == 1, dirs)
	if err := Fits(c); err != nil {
		t.Skip(err)
	}
	c.Plan.Targets[0].Data = ""
	var b strings.Builder
	if err := Describe(&b, c); err != nil || !strings.Contains(b.String(), "before each trial the free blocks") ||
		!strings.Contains(b.String(), "rests for 1ms") {
		t.Errorf("%v: %s", err, b.String())
	}
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	stored, err := result.ReadCampaign(c.Dir)
	expect.Must(t, err == nil && len(stored.Trims) == 2, err, stored)
	for i, trim := range stored.Trims {
		expect.True(t, trim.Before == stored.Trials[i].Dir && !trim.At.Before(stored.Started) && trim.Bytes >= 0 && trim.Dir != "", trim)
	}
	begun := strings.Join(p.lines, "\n")
	if strings.Count(begun, "note trimmed ") != 2 || strings.Count(begun, "note resting for 1ms") != 2 ||
		strings.Index(begun, "note trimmed ") > strings.Index(begun, "begin ") {
		t.Error(begun)
	}
}
