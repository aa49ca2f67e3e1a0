// Package browsertest opens pages in a headless Chromium, to test what they do there. It is for tests
// only, and knows nothing of what the pages show.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"rumbench/internal/need"
)

// process is the browser of a test program: its tests share it.
var process struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// Main runs the tests of a package, and ends the browser that they have started.
func Main(m *testing.M) {
	code := m.Run()
	if process.stop != nil {
		process.stop()
	}
	os.Exit(code)
}

func start(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-component-update", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	process.ctx, process.stop = ctx, func() { cancel(); stop() }
	process.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// Tab is a window with one page. It notes what its pages request.
type Tab struct {
	Context context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// Open opens a tab with cookies of its own. What its pages complain of fails the test.
func Open(t *testing.T) *Tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	for _, other := range []string{"chromium-browser", "google-chrome"} {
		if err != nil {
			path, err = exec.LookPath(other)
		}
	}
	need.Installed(t, err)
	if process.once.Do(func() { start(path) }); process.err != nil {
		t.Fatal(process.err)
	}
	tab := &Tab{}
	ctx, cancel := chromedp.NewContext(process.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		cancel()
		for _, p := range tab.problems {
			t.Errorf("the page complains: %s", p)
		}
	})
	if end, ok := t.Deadline(); ok { // that of the package, before which this test says where it waits
		var expire context.CancelFunc
		ctx, expire = context.WithDeadline(ctx, end.Add(-10*time.Second))
		t.Cleanup(expire)
	}
	tab.Context = ctx
	if err := chromedp.Listen(ctx, tab.note); err != nil {
		t.Fatal(err)
	}
	Call(t, tab, network.Enable, network.EnableParams{})
	Call(t, tab, runtime.Enable, cdp.Empty{})
	return tab
}

func (b *Tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, arg := range e.Args {
			b.problems = append(b.problems, fmt.Sprintf("console.%s %s %s", e.Type, arg.Value, arg.Description))
		}
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		b.problems = append(b.problems, fmt.Sprintf("%s at line %d", d.Text, d.LineNumber))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// Requests returns the addresses that the pages have requested.
func (b *Tab) Requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.requests)
}

// Call executes a command of the browser.
func Call[P, R any](t testing.TB, b *Tab, command cdp.Command[P, R], params P) R {
	t.Helper()
	r, err := chromedp.Call(b.Context, command, params)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Evaluate returns the value of a script on the page, or of the promise that it returns.
func Evaluate[T any](t testing.TB, b *Tab, script string) T {
	t.Helper()
	v, err := chromedp.Run(b.Context, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Do acts as the reader of a page.
func (b *Tab) Do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.Context, actions...); err != nil {
		t.Fatal(err)
	}
}

// Screen is a window: narrower than 600 pixels it is that of a phone.
type Screen struct {
	Width int64
	Theme string // light or dark
}

// EachScreen runs a test in a wide window in the light and on a phone in the dark. make test-long
// exchanges the themes, too.
func EachScreen(t *testing.T, test func(t *testing.T, s Screen)) {
	for i, s := range []Screen{{390, "light"}, {1440, "dark"}, {390, "dark"}, {1440, "light"}} {
		t.Run(fmt.Sprint(s.Width, " ", s.Theme), func(t *testing.T) {
			if i < 2 {
				need.Long(t)
			}
			test(t, s)
		})
	}
}

// Show opens a page on a screen; the height matters little.
func (b *Tab) Show(t testing.TB, address string, s Screen) {
	t.Helper()
	b.Resize(t, s.Width)
	Call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.Theme}}})
	b.Do(t, chromedp.Navigate(address))
}

// Resize gives the screen another width.
func (b *Tab) Resize(t testing.TB, width int64) {
	t.Helper()
	Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
}

// tooWide returns the width of the page if it exceeds that of the screen, and what is responsible.
const tooWide = `(() => {
	const page = document.documentElement;
	if (page.scrollWidth <= page.clientWidth) return [];
	const outside = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll, pre"));
	return ["the page is " + page.scrollWidth + " wide on a screen of " + page.clientWidth, ...outside.slice(0, 5).map(e => e.outerHTML.slice(0, 120))];
})()`

// CheckWidth asserts that only boxes inside of the page scroll sideways.
func (b *Tab) CheckWidth(t testing.TB) {
	t.Helper()
	if wide := Evaluate[[]string](t, b, tooWide); len(wide) > 0 {
		t.Errorf("%q", wide)
	}
}

// Visible counts the elements that can be seen.
func (b *Tab) Visible(t testing.TB, selector string) int {
	t.Helper()
	return Evaluate[int](t, b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].filter(e => e.checkVisibility() && e.getBoundingClientRect().height > 20).length`, selector))
}
