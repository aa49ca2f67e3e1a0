package report

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t rapid.TB, in Input) string {
	t.Helper()
	return expect.Written(t, func(w io.Writer) error { return HTML(w, in) })
}

// markdown returns the report as Markdown, with all that a page folds.
func markdown(t rapid.TB, in Input) string {
	t.Helper()
	return expect.Written(t, func(w io.Writer) error { return Markdown(w, in, true) })
}

// plainText returns the report as text.
func plainText(t rapid.TB, in Input, width int) string {
	t.Helper()
	return expect.Written(t, func(w io.Writer) error { return Text(w, in, width) })
}

// forms returns the report in its three forms.
func forms(t rapid.TB, in Input) map[string]string {
	t.Helper()
	return map[string]string{"HTML": render(t, in), "Markdown": markdown(t, in), "text": plainText(t, in, 0)}
}

// markdownSections returns the sections of a Markdown, titles first; the first one has the title of the report.
func markdownSections(text string) (out [][2]string) {
	for _, s := range strings.Split(strings.TrimPrefix(text, "# "), "\n## ") {
		title, _, _ := strings.Cut(s, "\n")
		out = append(out, [2]string{title, "## " + s + "\n"})
	}
	return out
}

// In golden files each section is there once: one step has what all steps have, another what
// promised rates add, the third is one of rest.
func TestGolden(t *testing.T) {
	one := ""
	for _, s := range markdownSections(markdown(t, fixture(1))) {
		if !slices.Contains([]string{"l.i0", "l.x", "qp500", "Glossary"}, s[0]) {
			one += s[1]
		}
	}
	four := fixture(4)
	for file, text := range map[string]string{
		"one.md": one, "one.txt": plainText(t, fixture(1), 0), "one-60.txt": plainText(t, fixture(1), 60), "four.txt": plainText(t, four, 120),
		"four.md": expect.Written(t, func(w io.Writer) error { return Markdown(w, four, false) }),
	} {
		golden(t, file, text)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		expect.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	expect.Same(t, string(expect.Value(os.ReadFile(file))(t)), got, file, "(-update accepts)")
}

func TestDeterministic(t *testing.T) {
	for name, in := range map[string]func() Input{
		"targets": func() Input { return fixture(2) }, "waits": waiting, "sweep": func() Input { return sweepFixture(2, 1, 1, 4) },
	} {
		expect.Equal(t, render(t, in()), render(t, in()), "the same input gave different bytes", name)
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

// changeRows changes the rows of all trials.
func changeRows(trials []Trial, change func(r *metric.Row)) {
	for _, t := range trials {
		for i := range t.Steps {
			for k := range t.Steps[i].Rows {
				change(&t.Steps[i].Rows[k])
			}
		}
	}
}

var noNumber = regexp.MustCompile(`NaN|[+-]Inf\b`)

// Whatever came out of a campaign makes a page whose numbers are its rows.
func TestAnyCampaign(t *testing.T) {
	left := need.Repeats(30, 1000)
	rapid.Check(t, func(r *rapid.T) {
		if left--; left < 0 {
			return
		}
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
		page := render(r, in)
		checkNumbers(r, page)
		all := page + markdown(r, in) + plainText(r, in, rapid.IntRange(0, 200).Draw(r, "width"))
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
	expect.Must(t, len(heads) >= lowest, "only", len(heads), "tables")
	for _, h := range heads {
		for _, th := range strings.Split(h[1], "<th ")[1:] {
			expect.True(t, strings.Contains(th, " title=") || strings.Contains(th, `href="#m-`),
				"a column is not explained", th)
		}
	}
}

func TestAnchors(t *testing.T) { checkAnchors(t, render(t, fixture(2))) }

// checkAnchors asserts that links lead somewhere, and that the page loads nothing.
func checkAnchors(t *testing.T, page string) {
	t.Helper()
	ids := map[string]bool{}
	for _, m := range idPattern.FindAllStringSubmatch(page, -1) {
		expect.True(t, !ids[m[1]], m[1])
		ids[m[1]] = true
	}
	for _, m := range linkPattern.FindAllStringSubmatch(page, -1) {
		expect.True(t, ids[m[1]], "link to leads nowhere", m[1])
	}
	uplot := expect.Value(os.ReadFile("../page/assets/uplot/uPlot.iife.min.js"))(t)
	own := strings.NewReplacer(string(uplot), "", "http://www.w3.org/2000/svg", "").Replace(page) // the name of a language, which nothing loads
	for _, bad := range []string{"ZgotmplZ", "http:", "https:", "//cdn", "<no value>", "NaN", ">Inf", "%!"} {
		expect.Lacks(t, own, bad)
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
		"l.i1":  "rows/s: 2.86× sqlite’s and 12.0× bbolt’s (one trial each). Stalled: ",
		"l.x":   "rows/s: 1.02× sqlite’s and 4.35× bbolt’s (one trial each).",
		"qp500": "; not compared: bbolt (SLA missed). ",
	} {
		expect.Contains(t, got[step], want, "verdict of is, it to contain", step)
	}
}
