package cli_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"rumbench/internal/cli"
	"rumbench/internal/expect"
)

// TestEndpoint runs the command as a service, asks it, and interrupts it.
func TestEndpoint(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, stderr := io.Pipe()
	app := &cli.App{
		Args:   []string{"stat", "--listen", "127.0.0.1:0", "--format", "none", "--interval", "20ms"},
		Stdout: io.Discard, Stderr: stderr, Getenv: os.Getenv,
	}
	code := make(chan int, 1)
	go func() {
		code <- app.Main(ctx)
		stderr.Close()
	}()
	talk := bufio.NewReader(r)
	line := expect.Value(talk.ReadString('\n'))(t)
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(line)
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(talk)
		rest <- string(b)
	}()
	var text string
	for !strings.Contains(text, "rumbench_host_cpu_busy_ratio") { // until there is a sample with rates
		text = get(t, url)
	}
	expect.True(t, regexp.MustCompile(`\nrumbench_host_context_switches_total [1-9]`).MatchString(text),
		"no context switches in", text)
	cancel()
	expect.Equal(t, <-code, cli.ExitOK, "exit code", "after an interruption")
	if got := <-rest; !strings.Contains(got, "own CPU") {
		t.Errorf("the cost is not printed: %s", got)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp := expect.Value(http.Get(url))(t)
	defer resp.Body.Close()
	return string(expect.Value(io.ReadAll(resp.Body))(t))
}

// Who listens at all interfaces is warned; at the loopback nobody is.
func TestListenWarns(t *testing.T) {
	for at, warned := range map[string]bool{":0": true, "0.0.0.0:0": true, "[::]:0": true, "127.0.0.1:0": false} {
		_, talk, code := rumbench(t, "stat", "--listen", at, "--format", "none", "--interval", "20ms", "--count", "1")
		expect.True(t, code == cli.ExitOK && strings.Contains(talk, "warning: whoever can reach this host") == warned,
			at, "exit code", code, talk)
	}
}
