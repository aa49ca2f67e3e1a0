package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t testing.TB, in Input) string {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, HTML(&b, in))
	return b.String()
}

func TestGolden(t *testing.T) {
	text := func(width int) func(*bytes.Buffer, Input) error {
		return func(b *bytes.Buffer, in Input) error { return Text(b, in, width) }
	}
	for _, c := range []struct {
		file   string
		trials int
		write  func(*bytes.Buffer, Input) error
	}{
		{"one.md", 1, func(b *bytes.Buffer, in Input) error { return Markdown(b, in, true) }},
		{"one.txt", 1, text(0)},
		{"one-60.txt", 1, text(60)},
		{"four.md", 4, func(b *bytes.Buffer, in Input) error { return Markdown(b, in, false) }},
		{"four.txt", 4, text(120)},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			expect.NoError(t, c.write(&b, fixture(c.trials)))
			golden(t, filepath.Join("testdata", c.file), b.Bytes())
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		expect.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		expect.NoError(t, os.WriteFile(file, got, 0o644))
		return
	}
	want := expect.Value(os.ReadFile(file))(t)
	expect.Same(t, string(want), string(got), "-update accepts", file)
}

func TestDeterministic(t *testing.T) {
	first := render(t, fixture(2))
	for range 3 {
		if render(t, fixture(2)) != first {
			t.Fatal("the same input gave different bytes")
		}
	}
}

var (
	rowsPattern = regexp.MustCompile(`(?s)<script type="application/json" id="rows">(.*?)</script>`)
	idPattern   = regexp.MustCompile(`\sid="([^"]+)"`)
	linkPattern = regexp.MustCompile(`href="#([^"]+)"`)
)

func embeddedRows(t rapid.TB, page string) []metric.Row {
	t.Helper()
	rows := expect.Value(readRows([]byte(rowsPattern.FindStringSubmatch(page)[1])))(t)
	return rows
}

// Every number on the page is the median of the rows that it names.
func TestNumbersAreRows(t *testing.T) {
	for _, trials := range []int{1, 2, 3} {
		in := fixture(trials)
		page := render(t, in)
		if rows, want := embeddedRows(t, page), rowsOf(in); len(rows) != want {
			t.Fatalf("%d rows embedded, want %d", len(rows), want)
		}
		if n := checkNumbers(t, page); n < 500 {
			t.Fatalf("only %d cells name their number", n)
		}
	}
}

var noNumber = regexp.MustCompile(`NaN|[+-]Inf\b`)

// Whatever came out of a campaign makes a page whose numbers are its rows.
func TestAnyCampaign(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := fixture(rapid.IntRange(1, 3).Draw(r, "trials"))
		in.Client, in.Published = nil, publishedFixture().Published
		statuses := rapid.SampledFrom([]result.Status{result.Complete, result.Complete, result.Partial, result.Failed, result.Invalid, result.Running})
		values := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e12))
		for i := range in.Trials {
			trial := in.Trials[i].Trial
			trial.Status = statuses.Draw(r, "trial status")
			trial.Steps = trial.Steps[:rapid.IntRange(0, len(trial.Steps)).Draw(r, "steps")]
			for j := range trial.Steps {
				s := &trial.Steps[j]
				s.Status = statuses.Draw(r, "step status")
				keep := s.Rows[:0]
				share := rapid.IntRange(0, 3).Draw(r, "share of rows")
				for k, row := range s.Rows {
					if k%3 < share {
						row.Value = values.Draw(r, "value")
						keep = append(keep, row)
					}
				}
				s.Rows = keep
			}
		}
		var page, other bytes.Buffer
		expect.NoError(r, HTML(&page, in))
		expect.NoError(r, Markdown(&other, in, true))
		expect.NoError(r, Text(&other, in, rapid.IntRange(0, 200).Draw(r, "width")))
		checkNumbers(r, page.String())
		all := page.String() + other.String()
		if at := noNumber.FindStringIndex(all); at != nil {
			r.Fatalf("what is no number is shown: %s", all[max(0, at[0]-200):min(len(all), at[1]+40)])
		}
	})
}

func rowsOf(in Input) (n int) {
	for _, trial := range append(in.Trials, Trial{Trial: in.Client}) {
		for _, s := range trial.Steps {
			n += len(s.Rows)
		}
	}
	return n
}

var headPattern = regexp.MustCompile(`(?s)<thead><tr><th scope="col">[^<]*</th>(.*?)</tr></thead>`)

// Every column says what it means, or is linked to the glossary.
func TestColumnsAreExplained(t *testing.T) { checkHeads(t, render(t, fixture(2)), 30) }

func checkHeads(t *testing.T, page string, lowest int) {
	t.Helper()
	heads := headPattern.FindAllStringSubmatch(page, -1)
	if len(heads) < lowest {
		t.Fatalf("only %d tables", len(heads))
	}
	for _, h := range heads {
		for _, th := range strings.Split(h[1], "<th ")[1:] {
			if !strings.Contains(th, " title=") && !strings.Contains(th, `href="#m-`) {
				t.Errorf("a column is not explained: %s", th)
			}
		}
	}
}

func TestAnchors(t *testing.T) {
	page := render(t, fixture(2))
	ids := map[string]bool{}
	for _, m := range idPattern.FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range linkPattern.FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("link to %q leads nowhere", m[1])
		}
	}
	uplot := expect.Value(os.ReadFile("../page/assets/uplot/uPlot.iife.min.js"))(t)
	own := strings.NewReplacer(string(uplot), "", "http://www.w3.org/2000/svg", "").Replace(page) // the name of a language, which nothing loads
	for _, bad := range []string{"ZgotmplZ", "http:", "https:", "//cdn", "<no value>", "NaN", "%!"} {
		if i := strings.Index(own, bad); i >= 0 {
			t.Errorf("%q in the page: %s", bad, own[max(0, i-80):min(len(own), i+80)])
		}
	}
}

// What was not measured is distinguished from zero, and what came from outside
// cannot break out of the page.
func TestUnknownAndHostile(t *testing.T) {
	in := fixture(1)
	in.Title = `</script><script>alert(1)</script>`
	in.Trials[2].Steps = in.Trials[2].Steps[:3]
	in.Trials[2].Status, in.Trials[2].Reason = result.Failed, "killed by <b>OOM</b>"
	in.Trials[0].Steps[0].Rows[0].Warnings = metric.UntypedAll([]string{"</script><img src=x>"})
	page := render(t, in)
	for _, bad := range []string{"<script>alert", "<img", "<b>OOM"} {
		expect.Lacks(t, page, bad, "the page contains")
	}
	expect.All(t, page, "bbolt: it did not reach this step: killed by &lt;b&gt;OOM")
}

func TestVerdict(t *testing.T) {
	c := newCampaign(fixture(1).Trials)
	got := map[string]string{}
	for _, s := range verdictOn(c) {
		got[s.Name] = s.Text
	}
	for step, want := range map[string]string{
		"l.i1":  "rows/s: 2.86× sqlite’s and 12.0× bbolt’s (one trial each). P99 of insert: pebble 4.09 ms, 0.338× sqlite’s 12.1 ms, ",
		"l.x":   "rows/s: 1.02× sqlite’s and 4.35× bbolt’s (one trial each). ",
		"qp500": "; not compared: bbolt (SLA missed). ",
	} {
		expect.Contains(t, got[step], want, "verdict of is, it to contain", step)
	}
}
