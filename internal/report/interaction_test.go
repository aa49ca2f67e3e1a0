package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/page/browsertest"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result/layout"
	"rumbench/internal/text/quantity"
)

// inGroup is a script for the texts of the rows of a group of the numbers.
const inGroup = `(group) => {
	const head = [...document.querySelectorAll("#numbers tr.group")].find((r) => r.cells[0].textContent.startsWith(group));
	return [...head.parentElement.rows].slice(1).map((r) => [...r.cells].map((c) => c.innerText.replace(/\s+/g, " ").trim()).join(" | "));
}`

// checkBase takes every target for the base, and compares the numbers and the
// relative table with those of a campaign that has it for its base.
func (b browser) checkBase(t *testing.T, in Input) {
	b.choose(t, "2")
	defer b.choose(t, "0")
	c := newCampaign(in.Trials)
	base := c.Targets[2]
	for _, m := range numberMeasures {
		var want []string
		for _, tg := range c.Targets {
			line := tg.Name
			if tg == base {
				line += " base"
			}
			for _, s := range c.steps {
				if s.Primary == "" || s.Warmup || compare.IsProbe(s.Step) {
					continue
				}
				k, ok := m.key(s)
				cell := page.Cell{Text: quantity.Unknown}
				if ok {
					cell = s.cell(tg, base, k, &page.Notes{})
				}
				if cell.Ratio == "" {
					cell.Sign = "" // the page does not show it alone
				}
				line += " | " + strings.Join(strings.Fields(cell.Text+" "+cell.Ratio+" "+cell.Sign+" "+cell.Tag), " ")
			}
			want = append(want, line)
		}
		got := evaluate[[]string](t, b, fmt.Sprintf(`(%s)(%q)`, inGroup, m.label()))
		expect.Same(t, want, got, m.label())
	}
	s := c.steps[0]
	k, _ := s.Rate(s.Primary)
	want := layout.Fixed(s.number(c.Targets[0], k).Value/s.number(base, k).Value, 2).Text + verdict.SureMark(compare.Better).Sign
	expect.Equal(t, evaluate[string](t, b, `[...document.querySelectorAll("#relative tr")].find((r) => r.cells[0].textContent === "l.i0").cells[1].innerText`), want)
	expect.Equal(t, b.Visible(t, ".tools + .about"), 1, "nothing says that the base is another")
}

func (b browser) choose(t *testing.T, base string) {
	t.Helper()
	before := evaluate[string](t, b, `document.querySelector("main").innerText`)
	evaluate[chromedp.Void](t, b, `{ const s = document.querySelector(".tools select"); s.value = "`+base+`"; s.dispatchEvent(new Event("change")); }`)
	expect.True(t, base != "0" || before != evaluate[string](t, b, `document.querySelector("main").innerText`),
		"another base changes nothing")
}

// checkSort sorts a table by a column: each group by itself, its head in front.
func (b browser) checkSort(t *testing.T) {
	order := func() string {
		return strings.Join(evaluate[[]string](t, b, `[...document.querySelectorAll("#numbers tbody th")].slice(0, 8).map((th) => th.firstElementChild?.tagName === "SPAN" ? th.innerText.toUpperCase() : th.firstChild.textContent.trim())`), " ")
	}
	at := order()
	for _, want := range []string{
		"THROUGHPUT bbolt sqlite pebble P99 LATENCY pebble sqlite bbolt", // descending: each group by itself
		"THROUGHPUT pebble sqlite bbolt P99 LATENCY bbolt sqlite pebble",
		at,
	} {
		evaluate[chromedp.Void](t, b, `[...document.querySelectorAll("#numbers thead th")].find((th) => th.textContent.startsWith("qr100")).querySelector(".sort").click()`)
		expect.Equal(t, order(), want, "sorted")
	}
}

// checkFilters hides a target and a step everywhere, and finds rows.
func (b browser) checkFilters(t *testing.T) {
	click := func(menu, label string) {
		evaluate[chromedp.Void](t, b, fmt.Sprintf(`[...document.querySelectorAll(".menu")].find((m) => m.innerText.startsWith(%q)).querySelectorAll("label").forEach((l) => l.textContent.trim() === %q && l.querySelector("input").click())`, menu, label))
	}
	shown := func(selector string) int { return b.Visible(t, selector) }
	evaluate[chromedp.Void](t, b, `document.querySelector("#settings details").open = true`)
	rows, steps, columns := shown(`[data-t="1"]`), shown("section.step"), shown("#settings thead th")
	click("Targets", "sqlite")
	click("Steps", "l.x")
	if n := shown(`[data-t="1"]`); n != 0 || rows == 0 {
		t.Errorf("%d of %d rows of a hidden target are visible", n, rows)
	}
	expect.Equal(t, shown("section.step"), steps-1, "steps are visible")
	expect.Equal(t, shown("#settings thead th"), columns-1, "columns of the settings are visible")
	expect.Equal(t, shown(`#numbers thead th`), 5, "columns of the numbers are visible")
	click("Targets", "sqlite")
	click("Steps", "l.x")
	expect.Equal(t, shown(`[data-t="1"]`), rows, "what was hidden does not come back")
	expect.Equal(t, shown("section.step"), steps, "what was hidden does not come back")
	find := func(text string) int {
		evaluate[chromedp.Void](t, b, fmt.Sprintf(`{ const i = document.querySelector(".tools input[type=search]"); i.value = %q; i.dispatchEvent(new Event("input")); }`, text))
		return shown("#settings tbody tr:not(.group)")
	}
	all, some := find(""), find("durab")
	expect.True(t, some == 1 && all >= 5, "of settings are found", some, all)
	if n := find(""); n < 5 {
		t.Errorf("%d settings come back", n)
	}
	evaluate[chromedp.Void](t, b, `[...document.querySelectorAll(".tools > label")].find((l) => l.innerText.includes("Remarks")).querySelector("input").click()`)
	expect.Equal(t, shown(".notes"), 0, "lists of remarks are visible")
	evaluate[chromedp.Void](t, b, `(`+follow+`)(() => { location.hash = document.querySelector(".notes li").id; })`)
	expect.Equal(t, shown(".notes li:target"), 1, "a link to a remark does not show it")
}

// checkCards looks a number up in full, and comes back to it by its link.
func (b browser) checkCards(t *testing.T, address string) {
	const cell = `[...document.querySelectorAll("section.step tr[data-t='1'] td[data-n]")][0]`
	title := evaluate[string](t, b, cell+`.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })), `+cell+`.title`)
	expect.All(t, title, "sqlite · l.i1", "median of 4 trials: ", "(trial 4)", "against pebble: ")
	link := evaluate[string](t, b, cell+`.click(), document.querySelector(".card a").href`)
	expect.Must(t, strings.HasPrefix(link, address+"#n"), "the link is", link)
	b.Show(t, link, desktop)
	if got := evaluate[string](t, b, `document.querySelector(".card p").innerText + (document.querySelector("td.picked").getBoundingClientRect().top < innerHeight ? "" : ": not in sight")`); got != "sqlite · l.i1 · insert" {
		t.Errorf("the link leads to %q", got)
	}
	evaluate[chromedp.Void](t, b, `dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))`)
	expect.Equal(t, b.Visible(t, ".card"), 0, "the card does not go away")
}

// checkRows compares the file that can be downloaded with the rows of the trials.
func (b browser) checkRows(t *testing.T, in Input) {
	var got, want []metric.Row
	expect.NoError(t, json.Unmarshal([]byte(evaluate[string](t, b, `JSON.stringify(plainRows())`)), &got))
	for _, trial := range append(slices.Clone(in.Trials), Trial{Trial: in.Client}) {
		for _, s := range trial.Steps {
			want = append(want, s.Rows...)
		}
	}
	order := func(a, b metric.Row) int {
		value := cmp.Compare(a.Value, b.Value)
		a.Value, b.Value = 0, 0
		return cmp.Or(cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)), value)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	expect.Same(t, want, got, cmpopts.EquateApprox(1e-8, 0), cmpopts.EquateEmpty())
}

// checkPaper prints the page: on paper drawings stand in for the charts, and what is
// folded stays so, as everything would be a hundred pages.
func (b browser) checkPaper(t *testing.T) {
	pdf := browsertest.Call(t, b.Tab, cdp.PrintToPDF, cdp.PrintToPDFParams{})
	expect.True(t, len(pdf.Data) >= 100_000, "a document of bytes", len(pdf.Data))
	browsertest.Call(t, b.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for selector, want := range map[string]int{".static svg": 3, ".chart": 0, ".take": 0, ".tools": 0, "#numbers table": 1} {
		expect.Equal(t, b.Visible(t, selector), want, "of are on paper", selector)
	}
	browsertest.Call(t, b.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "screen"})
}

// checkFew asserts that percentiles of too few samples are not alike: they are the
// greatest of as many as there were.
func (b browser) checkFew(t *testing.T) {
	got := evaluate[[2]bool](t, b, `(() => {
		const cell = document.querySelector("td[data-n]"), { run, i } = page.numbers[numberOf(cell).id], trial = run.trials.find((t) => !t.left_out);
		const enough = alike(cell, cell);
		trial.few = [i];
		const few = alike(cell, cell);
		delete trial.few;
		return [enough, few];
	})()`)
	expect.Equal(t, got, [2]bool{true, false}, "alike with enough samples and with few")
}
