package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/cli"
	"rumbench/internal/metric"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// TestReportPage: the page of a real campaign opens in a browser, at the size
// of a desk's screen and of a phone's, without a complaint; and the numbers in it
// are those of show --json.
func TestReportPage(t *testing.T) {
	h := newHost(t)
	h.write("plan.yaml", planFor("pebble", "bbolt"))
	h.run(cli.ExitOK, "run", "plan.yaml", "--out", "out",
		"--set", "params.rows=5000", "--set", "params.write_rows=1000", "--set", "params.query_seconds=0.5", "--set", "params.steps=[]", "--set", "params.settle_floor=0")
	shown, _ := h.run(cli.ExitOK, "show", "out", "--json")
	var want []metric.Row
	for line := range strings.Lines(shown) {
		var r metric.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		for i := range r.Warnings {
			r.Warnings[i].Values = nil // a page has the texts and their codes
		}
		want = append(want, r)
	}
	for _, size := range []string{"1440,900", "390,800"} {
		text, complaints := openPage(t, h.path("out", result.ReportFile), size)
		for _, c := range complaints {
			t.Errorf("at %s pixels: %s", size, c)
		}
		got, err := report.ReadRows([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < 200 || !reflect.DeepEqual(got, want) {
			t.Errorf("the page holds %d rows, show --json %d, and they differ (-show +page)\n%s", len(got), len(want), cmp.Diff(want, got))
		}
	}
}

// openPage opens a page in a browser, lets its scripts run, and returns the
// rows embedded in it and everything that the browser complained of. The page
// forbids all requests to the network, so that one would be among them.
func openPage(t *testing.T, path, size string) (rows string, complaints []string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		if browser, err = exec.LookPath("google-chrome"); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("no browser is installed")
			}
			t.Skip("no browser is installed: the page was not opened")
		}
	}
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--virtual-time-budget=3000", "--window-size="+size, "--dump-dom", "file://"+path)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			complaints = append(complaints, strings.TrimSpace(line))
		}
	}
	_, rest, ok := strings.Cut(string(dom), `id="rows">`)
	rows, _, end := strings.Cut(rest, "</script>")
	if !ok || !end || !strings.Contains(string(dom), "uplot") {
		t.Fatalf("the page holds no rows, or its scripts did not run: %.500s", dom)
	}
	return rows, complaints
}
