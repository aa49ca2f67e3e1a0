package report

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"rumbench/internal/need"
)

// browser is a headless Chromium that notes complaints and requests.
type browser struct {
	ctx context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// openBrowser opens a browser. Its test runs with others from here on: they mostly wait.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	t.Parallel()
	path, err := exec.LookPath("chromium")
	for _, other := range []string{"chromium-browser", "google-chrome"} {
		if err != nil {
			path, err = exec.LookPath(other)
		}
	}
	need.Installed(t, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { cancel(); stop() })
	b := &browser{}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	var expire context.CancelFunc
	b.ctx, expire = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(expire)
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, runtime.Enable, cdp.Empty{})
	return b
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			b.problems = append(b.problems, fmt.Sprintf("console.%s %s %s", e.Type, arg.Value, arg.Description))
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprintf("%s at line %d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// write stores a page to be opened, and returns its address.
func write(t *testing.T, in Input) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(render(t, in)), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

func call[P, R any](t *testing.T, b *browser, command cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func evaluate[T any](t *testing.T, b *browser, script string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// open shows the page on a screen; the height matters little.
func (b *browser) open(t *testing.T, address string, width int64, theme string) {
	t.Helper()
	b.resize(t, width)
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
	if err := chromedp.Do(b.ctx, chromedp.Navigate(address)); err != nil {
		t.Fatal(err)
	}
}

// resize gives the screen another width.
func (b *browser) resize(t *testing.T, width int64) {
	t.Helper()
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
}

// drawAll scrolls through the page until every chart is drawn: on a busy machine more than once.
const drawAll = `(async () => {
	let shown, drawn;
	for (let pass = 0; pass < 20; pass++) {
		for (let y = 0; y < document.body.scrollHeight; y += 600) { scrollTo(0, y); await new Promise(r => setTimeout(r, 30)); }
		scrollTo(0, 0);
		shown = [...document.querySelectorAll(".charts")].filter((e) => e.checkVisibility());
		drawn = shown.filter((e) => e.classList.contains("drawn"));
		if (shown.length === drawn.length) break;
	}
	return [shown.length, drawn.length];
})()`

func TestInBrowser(t *testing.T) {
	in := fixture(4)
	in.Published, in.Notes = publishedFixture().Published, someNotes
	address := write(t, in)
	b := openBrowser(t)
	for _, width := range []int64{1440, 390} {
		for _, theme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d %s", width, theme), func(t *testing.T) {
				b.open(t, address, width, theme)
				if charts := evaluate[[2]int](t, b, drawAll); charts[0] == 0 || charts[0] != charts[1] {
					t.Errorf("%d of %d charts were drawn", charts[1], charts[0])
				}
				b.checkWidth(t)
				b.shoot(t, fmt.Sprintf("%d-%s", width, theme))
			})
		}
	}
	t.Run("base", func(t *testing.T) { b.checkBase(t, in) })
	t.Run("few samples", b.checkFew)
	t.Run("sort", b.checkSort)
	t.Run("filters", b.checkFilters)
	t.Run("numbers in full", func(t *testing.T) { b.checkCards(t, address) })
	t.Run("rows as a file", func(t *testing.T) { b.checkRows(t, in) })
	t.Run("paper", b.checkPaper)
	t.Run("without script", func(t *testing.T) { b.checkPlain(t, address) })
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		t.Errorf("the page complains: %s", p)
	}
	for _, r := range b.requests {
		if r != address && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
}

// checkWidth asserts that only boxes inside of the page scroll sideways.
func (b *browser) checkWidth(t *testing.T) {
	t.Helper()
	widths := evaluate[[2]int](t, b, `[document.documentElement.scrollWidth, document.documentElement.clientWidth]`)
	if widths[0] > widths[1] {
		culprits := evaluate[[]string](t, b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll, pre")).slice(0, 5).map(e => e.outerHTML.slice(0, 120))`)
		t.Errorf("the page is %d wide on a screen of %d; too wide: %q", widths[0], widths[1], culprits)
	}
}

// visible counts the elements that can be seen.
func (b *browser) visible(t *testing.T, selector string) int {
	t.Helper()
	return evaluate[int](t, b, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter(e => e.checkVisibility() && e.getBoundingClientRect().height > 20).length`, selector))
}

// checkPlain opens the page with scripts off: nothing may be lost but comfort.
func (b *browser) checkPlain(t *testing.T, address string) {
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(t, address, 1440, "light")
	for selector, want := range map[string]int{
		"#numbers table": 1, "section.step .static svg": 3, "section.step table": 3, "#published table": 5, "#relative table": 1, "#behind svg": 3,
	} {
		if n := b.visible(t, selector); n != want {
			t.Errorf("%d of %s are visible, want %d", n, selector, want)
		}
	}
	b.checkWidth(t)
	b.shoot(t, "plain")
}

// shoot stores pictures of the page, a screen each, where RUMBENCH_SHOTS says.
func (b *browser) shoot(t *testing.T, name string) { b.shootTo(t, name, math.Inf(1)) }

// shootTo stores pictures of the page down to a height.
func (b *browser) shootTo(t *testing.T, name string, limit float64) {
	dir := os.Getenv("RUMBENCH_SHOTS")
	if dir == "" {
		return
	}
	const height = 1500
	size := evaluate[[2]float64](t, b, `[document.documentElement.clientWidth, document.documentElement.scrollHeight]`)
	beyond := true
	for i := 0; float64(i*height) < min(limit, size[1]); i++ {
		picture := call(t, b, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Clip:                  &page.Viewport{Y: float64(i * height), Width: size[0], Height: min(height, size[1]-float64(i*height)), Scale: 1},
			CaptureBeyondViewport: &beyond,
		})
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%02d.png", name, i)), picture.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
