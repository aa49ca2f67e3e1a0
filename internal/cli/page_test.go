package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/cli"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// TestReportPage: the numbers in the page of a real campaign are those of show --json. What a browser makes of
// such pages is in internal/report.
func TestReportPage(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", planFor("pebble", "bbolt"))
	h.run(cli.ExitOK, "run", "plan.yaml", "--out", "out", "--set", "params.rows=2000", "--set", "params.write_rows=500",
		"--set", "params.query_seconds=0.2", "--set", "params.steps=[]")
	shown, _ := h.run(cli.ExitOK, "show", "out", "--json")
	var want []string
	for line := range strings.Lines(shown) {
		var r metric.Row
		must(t, json.Unmarshal([]byte(line), &r))
		want = append(want, numberText(r.Target, r.Step, r.Metric, r.Trial, r.Value))
	}
	slices.Sort(want)
	_, rest, _ := strings.Cut(h.file("out/"+result.ReportFile), `id="rows">`)
	text, _, _ := strings.Cut(rest, "</script>")
	if got := numbersIn(t, text); len(got) < 200 || !slices.Equal(got, want) {
		t.Errorf("the page holds %d numbers, show --json %d, and they differ (-show +page)\n%s", len(got), len(want), cmp.Diff(want, got))
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
	must(t, json.Unmarshal([]byte(text), &embedded))
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
