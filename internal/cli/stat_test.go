package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rumbench/internal/cli"
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
	line, err := talk.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
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
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if f := families["rumbench_host_context_switches_total"]; f == nil || f.Metric[0].GetCounter().GetValue() == 0 {
		t.Errorf("%v", f)
	}
	cancel()
	if c := <-code; c != cli.ExitOK {
		t.Errorf("exit code %d after an interruption", c)
	}
	if got := <-rest; !strings.Contains(got, "own CPU") {
		t.Errorf("the cost is not printed: %s", got)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Who listens at all interfaces is warned; at the loopback nobody is.
func TestListenWarns(t *testing.T) {
	for at, warned := range map[string]bool{":0": true, "0.0.0.0:0": true, "[::]:0": true, "127.0.0.1:0": false} {
		var talk bytes.Buffer
		app := &cli.App{Args: []string{"stat", "--listen", at, "--format", "none", "--interval", "20ms", "--count", "1"}, Stdout: io.Discard, Stderr: &talk, Getenv: os.Getenv}
		if code := app.Main(t.Context()); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d: %s", at, code, talk.String())
		}
		if strings.Contains(talk.String(), "warning: whoever can reach this host") != warned {
			t.Errorf("%s: %s", at, talk.String())
		}
	}
}
