package report

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/stat"
)

// relativeOf returns the relative table of the made-up campaign.
func relativeOf(trials int, o compare.RelativeOptions) *compare.Relative {
	return newCampaign(fixture(trials).Trials).Relative(o)
}

var someNotes = map[string]string{"l.i1": "every commit rewrites pages of three indexes", "qp500": "see the stalls"}

func TestRelativeGolden(t *testing.T) {
	for _, c := range []struct {
		file   string
		trials int
		o      compare.RelativeOptions
		write  func(io.Writer, *compare.Relative) error
	}{
		{"relative-four.txt", 4, compare.RelativeOptions{}, func(b io.Writer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{Notes: someNotes}, 0)
		}},
		{"relative-four-50.txt", 4, compare.RelativeOptions{}, func(b io.Writer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{}, 50)
		}},
		{"relative-one.txt", 1, compare.RelativeOptions{Metric: "write_kb", Round: published.Round}, func(b io.Writer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{}, 120)
		}},
		{"relative-absolute.txt", 4, compare.RelativeOptions{Metric: "service_p99_us"}, func(b io.Writer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{Absolute: true}, 120)
		}},
		{"relative-four.md", 4, compare.RelativeOptions{}, func(b io.Writer, r *compare.Relative) error {
			return RelativeMarkdown(b, r, RelativeStyle{Notes: someNotes})
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			golden(t, c.file, expect.Written(t, func(w io.Writer) error { return c.write(w, relativeOf(c.trials, c.o)) }))
		})
	}
}

// section returns the section of a page.
func section(t *testing.T, page string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<section id="relative">`)
	text, _, _ := strings.Cut(rest, "</section>")
	expect.Must(t, ok, "the page has no relative table")
	return text
}

// Every number of the section is made of the median of the rows that it names.
func TestRelativeSection(t *testing.T) {
	in := fixture(4)
	for _, trial := range in.Trials {
		if trial.Target == "bbolt" {
			trial.Steps[0].Status = result.Partial
		}
	}
	in.Notes = someNotes
	page := render(t, in)
	html := section(t, page)
	n := checkRatios(t, page, html)
	expect.True(t, n >= 14, "only cells name their rows", n)
	expect.All(t, html, "every commit rewrites pages of three indexes", "geometric mean", "without l.i0",
		"sqlite, point: no interval: 1 of at least 3 trials", ">SLA missed<", `class="better"`)
}

// checkRatios compares the cells of the section with the rows that they name.
func checkRatios(t *testing.T, page, section string) int {
	t.Helper()
	numbers := numbersAt(t, page)
	cells := cellPattern.FindAllStringSubmatch(section, -1)
	var base float64
	for _, cell := range cells {
		at := expect.Value(strconv.Atoi(cell[1]))(t)
		n := numbers[at]
		v := stat.Median(n.values)
		if n.target == fixtureTargets[0].name {
			base = v
		}
		rate := number{Number: compare.Number{Key: keyOf(n.kind), Value: v, Unit: n.kind.Unit}}.String()
		if shown := strings.TrimSpace(cell[2]); shown != rate && shown != layout.Fixed(v/base, 2).Text {
			t.Errorf("%s in %s shows %s, which is neither %s nor its ratio to %v", n.target, n.step, shown, rate, base)
		}
	}
	return len(cells)
}
