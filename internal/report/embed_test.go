package report

import (
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/report/verdict"
	"rumbench/internal/stat"
)

var (
	cellPattern       = regexp.MustCompile(`data-n="([0-9 ]+)"[^>]*>([^<]*)<`)
	judgementsPattern = regexp.MustCompile(`(?s)<script type="application/json" id="judgements">(.*?)</script>`)
)

// numberAt is what the page's rows say about a number, by the count of numbers.
type numberAt struct {
	target, step string
	kind         rowKind
	values       []float64 // of the trials that are not left out
}

func numbersAt(t rapid.TB, page string) []numberAt {
	t.Helper()
	var e readPage
	expect.NoError(t, json.Unmarshal([]byte(rowsPattern.FindStringSubmatch(page)[1]), &e))
	var out []numberAt
	for _, r := range e.Runs {
		for i, kind := range e.Shapes[r.Shape] {
			n := numberAt{target: r.Target, step: r.Step, kind: e.Kinds[kind]}
			for _, trial := range r.Trials {
				if v := trial.Values[i]; !trial.LeftOut && v != nil {
					n.values = append(n.values, *v)
				}
			}
			out = append(out, n)
		}
	}
	return out
}

// checkNumbers compares what every cell shows with the median of the rows that
// it names, and returns the number of cells.
func checkNumbers(t rapid.TB, page string) int {
	t.Helper()
	numbers := numbersAt(t, page)
	before, rest, _ := strings.Cut(page, `<section id="relative">`) // which shows ratios
	_, after, _ := strings.Cut(rest, "</section>")
	cells := cellPattern.FindAllStringSubmatch(before+after, -1)
	for _, cell := range cells {
		var values []float64
		var first numberAt
		for i, f := range strings.Fields(cell[1]) {
			at, err := strconv.Atoi(f)
			expect.Must(t, err == nil && at < len(numbers), "no number", f)
			n := numbers[at]
			if i == 0 {
				first = n
			}
			expect.Must(t, n.target == first.target && n.step == first.step && keyOf(n.kind) == keyOf(first.kind),
				"a cell of different numbers", n, "and", first)
			values = append(values, n.values...)
		}
		shown := strings.TrimSpace(html.UnescapeString(cell[2]))
		if first.kind.Metric == "sla_share" && (shown == "held" || shown == "missed") {
			continue
		}
		format := func(v float64) string {
			return number{Number: compare.Number{Key: keyOf(first.kind), Value: v, Unit: first.kind.Unit}}.String()
		}
		// The page's rows have nine digits: half a digit more may round to the next.
		v := stat.Median(values)
		expect.True(t, !(shown != format(v) && shown != format(v*(1-5e-9)) &&
			shown != format(v*(1+5e-9))), "cell shows, its rows have, as", cell[1], shown, values, format(v))
	}
	return len(cells)
}

func keyOf(k rowKind) key {
	return key{Group: k.Group, Op: k.Op, Metric: k.Metric, Per: k.Per, Labels: k.Labels}
}

// The rows come out of a page as they went in, to nine digits.
func TestReadRows(t *testing.T) {
	in := fixture(3)
	in.Trials[4].Steps[0].Rows[3].Warnings = []metric.Warning{metric.Untyped("a"), metric.Untyped("</script>")}
	in.Trials[4].Steps[0].Rows[3].Disturbed = true
	in.Trials[4].Steps[0].Rows[4].AtLeast = true
	in.Trials[4].Steps[1].Rows = slices.Delete(in.Trials[4].Steps[1].Rows, 2, 5)
	in.Trials[7].Steps[2].Rows[1].Source = "another device"
	in.Trials[7].Steps[2].Rows = append(in.Trials[7].Steps[2].Rows, in.Trials[7].Steps[2].Rows[0])
	got := embeddedRows(t, render(t, in))
	var want []metric.Row
	for _, target := range fixtureTargets {
		for _, trial := range in.Trials {
			for _, s := range trial.Steps {
				if trial.Target == target.name {
					want = append(want, s.Rows...)
				}
			}
		}
	}
	want = append(want, in.Client.Steps[0].Rows...)
	expect.Same(t, want, got, cmpopts.EquateApprox(1e-8, 0))
}

// readRows reads the rows that a page embeds: target by target, trial by trial
// and step by step.
func readRows(b []byte) (rows []metric.Row, err error) {
	var e readPage
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, err
	}
	for _, r := range e.Runs {
		for _, t := range r.Trials {
			for i, kind := range e.Shapes[r.Shape] {
				if t.Values[i] == nil {
					continue
				}
				k := e.Kinds[kind]
				row := metric.Row{Target: r.Target, Trial: t.Trial, Step: r.Step, Group: k.Group, Op: k.Op, Metric: k.Metric, Value: *t.Values[i], Unit: k.Unit, Per: k.Per, N: t.N[i], Source: k.Source, Labels: k.Labels}
				row.Disturbed, row.AtLeast = slices.Contains(t.Disturbed, i), slices.Contains(t.AtLeast, i)
				if row.Few() {
					row.MaxOf = row.N
				}
				for _, w := range t.Warnings[i] {
					row.Warnings = append(row.Warnings, metric.Warning{Text: e.Warnings[w], Code: e.Codes[w]})
				}
				rows = append(rows, row)
			}
		}
	}
	order := map[string]int{} // of the targets; of each, the trials stay together
	for i, r := range rows {
		order[r.Target] = cmp.Or(order[r.Target], i+1)
	}
	slices.SortStableFunc(rows, func(a, b metric.Row) int {
		return cmp.Or(cmp.Compare(order[a.Target], order[b.Target]), cmp.Compare(a.Trial, b.Trial))
	})
	return rows, nil
}

// readPage is what a page embeds, with nil for unknown values.
type readPage struct {
	embedded
	Runs []struct {
		embeddedRun
		Trials []struct {
			embeddedTrial
			Values []*float64 `json:"values"`
		} `json:"trials"`
	} `json:"runs"`
}

// Trials that do not have the same rows keep their own order.
func TestMerged(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		whole := rapid.SliceOfNDistinct(rapid.IntRange(0, 50), 1, 20, rapid.ID).Draw(r, "whole")
		var runs [][]int
		for range rapid.IntRange(1, 4).Draw(r, "runs") {
			var run []int
			for _, k := range whole {
				if rapid.Bool().Draw(r, "in") {
					run = append(run, k)
				}
			}
			runs = append(runs, run)
		}
		order := merged(runs)
		for _, run := range runs {
			for _, p := range run {
				if n := len(slices.DeleteFunc(slices.Clone(order), func(o int) bool { return o != p })); n != 1 {
					r.Fatalf("%v is %d times in %v", p, n, order)
				}
			}
		}
		if !follows(order, runs[0]) {
			r.Fatalf("%v does not keep %v", order, runs[0])
		}
	})
}

func follows(order, run []int) bool {
	for _, p := range order {
		if len(run) > 0 && run[0] == p {
			run = run[1:]
		}
	}
	return len(run) == 0
}

// The judgements embedded are those of the campaign, for every base.
func TestJudgements(t *testing.T) {
	in := fixture(4)
	page := render(t, in)
	numbers := numbersAt(t, page)
	var j embeddedJudgements
	expect.NoError(t, json.Unmarshal([]byte(judgementsPattern.FindStringSubmatch(page)[1]), &j))
	c := newCampaign(in.Trials)
	checked := 0
	for _, p := range j.Pairs {
		for i, v := range p.Verdict {
			at := j.From[p.Of] + i
			if p.Base != 0 {
				at = j.Score[p.Of][i]
			}
			n := numbers[at]
			e := c.judged(c.Targets[p.Base], c.Targets[p.Of]).Effect(c.Step(n.step), keyOf(n.kind))
			got := pageVerdict{}
			if v >= 0 {
				got = j.Verdicts[v]
			}
			expect.Equal(t, n.target, c.Targets[p.Of].Name, n, p.Base)
			if e == nil { // it is in no comparison
				expect.Equal(t, v, -1, n)
				continue
			}
			expect.Equal(t, got, (pageVerdict{Word: string(e.Verdict), Why: e.Why, Class: verdict.MarkOf(e).Class, Sign: verdict.MarkOf(e).Sign}), n, p.Base)
			checked++
		}
	}
	expect.True(t, checked >= 500 && len(j.Pairs) == 6, "judgements of pairs", checked, len(j.Pairs))
}
