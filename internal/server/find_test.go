package server_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/server"
	_ "rumbench/internal/server/servertest"
)

// A program that is killed while its version is read, or does not answer, is not
// reported as missing.
func TestProbe(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "mariadbd")
		expect.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
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
		_, err := server.Find(c.ctx, server.MariaDB, server.Source{Binary: write(c.script)})
		var probe *server.ProbeError
		var missing *server.MissingError
		expect.True(t, errors.As(err, &probe) == c.probe && errors.As(err, &missing) != c.probe, c.script, err)
	}
}

// A program that leaves a child with its output open has answered; one that does not stop
// printing has not.
func TestOutput(t *testing.T) {
	out, err := server.Output(t.Context(), "/bin/sh", "-c", "sleep 5 & echo 15.3")
	expect.True(t, err == nil && out == "15.3\n", out, err)
	if out, err := server.Output(t.Context(), "/bin/sh", "-c", "yes"); err == nil {
		t.Errorf("%d bytes", len(out))
	}
}

// A child that keeps the output open does not live on.
func TestOutputLeavesNoChild(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	expect.NoError(t, syscall.Mkfifo(fifo, 0o600))
	f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	expect.NoError(t, err)
	defer f.Close()
	if out, err := server.Output(t.Context(), "/bin/sh", "-c", "exec 3>"+fifo+"; sleep 60 & echo 15.3"); err != nil || out != "15.3\n" {
		t.Errorf("%q, %v", out, err)
	}
	_ = f.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := f.Read(make([]byte, 1)); err != io.EOF { // when the last writer has ended
		t.Error(err)
	}
}

// A program that Look has run, here or in another process, is not run again.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	path, log := filepath.Join(dir, "postgres"), filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$1\" >> " + log + "\n" +
		"case $1 in --version) echo 'postgres (PostgreSQL) 15.3';; *) printf 'work_mem\\tuser\\nfsync\\tsighup\\n';; esac\n"
	expect.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	f, err := server.Look(t.Context(), []string{server.MariaDB, server.Postgres}, server.Source{Binary: path})
	expect.Must(t, err == nil && f.Version == "15.3" && f.Variables == "fsync work_mem", f, err)
	ask := func(binary string) {
		p, err := server.Find(t.Context(), server.Postgres, server.Source{Binary: binary})
		expect.True(t, err == nil && p.Path == f.Path && p.Version == "15.3", p, err)
		if known, err := server.Variables(t.Context(), p); err != nil || !known["work_mem"] || len(known) != 2 {
			t.Errorf("%v, %v", known, err)
		}
	}
	ask(path)
	f.Binary = "another"
	server.Remember(f)
	ask(f.Binary)
	if runs, err := os.ReadFile(log); err != nil || string(runs) != "--version\n--version\n--describe-config\n" {
		t.Errorf("the program was run with %q, %v", runs, err)
	}
}
