package cli_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/cli"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// TestReportPage: the page of a real campaign opens in a browser, at the size
// of a desk's screen and of a phone's, without a complaint; and the numbers in it
// are those of show --json.
func TestReportPage(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", planFor("pebble", "bbolt"))
	h.run(cli.ExitOK, "run", "plan.yaml", "--out", "out",
		"--set", "params.rows=5000", "--set", "params.write_rows=1000", "--set", "params.query_seconds=0.5", "--set", "params.steps=[]", "--set", "params.settle_floor=0")
	shown, _ := h.run(cli.ExitOK, "show", "out", "--json")
	var want []string
	for line := range strings.Lines(shown) {
		var r metric.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		want = append(want, numberText(r.Target, r.Step, r.Metric, r.Trial, r.Value))
	}
	slices.Sort(want)
	for _, size := range []string{"1440,900", "390,800"} {
		text, complaints := openPage(t, h.path("out", result.ReportFile), size)
		for _, c := range complaints {
			t.Errorf("at %s pixels: %s", size, c)
		}
		if got := numbersIn(t, text); len(got) < 200 || !slices.Equal(got, want) {
			t.Errorf("the page holds %d numbers, show --json %d, and they differ (-show +page)\n%s", len(got), len(want), cmp.Diff(want, got))
		}
	}
}

// numberText has the digits that a page has.
func numberText(target, step, metric string, trial int, value float64) string {
	text, _ := page.Numbers{value}.MarshalJSON()
	return fmt.Sprintf("%s.%d %s %s = %s", target, trial, step, metric, text)
}

// numbersIn are the numbers that a page embeds, which says itself how to read them.
func numbersIn(t *testing.T, text string) (out []string) {
	t.Helper()
	var embedded struct {
		Kinds  []struct{ Metric string }
		Shapes [][]int
		Runs   []struct {
			Target, Step string
			Shape        int
			Trials       []struct {
				Trial  int
				Values []*float64
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &embedded); err != nil {
		t.Fatal(err)
	}
	for _, r := range embedded.Runs {
		for _, trial := range r.Trials {
			for i, v := range trial.Values {
				if v != nil {
					out = append(out, numberText(r.Target, r.Step, embedded.Kinds[embedded.Shapes[r.Shape][i]].Metric, trial.Trial, *v))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// openPage opens a page in a browser, lets its scripts run, and returns the
// rows embedded in it and everything that the browser complained of. The page
// forbids all requests to the network, so that one would be among them.
func openPage(t *testing.T, path, size string) (rows string, complaints []string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		browser, err = exec.LookPath("google-chrome")
	}
	need.Installed(t, err)
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
