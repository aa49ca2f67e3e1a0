package report

import (
	"bytes"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/result"
)

// relativeOf is the relative table of the made-up campaign.
func relativeOf(trials int, o compare.RelativeOptions) *compare.Relative {
	return newCampaign(fixture(trials).Trials, 0).Relative(o)
}

var someNotes = map[string]string{"l.i1": "every commit rewrites pages of three indexes", "qp500": "see the stalls"}

func TestRelativeGolden(t *testing.T) {
	for _, c := range []struct {
		file   string
		trials int
		o      compare.RelativeOptions
		write  func(*bytes.Buffer, *compare.Relative) error
	}{
		{"relative-four.txt", 4, compare.RelativeOptions{}, func(b *bytes.Buffer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{Notes: someNotes}, 0)
		}},
		{"relative-four-50.txt", 4, compare.RelativeOptions{}, func(b *bytes.Buffer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{}, 50)
		}},
		{"relative-one.txt", 1, compare.RelativeOptions{Metric: "write_kb", Compatible: true}, func(b *bytes.Buffer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{}, 120)
		}},
		{"relative-absolute.txt", 4, compare.RelativeOptions{Metric: "service_p99_us"}, func(b *bytes.Buffer, r *compare.Relative) error {
			return RelativeText(b, r, RelativeStyle{Absolute: true}, 120)
		}},
		{"relative-four.md", 4, compare.RelativeOptions{}, func(b *bytes.Buffer, r *compare.Relative) error {
			return RelativeMarkdown(b, r, RelativeStyle{Notes: someNotes})
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b, relativeOf(c.trials, c.o)); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", c.file), b.Bytes())
		})
	}
}

// section shows the section as HTML.
func section(t *testing.T, r Relative) string {
	t.Helper()
	page, err := template.New("").Funcs(template.FuncMap{
		"mark": Marker, "style": func(i int) int { return i }, "wide": func(t Table) int { return len(t.Columns) + 1 },
	}).ParseFS(assets, "assets/relative.html", "assets/parts.html")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, "relative", r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every number of the section is the median of the rows that it names.
func TestRelativeSection(t *testing.T) {
	for _, published := range []bool{false, true} {
		in := fixture(4)
		for _, trial := range in.Trials {
			if trial.Target == "bbolt" {
				trial.Steps[0].Status = result.Partial
			}
		}
		c := newCampaign(in.Trials, 0)
		html := section(t, c.relative(someNotes, published))
		rows, err := rowsJSON(c.rows)
		if err != nil {
			t.Fatal(err)
		}
		page := html + `<script type="application/json" id="rows">` + string(rows) + `</script>`
		if n := checkNumbers(t, page); n < 14 {
			t.Errorf("published %v: only %d cells name their rows", published, n)
		}
		for _, want := range []string{"every commit rewrites pages of three indexes", "geometric mean", "without l.i0", "sqlite, point: no interval: 1 of at least 3 trials", ">SLA missed<"} {
			if !strings.Contains(html, want) {
				t.Errorf("published %v: no %q", published, want)
			}
		}
		for class, want := range map[string]bool{"pub-yellow": published, "pub-blue": published, "pub-green": published, `class="n better"`: !published, "surely better": !published} {
			if got := strings.Contains(html, class); got != want {
				t.Errorf("published %v: %s is there: %v", published, class, got)
			}
		}
	}
}

// The colours of published pages are those of their rules, each with its sign.
func TestRelativePublishedColours(t *testing.T) {
	c := newCampaign(fixture(1).Trials, 0)
	r := c.relative(nil, true)
	cell := func(table, test, target string) Cell {
		for i := range r.Tables {
			tab := &r.Tables[i]
			column := slices.IndexFunc(tab.Columns, func(c Column) bool { return c.Name == target })
			for _, g := range tab.Groups {
				for _, row := range g.Rows {
					if tab.Title == table && row.Head == test {
						return row.Cells[column]
					}
				}
			}
		}
		t.Fatalf("no %s %s %s", table, test, target)
		return Cell{}
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
		if got := cell(want.table, want.test, want.target); got.Verdict != want.class || got.Arrow != want.sign {
			t.Errorf("%s of %s in %s: %q %q, want %q %q", want.table, want.test, want.target, got.Verdict, got.Arrow, want.class, want.sign)
		}
	}
}
