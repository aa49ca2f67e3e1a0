package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/cli/progress"
	"rumbench/internal/expect"
	"rumbench/internal/plan"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/hint"
)

// The exit code of a campaign is that of its worst trial.
func TestExitCodes(t *testing.T) {
	const source = "workload: ibench\nparams: {rows: 1k, steps: [l.i0]}\ncalibrate: false\norder: sequential\ntrials: 2\ntargets: [pebble, bbolt]\n"
	trial := func(status string) string {
		return `echo '{"format":2,"target":"x","trial":1,"status":"` + status + `","reason":"planted","ended":"2026-01-01T00:00:00Z"}' > $1/trials/$2/trial.json`
	}
	for _, c := range []struct {
		name, script string
		code         int
		talk         string
	}{
		{"complete", trial("complete"), ExitOK, "[4/4] bbolt.2"},
		{"failed", trial("failed"), ExitError, "rumbench: 4 of 4: not all trials are complete"},
		{"base failed", trial("failed"), ExitError, "hint: --keep-going runs"},
		{"base failed after an invalid trial", `if [ $2 = pebble.2 ]; then ` + trial("failed") + `; else ` + trial("invalid") + `; fi`, ExitInvalid, "rumbench: pebble.2 failed, and every comparison"},
		{"invalid", trial("invalid"), ExitInvalid, "invalid in "},
		{"invalid and failed", `if [ $2 = bbolt.1 ]; then ` + trial("failed") + `; else ` + trial("invalid") + `; fi`, ExitInvalid, "planted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := expect.Value(plan.Load("test.yaml", []byte(source), nil, catalog.Plugins{}))(t)
			var stdout, stderr strings.Builder
			a := &App{Stdout: &stdout, Stderr: &stderr}
			err := execute(context.Background(), a, campaign.Config{
				Plan: p, Dir: filepath.Join(dir, "out"), LockFile: filepath.Join(dir, "lock"), Progress: progress.New(&stderr, nil),
				Child: func(string) []string { return []string{"/bin/sh", "-c", c.script, "trial"} }, InfoOf: func(*plan.Target) engine.Info { return engine.Info{SpaceFactor: 1} },
				NoPreflight: true, KeepGoing: !strings.HasPrefix(c.name, "base "),
			})
			code := ExitOK
			if err != nil {
				code = a.explain(err)
			}
			expect.True(t, code == c.code && strings.Contains(stderr.String(), c.talk) && strings.Contains(stdout.String(), "report: "), code, c.code, err, &stdout, &stderr)
		})
	}
}

// Every error is printed with what can be done about it.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{errors.New("x"), ExitError, "rumbench: x\n"},
		{syscall.ENOSPC, ExitError, "rumbench: no space left on device\nhint: the disk is full: "},
		{usage(errors.New("x")), ExitUsage, "rumbench: x\n"},
		{campaign.Unfit("y", "x"), ExitUnfit, "rumbench: x\nhint: y\n"},
		{exitError{errors.New("x"), ExitInvalid}, ExitInvalid, "rumbench: x\n"},
		{hint.Problems{{File: "f", Line: 1, Column: 2, Reason: "r", Hint: "h"}}, ExitUsage, "f:1:2: r\nhint: h\n"},
	} {
		var b strings.Builder
		if code := (&App{Stderr: &b}).explain(c.err); code != c.code || !strings.HasPrefix(b.String(), c.want) {
			t.Errorf("%v: exit code %d, want %d: %q, want %q", c.err, code, c.code, b.String(), c.want)
		}
	}
}

// Commands in hints begin as the program was called.
func TestExplainAsCalled(t *testing.T) {
	var b strings.Builder
	a := &App{Program: "bin/rumbench", Stderr: &b}
	a.explain(usage(hint.Errorf("rumbench help run shows more", "x")))
	a.explain(hint.Problems{{Reason: "r of rumbench run", Hint: "rumbench list engines names them, and rumbench's own"}})
	want := "rumbench: x\nhint: bin/rumbench help run shows more\nr of rumbench run\nhint: bin/rumbench list engines names them, and rumbench's own\n"
	expect.Equal(t, b.String(), want)
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{"a b": "a-b", "../x": "..-x", "a\tb": "a-b", "größe": "größe"} {
		expect.Equal(t, fileName(in), want, "fileName", in, "=")
	}
}

// A child that keeps the output of a command open does not delay its end, and what the
// command itself has printed is there.
func TestOutputs(t *testing.T) {
	for _, open := range []bool{false, true} {
		r, w := io.Pipe()
		var o outputs
		f := expect.Value(o.pass(w))(t)
		limit := time.Hour
		if open {
			defer syscall.Close(expect.Value(syscall.Dup(int(f.Fd())))(t))
			limit = time.Millisecond
		}
		expect.Value(f.WriteString("a line\n"))(t)
		expect.Value(io.ReadFull(r, make([]byte, len("a line\n"))))(t)
		if remark := o.end(limit); (remark != "") != open {
			t.Errorf("open %v: %q", open, remark)
		}
	}
}

// The log of a command has a limit, what is shown has none.
func TestCapped(t *testing.T) {
	f := expect.Value(os.Create(filepath.Join(t.TempDir(), "load.log")))(t)
	o := outputs{log: &capped{file: f, size: maxLog - 5}}
	var out bytes.Buffer
	w := expect.Value(o.pass(&out))(t)
	if _, err := w.WriteString("1234567890"); err != nil {
		t.Fatal(err)
	}
	remark := o.end(time.Hour)
	if info, err := os.Stat(f.Name()); err != nil || info.Size() > 5 || out.String() != "1234567890" || !strings.Contains(remark, "longer than 64MiB") {
		t.Errorf("%v, %v, %q, %q", info, err, out.String(), remark)
	}
}
