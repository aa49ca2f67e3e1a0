package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"rumbench/internal/expect"
	"rumbench/internal/page/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// browser is a tab with a report.
type browser struct{ *browsertest.Tab }

func openBrowser(t *testing.T) browser {
	t.Helper()
	return browser{browsertest.Open(t)}
}

// write stores a page to be opened, and returns its address.
func write(t *testing.T, in Input) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	expect.NoError(t, os.WriteFile(file, []byte(render(t, in)), 0o644))
	return "file://" + file
}

func evaluate[T any](t *testing.T, b browser, script string) T {
	t.Helper()
	return browsertest.Evaluate[T](t, b.Tab, script)
}

var desktop = browsertest.Screen{Width: 1440, Theme: "light"}

// drawAll waits until every chart that can be seen has been drawn, and the layout with it.
const drawAll = `(async () => {
	const charts = [...document.querySelectorAll(".charts")].filter((e) => e.checkVisibility());
	for (const e of charts) {
		while (!e.classList.contains("drawn")) {
			e.scrollIntoView();
			await new Promise((r) => setTimeout(r, 10));
		}
	}
	scrollTo(0, 0);
	await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
	return charts.length;
})()`

// follow calls a function that leads to another place of the page, and waits until it is shown.
const follow = `async (lead) => {
	const before = location.hash, arrived = new Promise((r) => addEventListener("hashchange", r, { once: true }));
	lead();
	if (location.hash !== before) await arrived;
	await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
}`

func TestInBrowser(t *testing.T) {
	in := fixture(4)
	in.Published, in.Notes = publishedFixture().Published, someNotes
	address := write(t, in)
	b := openBrowser(t)
	browsertest.EachScreen(t, func(t *testing.T, s browsertest.Screen) {
		b.Show(t, address, s)
		charts := evaluate[int](t, b, drawAll)
		expect.True(t, charts != 0, "no charts")
		b.CheckWidth(t)
		b.shoot(t, fmt.Sprintf("%d-%s", s.Width, s.Theme), math.Inf(1))
	})
	t.Run("base", func(t *testing.T) { b.checkBase(t, in) })
	t.Run("few samples", b.checkFew)
	t.Run("sort", b.checkSort)
	t.Run("filters", b.checkFilters)
	t.Run("numbers in full", func(t *testing.T) { b.checkCards(t, address) })
	t.Run("rows as a file", func(t *testing.T) { b.checkRows(t, in) })
	t.Run("paper", b.checkPaper)
	t.Run("without script", func(t *testing.T) { b.checkPlain(t, address) })
	for _, r := range b.Requests() {
		expect.True(t, !(r != address && !strings.HasPrefix(r, "data:")), "the page asked for", r)
	}
}

// checkPlain opens the page with scripts off: nothing may be lost but comfort.
func (b browser) checkPlain(t *testing.T, address string) {
	browsertest.Call(t, b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Show(t, address, desktop)
	for selector, want := range map[string]int{
		"#numbers table": 1, "section.step .static svg": 3, "section.step table": 3, "#published table": 5, "#relative table": 1, "#behind svg": 3,
	} {
		expect.Equal(t, b.Visible(t, selector), want, "of are visible", selector)
	}
	b.CheckWidth(t)
	b.shoot(t, "plain", math.Inf(1))
}

// shoot stores pictures of the page down to a height, a screen each, where RUMBENCH_SHOTS says.
func (b browser) shoot(t *testing.T, name string, limit float64) {
	dir := os.Getenv("RUMBENCH_SHOTS")
	if dir == "" {
		return
	}
	const height = 1500
	size := evaluate[[2]float64](t, b, `[document.documentElement.clientWidth, document.documentElement.scrollHeight]`)
	beyond := true
	for i := 0; float64(i*height) < min(limit, size[1]); i++ {
		picture := browsertest.Call(t, b.Tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Clip:                  &page.Viewport{Y: float64(i * height), Width: size[0], Height: min(height, size[1]-float64(i*height)), Scale: 1},
			CaptureBeyondViewport: &beyond,
		})
		expect.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%02d.png", name, i)), picture.Data, 0o644))
	}
}
