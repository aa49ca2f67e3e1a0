package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/page"
	"rumbench/internal/page/browsertest"
	"rumbench/internal/result"
)

// someClients are few levels.
var someClients = []float64{1, 4, 16, 64}

// One sweep is there as a whole; of the others what levels of a second axis, and another axis, change.
func TestSweepGolden(t *testing.T) {
	in := sweepFixture(3, 1, someClients...)
	var md string
	for i, s := range markdownSections(markdown(t, in)) {
		if i == 0 || strings.HasPrefix(s[0], "test-1, by ") {
			md += s[1]
		} else if strings.Contains(s[0], ", by ") {
			md += "## " + s[0] + "\n"
			for _, part := range strings.Split(s[1], "\n### ")[1:] {
				if strings.HasPrefix(part, "tables 1: numbers\n") || strings.HasPrefix(part, "Numbers\n") || strings.HasPrefix(part, "Scalability") {
					md += "\n### " + part
				}
			}
		}
	}
	golden(t, "sweep.md", md)
	golden(t, "sweep.txt", plainText(t, in, 120))
}

// A page of sweeps obeys what holds for all pages.
func TestSweepPage(t *testing.T) {
	page := render(t, sweepFixture(3, 1, someClients...))
	n := checkNumbers(t, page)
	expect.True(t, n >= 1000, "only cells name their number", n)
	checkAnchors(t, page)
	checkHeads(t, page, 1)
}

// Steps that are missing, not comparable or paced are gaps and words, not
// numbers.
func TestSweepWithGaps(t *testing.T) {
	in := sweepFixture(1, 0, 1, 2, 4, 8)
	for i := range in.Trials {
		trial := in.Trials[i].Trial
		switch trial.Target {
		case "innodb-rc":
			trial.Steps = trial.Steps[:2]
		case "postgres-rr":
			trial.Steps[1].Status = result.Invalid
		case "postgres-rc":
			for k := range trial.Steps[0].Rows {
				trial.Steps[0].Rows[k].Value = 0
			}
		}
	}
	page := render(t, in)
	expect.Contains(t, page, `class="ring `, "the step that is not comparable has no ring")
	checkNumbers(t, page)
}

// A sweep of which only the last step is judged is about what each target keeps; targets
// without a number at both ends are left out.
func TestSweepToItsEnd(t *testing.T) {
	in := sweepFixture(1, 1, 1, 8)
	for i := range in.Trials {
		trial := in.Trials[i].Trial
		trial.Steps = trial.Steps[:2] // test-1 by one client and by eight
		for step, rate := range []float64{1000, 250 * float64(i+1)} {
			for k, row := range trial.Steps[step].Rows {
				if row.Metric == "rows_per_s" {
					trial.Steps[step].Rows[k].Value = rate
				}
			}
		}
		trial.Steps[1].Judged = []string{"rows_per_s"}
	}
	in.Trials[3].Trial.Steps[0].Status = result.Invalid
	w := newCampaign(in.Trials).sweeps[0]
	expect.Equal(t, w.kept(), "transactions/s at clients 8 ÷ its own at clients 1: postgres-rr 0.750×, innodb-rc 0.500× and innodb-rr 0.250×")
	expect.Equal(t, w.representative().Name, "test-1.c8", "stands for the sweep")
	expect.Contains(t, markdown(t, in), "Transactions/s at clients 8 ÷ its own", "the answer does not say what is kept")
	w.levels[0].Judged = []string{"rows_per_s"}
	expect.True(t, w.kept() == "" &&
		w.representative().Name != "test-1.c8", "all steps are judged, and the sweep is about its last")
}

// What was tried again is given per operation: none where nothing failed, and
// unknown if they were not counted.
func TestPerOperation(t *testing.T) {
	in := sweepFixture(1, 1, 4)
	s := &in.Trials[0].Steps[0]
	retries := measure{metric: "retries", each: true}
	value := func() page.Cell {
		c := newCampaign(in.Trials[:2])
		return retries.cell(c.steps[0], c.Targets[0], &page.Notes{})
	}
	var done, again float64
	for _, r := range s.Rows {
		switch r.Metric {
		case "ops_per_s":
			done = float64(r.N)
		case "retries":
			again = r.Value
		}
	}
	if got := value(); math.Abs(got.Value-again/done) > 1e-12 || again == 0 {
		t.Errorf("retries per operation %+v, want %g ÷ %g", got, again, done)
	}
	drop := func(metric string) {
		for i := range s.Rows {
			if s.Rows[i].Metric == metric {
				s.Rows = append(s.Rows[:i], s.Rows[i+1:]...)
				return
			}
		}
		t.Fatalf("no %s", metric)
	}
	drop("retries")
	if got := value(); !got.Absent {
		t.Errorf("%+v of a step with errors whose retries are not known", got)
	}
	for i := range s.Rows {
		if s.Rows[i].Metric == "errors" {
			s.Rows[i].Value = 0
		}
	}
	if got := value(); got.Absent || got.Value != 0 {
		t.Errorf("%+v of a step in which nothing failed", got)
	}
	drop("errors")
	if got := value(); !got.Absent {
		t.Errorf("%+v of a step of which no errors are known", got)
	}
}

// With very many steps the tables that have a column for each show one of every
// sweep, and each step's section is folded.
func TestCrowded(t *testing.T) {
	few, many := newCampaign(sweepFixture(1, 0, 1, 4).Trials), newCampaign(sweepFixture(1, 0, 1, 2, 4, 8, 16).Trials)
	if got, _ := few.columns(few.stepsWith(spaceMeasures())); few.crowded() || len(got) != len(few.steps) {
		t.Errorf("%d of %d steps are shown", len(got), len(few.steps))
	}
	var names []string
	shown, _ := many.columns(many.stepsWith(spaceMeasures()))
	for _, s := range shown {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); !many.crowded() || got != "read-write.c16.t32 mix.r128.c16" && got != "read-write.c16.t8 mix.r128.c16" {
		t.Errorf("shown are %s", got)
	}
	for _, s := range results(many) {
		expect.True(t, !(s.Class == "step" && !s.Folded), "is not folded", s.Title)
	}
}

// In a browser the page is no wider than the screen, and a link to a folded step
// opens it.
func TestSweepInBrowser(t *testing.T) {
	address := write(t, sweepFixture(3, 1, someClients...))
	b := openBrowser(t)
	browsertest.EachScreen(t, func(t *testing.T, s browsertest.Screen) {
		b.Show(t, address, s)
		evaluate[int](t, b, drawAll)
		b.CheckWidth(t)
		b.shoot(t, fmt.Sprintf("sweep-%d-%s", s.Width, s.Theme), math.Inf(1))
	})
	n := b.Visible(t, ".sweep svg")
	expect.True(t, n >= 10, "drawings of sweeps are visible", n)
	id := evaluate[string](t, b, `document.querySelector("section.step.folded").id`)
	expect.Equal(t, b.Visible(t, "#"+id+" table"), 0, "tables of a folded step are visible")
	evaluate[any](t, b, `(`+follow+`)(() => { location.hash = document.querySelector("section.step.folded").id; })`)
	expect.Equal(t, b.Visible(t, "#"+id+" table"), 1, "tables of a step that was opened are visible")
}
