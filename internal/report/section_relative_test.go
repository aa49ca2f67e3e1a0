package report

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/page"
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
	for _, published := range []bool{false, true} {
		in := fixture(4)
		for _, trial := range in.Trials {
			if trial.Target == "bbolt" {
				trial.Steps[0].Status = result.Partial
			}
		}
		in.Notes, in.PublishedColours = someNotes, published
		page := render(t, in)
		html := section(t, page)
		n := checkRatios(t, page, html, published)
		expect.True(t, n >= 14, "published: only cells name their rows", published, n)
		expect.All(t, html, "every commit rewrites pages of three indexes", "geometric mean", "without l.i0", "sqlite, point: no interval: 1 of at least 3 trials", ">SLA missed<")
		for class, want := range map[string]bool{"pub-yellow": published, "pub-blue": published, "pub-green": published, `class="better"`: !published} {
			expect.Equal(t, strings.Contains(html, class), want, "published: is there", published, class)
		}
	}
}

// The colours of published pages are those of their rules, each with its sign.
func TestRelativePublishedColours(t *testing.T) {
	in := fixture(1)
	in.PublishedColours = true
	blocks := relativeTables(newView(&in))[0].Blocks
	cell := func(table, test, target string) page.Cell {
		for _, b := range blocks {
			tab, ok := b.(page.Table)
			if !ok {
				continue
			}
			column := slices.IndexFunc(tab.Columns, func(c page.Column) bool { return c.Name == target })
			for _, g := range tab.Groups {
				for _, row := range g.Rows {
					if tab.Title == table && row.Head == test {
						return row.Cells[column]
					}
				}
			}
		}
		t.Fatalf("no %s %s %s", table, test, target)
		return page.Cell{}
	}
	for _, want := range []struct{ table, test, target, class, sign string }{
		{"Ratios to pebble", "l.i0", "pebble", "", ""},
		{"Ratios to pebble", "l.i0", "sqlite", "pub-yellow", "↓"},
		{"Ratios to pebble", "qr100", "sqlite", "pub-blue", "↑"},
		{"Rates", "l.i0", "pebble", "pub-green", "+"},
		{"Rates", "l.i0", "bbolt", "pub-red", "−"},
		{"Rates", "qp500", "bbolt", "pub-grey", "×"}, // it missed its promise
		{"Promised rates", "qp500 insert", "bbolt", "pub-red", "−"},
		{"Promised rates", "qp500 insert", "pebble", "", ""},
	} {
		if got := cell(want.table, want.test, want.target); got.Class != want.class || got.Sign != want.sign {
			t.Errorf("%s of %s in %s: %q %q, want %q %q", want.table, want.test, want.target, got.Class, got.Sign, want.class, want.sign)
		}
	}
}

// checkRatios compares the cells of the section with the rows that they name.
func checkRatios(t *testing.T, page, section string, published bool) int {
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
		if shown := strings.TrimSpace(cell[2]); shown != rate && shown != layout.Fixed(v/base, 2).Text && !published {
			t.Errorf("%s in %s shows %s, which is neither %s nor its ratio to %v", n.target, n.step, shown, rate, base)
		}
	}
	return len(cells)
}
