package fleet

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/plan"
	"rumbench/internal/result/program"
)

func openGate(t *testing.T, life time.Duration, names ...string) (*gate, pass) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "join", "plan.json")
	g, err := newGate("127.0.0.1:0", path, names, life, func(string) {})
	expect.NoError(t, err)
	t.Cleanup(g.close)
	g.wait = time.Hour
	return g, passAt(t, path)
}

func passAt(t *testing.T, path string) pass {
	t.Helper()
	p, err := readPass(path)
	expect.NoError(t, err)
	return p
}

// refusal is what a gate answers to a first line; "": it lets its sender in.
func refusal(t *testing.T, g *gate, p pass, line string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", p.Address, &tls.Config{InsecureSkipVerify: true})
	expect.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintln(conn, line)
	answer := make(chan string, 1)
	go func() {
		var w welcome
		if json.NewDecoder(conn).Decode(&w) == nil {
			answer <- w.Refused
		}
	}()
	for ; ; time.Sleep(time.Millisecond) {
		for _, name := range g.names {
			select {
			case text := <-answer:
				return text
			case <-g.seats[name]:
				return ""
			default:
			}
		}
	}
}

func line(k knock) string {
	b, _ := json.Marshal(k)
	return string(b)
}

// A token lets one agent in, as its machine, once, in its time.
func TestTokens(t *testing.T) {
	g, p := openGate(t, time.Hour, "a", "b", "c")
	refused := func(what, text, want string) {
		t.Helper()
		if got := refusal(t, g, p, text); !strings.Contains(got, want) || got == "" {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	refused("no token", line(knock{"a", ""}), "no agent")
	refused("no agent", "GET / HTTP/1.1", "no agent")
	refused("a long line", strings.Repeat("x", mostKnock+1), "no agent")
	refused("the token of another", line(knock{"a", p.Tokens["b"]}), "not valid")
	refused("a token of nobody", line(knock{"d", p.Tokens["b"]}), "not valid")
	refused("a wrong token", line(knock{"a", p.Tokens["a"] + "x"}), "not valid")
	expect.Equal(t, refusal(t, g, p, line(knock{"a", p.Tokens["a"]})), "", "the right token")
	refused("a token again", line(knock{"a", p.Tokens["a"]}), "was used")
	expect.NoError(t, g.renew())
	later := passAt(t, g.path)
	if _, again := later.Tokens["a"]; again || later.Tokens["b"] == p.Tokens["b"] || len(later.Tokens) != 2 {
		t.Errorf("tokens after a machine has joined: %d", len(later.Tokens))
	}
	for name, token := range map[string]string{"b": p.Tokens["b"], "c": later.Tokens["c"]} { // an older one, a newer one
		expect.Equal(t, refusal(t, g, p, line(knock{name, token})), "", name)
	}
	for err := error(nil); !os.IsNotExist(err); time.Sleep(time.Millisecond) { // when all have joined, the tokens go
		_, err = os.Stat(g.path)
	}
	for ; ; time.Sleep(time.Millisecond) { // the port is closed after the file is gone
		conn, err := net.Dial("tcp", p.Address)
		if err != nil {
			break
		}
		conn.Close()
	}
}

func TestOldToken(t *testing.T) {
	g, p := openGate(t, -time.Second, "a")
	if got := refusal(t, g, p, line(knock{"a", p.Tokens["a"]})); !strings.Contains(got, "too old") {
		t.Errorf("%q", got)
	}
}

// An agent joins only the coordinator that has written its file, and only with a file that is its own.
func TestKnock(t *testing.T) {
	g, p := openGate(t, time.Hour, "a", "b")
	knockOf := func(name string) error {
		conn, err := knockAt(t.Context(), g.path, name)
		if err == nil {
			conn.Close()
		}
		return err
	}
	fails := func(what string, err error, want string) {
		t.Helper()
		expect.True(t, err != nil && strings.Contains(err.Error(), want), what, err, "want", want)
	}
	fails("no name", knockOf(""), "not known which machine")
	fails("a wrong name", knockOf("x"), "not known which machine")
	t.Setenv("SLURM_PROCID", "1")
	if name, err := p.machineName(""); name != "b" || err != nil {
		t.Errorf("task 1 of Slurm is %q, %v", name, err)
	}
	t.Setenv("SLURM_PROCID", "2")
	fails("too many tasks", knockOf(""), "not known which machine")
	t.Setenv("SLURM_PROCID", "")
	expect.NoError(t, os.Chmod(g.path, 0o640))
	fails("a file of others", knockOf("a"), "others may read")
	p.Digest = digestOf(nil)
	b, _ := json.Marshal(p)
	g.path += ".other"
	expect.NoError(t, os.WriteFile(g.path, b, 0o600))
	fails("another coordinator", knockOf("a"), "is not the rumbench that wrote")
	if _, waits := errors.AsType[waiting](knockOf("a")); !waits {
		t.Error("an agent does not wait for the coordinator that has written its file")
	}
}

// An agent that joins and dies before it is welcomed is an error, and nobody waits for it.
func TestJoinsAndDies(t *testing.T) {
	g, _ := openGate(t, time.Hour, "a")
	conn, err := knockAt(t.Context(), g.path, "a")
	expect.NoError(t, err)
	conn.Close()
	c := &Coordinator{gate: g, machines: []*machine{{Host: plan.Host{Name: "a", Join: true}, gate: g,
		lost: t.Context(), heard: newHeartbeat(), silence: silenceTimeout, note: func(string) {}}}}
	expect.Error(t, c.machines[0].begin(t.Context(), program.Build{}), "machine a: its agent")
	c.Close()
}

// An agent that has joined and is not welcomed ends with its context.
func TestUnwelcomed(t *testing.T) {
	g, _ := openGate(t, time.Hour, "a")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- Join(ctx, Local{}, g.path, "a", func(string) {}) }()
	conn, err := g.await(t.Context(), "a")
	expect.NoError(t, err)
	defer conn.Close()
	cancel()
	expect.Error(t, <-ended, "", "it ends without an error")
}

func TestAddressOf(t *testing.T) {
	for name, want := range map[string]string{"": "", "10.0.0.5": "10.0.0.5", "localhost": "no address that others reach"} {
		got, err := addressOf(t.Context(), name)
		if text := got + fmt.Sprint(err); !strings.Contains(text, want) || (err == nil) != (got == want) {
			t.Errorf("%q: %s", name, text)
		}
	}
}
