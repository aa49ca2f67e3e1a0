package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"rumbench/internal/expect"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
)

// answering is a machine whose agent answers as a test says, for a campaign in a directory with a
// trial of another machine.
func answering(t *testing.T, answers map[string]any) (h handle, other string) {
	t.Helper()
	hub, err := newHub()
	expect.NoError(t, err)
	t.Cleanup(hub.close)
	agent, err := connect("agent", nats.InProcessServer(hub.server))
	expect.NoError(t, err)
	t.Cleanup(agent.Close)
	for op, v := range answers {
		if _, err := agent.Subscribe("to."+op, func(m *nats.Msg) { _ = agent.Publish(m.Reply, answerOf(v, nil)) }); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	other = filepath.Join(dir, "trials/sqlite.1/trial.json")
	if err := errors.Join(agent.Flush(), os.MkdirAll(filepath.Dir(other), 0o755), os.WriteFile(other, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return handle{machine: &machine{Host: plan.Host{Name: "m1"}, hub: hub, lost: context.Background(), first: true,
		heard: newHeartbeat(), note: func(string) {}, dir: dir, clients: []string{campaign.ClientDir}, silence: silenceTimeout}}, other
}

// one is a file of one letter.
func one(path string) file {
	sum := sha256.Sum256([]byte("x"))
	return file{path, 1, sum[:]}
}

// endless is a machine that prints one line without end.
type endless struct{ io.Writer }

func (endless) Close() error               { return nil }
func (endless) Read(b []byte) (int, error) { return copy(b, strings.Repeat("x", len(b))), nil }

// A machine that talks without end is given up before its greeting; what it says looks like nobody else's, and ends.
func TestChatter(t *testing.T) {
	l := &link{stdin: endless{io.Discard}, kill: func() {}}
	expect.Error(t, l.greet(t.Context(), bufio.NewReader(endless{}), welcome{}), "it prints other things than an agent")
	var said []string
	m := &machine{note: func(text string) { said = append(said, text) }}
	for range mostSaid + 5 {
		m.takeNote("all is well\nm2: the disk is full" + strings.Repeat("!", 2*longestNote))
	}
	expect.True(t, len(said) == mostSaid && !strings.Contains(said[0], "\n") && len(said[0]) < 2*longestNote, len(said))
	expect.Contains(t, said[mostSaid-1], "the rest is not shown")
}

// Whatever an agent returns, it writes only what it was asked for, and is itself left out.
func TestForeignFiles(t *testing.T) {
	const own = "trials/a.1/trial.json"
	for name, files := range map[string][]file{
		"outside":          {one(own), one("trials/../../x")},
		"absolute":         {one(own), one("/etc/x")},
		"not clean":        {one(own), one("trials//a.1/x")},
		"twice":            {one(own), one(own)},
		"a long name":      {one(own), one("trials/a.1/" + strings.Repeat("x", 300))},
		"a nul":            {one(own), one("trials/a.1/\x00")},
		"a line feed":      {one(own), one("trials/a.1/x\nmachine m2: lost")},
		"deep":             {one(own), one("trials/a.1" + strings.Repeat("/x", 5000))},
		"no result":        {one("trials/a.1/x")},
		"a file as folder": {one("trials/a.1/x"), one("trials/a.1/x/y"), one(own)},
		"endless":          {one(own), {Path: "trials/a.1/x", Bytes: math.MaxInt64}, {Path: "trials/a.1/y", Bytes: math.MaxInt64}},
		"negative":         {one(own), {Path: "trials/a.1/x", Bytes: -1}},
		"another digest":   {{Path: own, Bytes: 1, SHA256: []byte("y")}},
	} {
		h, _ := answering(t, map[string]any{opTrial: returned{Attempt: 1, Files: files}, opRead: []byte("x")})
		err := h.Trial(t.Context(), result.Entry{Dir: "a.1"})
		if _, lost := errors.AsType[*campaign.LostError](err); !lost {
			t.Errorf("%s: %v", name, err)
		}
		for _, path := range []string{own, own + ".part"} {
			_, err := os.Stat(filepath.Join(h.dir, path))
			expect.Is(t, err, fs.ErrNotExist, name, path)
		}
	}
	for _, attempt := range []int64{0, 7} { // an earlier one, and one that was not asked for
		h, _ := answering(t, map[string]any{opTrial: returned{Attempt: attempt, Files: []file{one(own)}}, opRead: []byte("x")})
		err := h.Trial(t.Context(), result.Entry{Dir: "a.1"})
		expect.Error(t, err, fmt.Sprintf("attempt %d", attempt))
	}
	h, other := answering(t, map[string]any{opTrial: returned{Attempt: 1, Files: []file{one("trials/sqlite.1/trial.json"), one(own)}},
		opRead: []byte("x")})
	expect.NoError(t, h.Trial(t.Context(), result.Entry{Dir: "a.1"}))
	for path, want := range map[string]string{filepath.Join(h.dir, own): "x", other: "{}"} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s has %q, %v", path, b, err)
		}
	}
}

// A calibration replaces no trial, and removes nothing.
func TestForeignCalibration(t *testing.T) {
	for _, path := range []string{"trials/sqlite.1/trial.json", "trials/../x", "trials//x", "trials/../../x"} {
		h, other := answering(t, map[string]any{opPrepare: returned{Files: []file{one(path)}}, opRead: []byte("x")})
		err := h.Prepare(t.Context())
		if b, rerr := os.ReadFile(other); rerr != nil || string(b) != "{}" {
			t.Errorf("%s: %v; the other's trial has %q, %v", path, err, b, rerr)
		}
	}
}

// The logs of targets that a machine cannot run are here, each time that it refuses them.
func TestRefusedPlan(t *testing.T) {
	h, _ := answering(t, map[string]any{opRead: []byte("x"), opPrepare: returned{Files: []file{one("_preflight/pg/server.log")},
		Preflight: &campaign.PreflightError{Tried: 1,
			Failed: []campaign.FailedTarget{{Name: "pg", Reason: "no", Logs: []string{"_preflight/pg/server.log"}}}}}})
	for range 2 {
		err := h.Prepare(t.Context())
		failed, is := errors.AsType[*campaign.PreflightError](err)
		expect.Must(t, is && strings.Contains(err.Error(), "pg on m1: no"), err)
		if b, err := os.ReadFile(failed.Failed[0].Logs[0]); err != nil || string(b) != "x" {
			t.Errorf("log %q, %v", b, err)
		}
	}
}

// BenchmarkUpload reads a file of 64 MiB from an agent.
func BenchmarkUpload(b *testing.B) {
	hub, err := newHub()
	expect.NoError(b, err)
	defer hub.close()
	root := b.TempDir()
	a := &agent{root: root, heard: newHeartbeat(), over: b.Context(), mu: make(turn, 1), lost: silenceTimeout}
	if a.conn, err = connect("agent", nats.InProcessServer(hub.server)); err != nil {
		b.Fatal(err)
	}
	defer a.conn.Close()
	if a.home, err = newHome(root); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(a.home.run(), "trials/a.1/x")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, make([]byte, 64<<20), 0o600), a.listen()); err != nil {
		b.Fatal(err)
	}
	files, err := filesIn(a.home.run(), "trials")
	expect.NoError(b, err)
	h := handle{machine: &machine{hub: hub, lost: context.Background(), heard: newHeartbeat()}}
	b.SetBytes(64 << 20)
	for b.Loop() {
		h.dir = b.TempDir()
		expect.NoError(b, h.fetch(b.Context(), files, func(name string) string { return name }))
	}
}

// Nothing is taken where there is no room for it.
func TestRoom(t *testing.T) {
	h, _ := answering(t, nil)
	expect.Is(t, h.room([]file{{Bytes: 1 << 60}}), syscall.ENOSPC)
	expect.NoError(t, h.room([]file{{Bytes: 1}}))
}

// A line with more objects than text loses its machine: as JSON it would take a hundred times its size of memory.
func TestSwollenLine(t *testing.T) {
	var lost error
	m := &machine{lose: func(err error) { lost = err }}
	l, ok := m.readLine([]byte(`{"child":3,"message":{"kind":"led"}}`))
	expect.True(t, ok && l.Message != nil && lost == nil, l, lost)
	for _, forged := range []string{`{"message":{"outcome":{"result":{"groups":[` + strings.Repeat("{},", 30_000) + `{}]}}}}`, `{"child":`} {
		lost = nil
		_, ok := m.readLine([]byte(forged))
		expect.True(t, !ok && lost != nil, lost)
	}
}

// No line of another machine's error passes for one of this program.
func TestToldError(t *testing.T) {
	err := readAnswer(answerOf(nil, errors.New("no\nmachine m2: lost\x1b[31m"+strings.Repeat("x", 1<<20))), nil)
	expect.True(t, err != nil && !strings.Contains(err.Error(), "\nmachine") && !strings.Contains(err.Error(), "\x1b") && len(err.Error()) < 2*longestError, err)
}
