package report

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/page/browsertest"
)

// taken is a picture of the page as it leaves it.
type taken struct{ Title, SVG, PNG string }

// takeAll takes the pictures that a selector names.
const takeAll = `(async (selector) => {
	const out = [];
	for (const e of document.querySelectorAll(selector)) {
		if (!e.checkVisibility() || !e.getBoundingClientRect().height) continue;
		const svg = svgOf(e), png = await pngOf(svg);
		const url = await new Promise((done) => { const r = new FileReader(); r.onload = () => done(r.result); r.readAsDataURL(png); });
		out.push({ Title: titleOf(e), SVG: svg, PNG: url.replace("data:image/png;base64,", "") });
	}
	return out;
})`

func TestTakeAway(t *testing.T) {
	in := fixture(4)
	in.Published = publishedFixture().Published
	address := write(t, in)
	b := openBrowser(t)
	for _, theme := range []string{"light", "dark"} {
		t.Run("pictures "+theme, func(t *testing.T) {
			if theme == "light" {
				need.Long(t)
			}
			b.Show(t, address, browsertest.Screen{Width: 1440, Theme: theme})
			evaluate[any](t, b, crowded) // draws all charts
			before := evaluate[int](t, b, `document.querySelectorAll("*").length`)
			list := evaluate[[]taken](t, b, takeAll+`(".picture, #s1-l-i0 :is(figure, .chart), #behind figure")`)
			after := evaluate[int](t, b, `document.querySelectorAll("*").length`)
			expect.True(t, after == before, "taking pictures leaves elements in the page", after-before)
			expect.Must(t, len(list) >= 10, len(list), "pictures")
			for i, p := range list {
				p.check(t)
				p.store(t, fmt.Sprintf("taken-%s-%02d", theme, i))
			}
		})
	}
	b.Show(t, address, desktop)
	evaluate[any](t, b, crowded)
	t.Run("buttons", b.checkButtons)
	t.Run("copies", b.checkCopies)
	t.Run("numbers in full", b.checkFields)
	t.Run("what is shown", b.checkShown)
	t.Run("keyboard", b.checkKeyboard)
	t.Run("any picture", b.checkPicture)
}

// check asserts that a picture needs nothing of the page, and shows something
// on a light ground.
func (p taken) check(t *testing.T) {
	t.Helper()
	d, texts, first := xml.NewDecoder(strings.NewReader(p.SVG)), "", ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		expect.Must(t, err == nil, p.Title, "is no XML", err)
		switch e := token.(type) {
		case xml.CharData:
			texts += string(e) + "\n"
		case xml.StartElement:
			if first == "" && e.Name.Local == "rect" {
				first = fmt.Sprint(e.Attr)
			}
		}
	}
	expect.True(t, p.Title != "" && strings.Contains(p.SVG, "<title>") &&
		strings.Count(texts, p.Title) >= 2, "is not both the title of the file and in the picture", p.Title, texts)
	expect.All(t, texts, "pebble", "sqlite", "bbolt", "LSM tree against B-trees")
	expect.Equal(t, regexp.MustCompile(`var\(|class=|style=|currentcolor|color\(|<foreignObject|NaN|undefined`).FindString(p.SVG), "", p.Title)
	expect.Contains(t, first, "#ffffff", p.Title)
	b, err := base64.StdEncoding.DecodeString(p.PNG)
	expect.Must(t, err == nil && bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")), p.Title, "is no PNG", err)
	img := expect.Value(png.Decode(bytes.NewReader(b)))(t)
	coloured := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); max(r, g, b)-min(r, g, b) > 0x4000 {
				coloured++
			}
		}
	}
	expect.True(t, coloured >= 200 && img.Bounds().Dx() >= 1200, "has coloured pixels of", p.Title, coloured, img.Bounds())
}

// store keeps a picture to be looked at, where RUMBENCH_SHOTS says.
func (p taken) store(t *testing.T, name string) {
	dir := os.Getenv("RUMBENCH_SHOTS")
	if dir == "" {
		return
	}
	b, _ := base64.StdEncoding.DecodeString(p.PNG)
	for ending, content := range map[string][]byte{".svg": []byte(p.SVG), ".png": b} {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, name+ending), content, 0o644))
	}
}

// checkButtons counts the buttons: one for each picture and table, on screens only.
func (b browser) checkButtons(t *testing.T) {
	counts := evaluate[[3]int](t, b, `(() => {
		const of = (e) => e.querySelectorAll(".take").length;
		const list = [...document.querySelectorAll("main figure, main table, main .chart")].filter((e) => !e.closest(".uplot"));
		return [list.length, list.filter((e) => of(e) === 1).length, [...document.querySelectorAll(".take")].filter((e) => !e.getAttribute("aria-label").startsWith("Copy or save: ")).length];
	})()`)
	expect.True(t, counts[0] >= 50 && counts[1] == counts[0] &&
		counts[2] == 0, "of pictures and tables have a button; have no name", counts[1], counts[0], counts[2])
}

// chooses opens the menu of a table below a heading of a section, and takes a
// choice; what is copied comes back.
func (b browser) chooses(t *testing.T, table, label, clipboard string) string {
	t.Helper()
	return evaluate[string](t, b, fmt.Sprintf(`(async () => {
		let copied = "";
		const clipboard = { %s };
		Object.defineProperty(navigator, "clipboard", { configurable: true, get: () => clipboard.write && clipboard });
		document.execCommand = () => { copied = document.activeElement.value; return true; };
		takes.hidePopover();
		document.querySelector(%q).querySelector(".take").click();
		[...document.querySelectorAll(".takes button")].find((e) => e.getAttribute("aria-label") === %q).click();
		let said;
		while (!said) {
			await new Promise((r) => setTimeout(r, 10));
			said = document.querySelector(".takes [role=status]")?.textContent;
		}
		return said + "\n" + copied;
	})()`, clipboard, table, label))
}

const (
	noClipboard = ``
	clipboard   = `writeText: async (text) => { copied = text; }, write: async ([item]) => { copied = item.types.join() + " " + (await item.getType("image/png")).size; }`
)

// checkCopies copies a table and a picture, with a clipboard and without.
func (b browser) checkCopies(t *testing.T) {
	const table = `#numbers table`
	want := "Copied\n| throughput |"
	for _, extra := range []string{clipboard, noClipboard} {
		got := b.chooses(t, table, "Copy as Markdown", extra)
		lines := strings.Split(got, "\n")
		if len(lines) < 6 || !strings.HasPrefix(strings.ToLower(got), strings.ToLower(want)) || !strings.HasPrefix(lines[2], "|---|---:|") || !strings.Contains(lines[4], "| sqlite | 300,050 (0.723× ▼) |") {
			t.Errorf("copied\n%s", got)
		}
	}
	if got := b.chooses(t, "#s1-l-i0 figure", "Copy as SVG", clipboard); !strings.HasPrefix(got, "Copied\n<svg xmlns=") {
		t.Errorf("copied %.80q", got)
	}
	if got := b.chooses(t, "#s1-l-i0 figure", "Copy as PNG", clipboard); !strings.HasPrefix(got, "Copied\nimage/png ") {
		t.Errorf("copied %.80q", got)
	}
	evaluate[chromedp.Void](t, b, `URL.createObjectURL = (blob) => (window.saved = blob.type, "#"), HTMLAnchorElement.prototype.click = function () { window.saved += " " + this.download; }`)
	for label, want := range map[string]string{"Copy as PNG": "image/png l-i0-rows-s-insert.png", "Save as SVG": "image/svg+xml l-i0-rows-s-insert.svg"} {
		got := b.chooses(t, "#s1-l-i0 figure", label, noClipboard)
		expect.True(t, strings.HasPrefix(got, "Saved"), label, got)
		expect.Equal(t, evaluate[string](t, b, `saved`), want, label, got)
	}
}

// table returns a table as a file.
func (b browser) table(t *testing.T, selector, form string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(evaluate[string](t, b, fmt.Sprintf(`%s(document.querySelector(%q))`, form, selector))))
	if form == "tsv" {
		r.Comma, r.LazyQuotes = '\t', true
	}
	rows := expect.Value(r.ReadAll())(t)
	return rows
}

// checkFields compares the numbers of a file with those that the page was made of.
func (b browser) checkFields(t *testing.T) {
	const table = `#numbers table`
	rows := b.table(t, table, "csv")
	expect.Same(t, rows, b.table(t, table, "tsv"), "TSV differs from CSV")
	if d := cmp.Diff([]string{"group", "target", "l.i0", "l.i0 unit", "l.i0 ratio"}, rows[0][:5]); d != "" {
		t.Log(rows)
		t.Error(d)
	}
	// What a spreadsheet would compute becomes a text; numbers stay numbers.
	plain := evaluate[[]string](t, b, `["=1+1", "+x|y", "-a", "@b", "\t=1", "-1.5e-7", "+12 %", "-", "a"].map(plainCell)`)
	expect.Same(t, []string{"'=1+1", "'+x|y", "'-a", "'@b", "'\t=1", "-1.5e-7", "+12 %", "-", "a"}, plain)
	medians := evaluate[map[string]string](t, b, fmt.Sprintf(`Object.fromEntries([...document.querySelector(%q).tBodies[0].rows].slice(1).map((r) => [r.cells[0].firstChild.textContent.trim(), String(numberOf(r.cells[1]).median)]))`, table))
	for _, row := range rows[1:4] {
		expect.Equal(t, row[2], medians[row[1]], row)
		expect.Lacks(t, row[2], ",", row)
	}
	// A unit is in the head where it is the same in all rows, and beside the numbers elsewhere.
	evaluate[chromedp.Void](t, b, `[...document.querySelectorAll("#s1-l-i0 h3")].find((e) => wordsOf(e) === "Space").parentElement.id = "space-of-step"`)
	head := strings.Join(b.table(t, "#space-of-step table", "csv")[0], " | ")
	want := "target | live rows | live rows ratio | live data (B) | live data ratio | on disk (B) | "
	expect.True(t, strings.HasPrefix(head, want), head, want)
	for _, one := range evaluate[[]string](t, b, `[...document.querySelectorAll("main table:not(.u-legend)")].filter((e) => e.checkVisibility()).map(csv)`) {
		if _, err := csv.NewReader(strings.NewReader(one)).ReadAll(); err != nil || strings.Contains(one, "⋯") || strings.Contains(one, "↕") || strings.Contains(one, "undefined") {
			t.Errorf("%v in\n%s", err, one)
		}
	}
}

// checkShown leaves out what is hidden, and keeps the order of the rows.
func (b browser) checkShown(t *testing.T) {
	const table = `#numbers table`
	evaluate[chromedp.Void](t, b, `hiddenTargets.add(1), hiddenSteps.add(document.querySelectorAll("section.step")[1].id), applyFilters(), document.querySelectorAll('#numbers .sort')[1].click(), document.querySelectorAll('#numbers .sort')[1].click()`)
	var heads []string
	for _, row := range b.table(t, table, "csv") {
		heads = append(heads, row[1])
		expect.Lacks(t, strings.Join(row, " "), "qr100", "a hidden column is in", row)
	}
	got := strings.Join(heads, " ")
	expect.True(t, strings.HasPrefix(got, "target bbolt pebble") && !strings.Contains(got, "sqlite"), got)
	legend := evaluate[[]taken](t, b, takeAll+`("#s1-l-i0 .chart")`)
	expect.True(t, len(legend) != 0 &&
		!strings.Contains(legend[0].SVG, "sqlite"), "a hidden target is in a picture of", len(legend), legend)
	evaluate[chromedp.Void](t, b, `hiddenTargets.clear(), hiddenSteps.clear(), applyFilters()`)
}

// checkPicture takes a drawing with all that one may have: links, titles, layers
// that are not shown.
func (b browser) checkPicture(t *testing.T) {
	evaluate[chromedp.Void](t, b, `document.querySelector("#s1-l-i0").insertAdjacentHTML("beforeend", '<figure class="picture"><figcaption>Throughput</figcaption><svg viewBox="0 0 900 60"><a href="#s1"><text x="10" y="20">sqlite</text></a><path class="fill t1" d="M10 30h500v20h-500z"><title>more</title></path><g hidden><text>hidden</text></g></svg></figure>')`)
	list := evaluate[[]taken](t, b, takeAll+`("#s1-l-i0 .picture")`)
	expect.Must(t, len(list) == 1, len(list), "pictures")
	svg := list[0].SVG // which names its series itself: so a legend does not
	expect.Equal(t, strings.Count(svg, "sqlite"), 1, "a legend beside a picture that has names")
	if !strings.Contains(svg, `width="932"`) || !strings.Contains(svg, `fill="#d55e00"`) || !strings.Contains(svg, "<title>more</title>") || strings.Contains(svg, "hidden") || strings.Contains(svg, "href") {
		t.Error(svg)
	}
}

// checkKeyboard opens and closes a menu without a pointer.
func (b browser) checkKeyboard(t *testing.T) {
	state := func() string {
		return evaluate[string](t, b, `(document.activeElement.getAttribute("aria-label") || "") + " " + document.querySelectorAll(".takes:popover-open").length`)
	}
	evaluate[chromedp.Void](t, b, `takes.hidePopover(), document.querySelector("#s1-l-i0 figure .take").focus()`)
	b.Do(t, chromedp.KeyEvent("\r"))
	expect.Equal(t, state(), "Copy as PNG 1", "after Enter")
	b.Do(t, chromedp.KeyEvent("\x1b"))
	expect.Equal(t, state(), "Copy or save: rows/s (insert) 0", "after Escape")
}
