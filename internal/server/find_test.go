package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A program that is killed while its version is read, or does not answer, is not
// reported as missing.
func TestProbe(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "mariadbd")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		script string
		probe  bool
	}{
		{t.Context(), "kill -9 $$", true},
		{t.Context(), "exit 1", false},
		{t.Context(), "echo something else", false},
		{ended, "sleep 600", true},
	} {
		_, err := Find(c.ctx, MariaDB, write(c.script))
		var probe *ProbeError
		var missing *MissingError
		if errors.As(err, &probe) != c.probe || errors.As(err, &missing) == c.probe {
			t.Errorf("%s: %v", c.script, err)
		}
	}
}
