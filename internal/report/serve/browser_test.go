package serve_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

// browser opens a Chromium that the site has let in. What pages complain of fails the test.
func (s site) browser() *browser {
	s.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("google-chrome")
	}
	need.Installed(s.T, err)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(s.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	b := &browser{T: s.T}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		s.Fatal(err)
	}
	var expire context.CancelFunc
	b.ctx, expire = context.WithTimeout(ctx, 2*time.Minute)
	s.Cleanup(func() {
		expire()
		cancel()
		stop()
		for _, p := range b.problems {
			s.Errorf("the page complains: %s", p)
		}
	})
	if _, err := chromedp.Call(b.ctx, runtime.Enable, cdp.Empty{}); err != nil {
		s.Fatal(err)
	}
	b.open(s.URL + "/?token=" + s.token)
	return b
}

type browser struct {
	*testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
}

func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprintf("%s at line %d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber))
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	for _, a := range actions {
		if _, err := chromedp.Run(b.ctx, a); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *browser) open(address string) {
	b.Helper()
	b.do(chromedp.Navigate(address))
}

// as shows pages on a screen of a width, in a colour scheme.
func (b *browser) as(width int64, scheme string) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	if err == nil {
		_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// evaluate returns the value of an expression on the page.
func evaluate[T any](b *browser, script string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// text returns the text of the page; "" while the browser is on its way to another.
func (b *browser) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
	if err != nil && b.ctx.Err() != nil {
		b.Fatal(err)
	}
	return text
}

// await waits until the page has a text.
func (b *browser) await(text string) {
	b.Helper()
	for range 200 {
		if strings.Contains(b.text(), text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.Fatalf("the page never has %q, but %.500s", text, b.text())
}

// Each page can be read on a phone and a screen, in the light and in the dark: nothing but
// tables and pictures is wider than the window, and letters differ from the paper.
func TestPagesInBrowser(t *testing.T) {
	store := nights(t)
	c, trials := historytest.Night(30, func(c *result.Campaign, _ []*result.Trial) { c.Name = strings.Repeat("a-long-name-", 12) })
	store.Add(strings.Repeat("deep/", 6)+"long", c, trials)
	s := open(t, store.Dir)
	s.read("/")
	b := s.browser()
	compared := "/compare.html?" + url.Values{"base": {"night-03"}, "new": {"night-15"}}.Encode()
	for _, at := range []string{"/", "/history.html", "/campaigns/night-03/live.html", "/campaigns/night-03/report.html", compared} {
		for _, width := range []int64{390, 1440} {
			for _, scheme := range []string{"light", "dark"} {
				b.as(width, scheme)
				b.open(s.URL + at)
				if wide := evaluate[int64](b, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("%s at %d pixels: the page is %d wide", at, width, wide)
				}
				colors := evaluate[[]string](b, "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
				if colors[0] == colors[1] {
					t.Errorf("%s, %s: letters have the paper's colour", at, scheme)
				}
			}
		}
	}
	// a search, and the choice of what it finds
	b.open(s.URL + "/")
	b.do(chromedp.SendKeys(`input[name="q"]`, "night-07\r"))
	b.await("1 of 21 campaigns")
	b.do(chromedp.Click(`input[type="radio"]`), chromedp.Click(`input[type="checkbox"]`), chromedp.Click("main form button"))
	b.await("base: night-07") // the choice of its target
	if at := evaluate[string](b, "location.href"); !strings.Contains(at, "compare.html?base=night-07&new=night-07") {
		t.Errorf("the comparison is at %s", at)
	}
}

// The page of a running campaign renews itself, until the campaign has ended or been killed,
// and says when nobody answers any more.
func TestLiveInBrowser(t *testing.T) {
	run := running(t)
	s := open(t, run.dir)
	b := s.browser()
	b.open(s.URL + "/campaigns/now/live.html")
	b.await("now 5,000/s")
	run.second(6, 6_666)
	b.await("now 6,666/s")
	b.do(chromedp.Reload())
	b.await("now 6,666/s")
	s.Close()
	b.await("No answer")
	again := open(t, run.dir)
	b.open(again.URL + "/campaigns/now/live.html?token=" + again.token)
	b.await("now 6,666/s")
	run.kill()
	b.await("It does not run: 1 of 3 trials complete")
}

// runningCampaign is a campaign that seems to run.
type runningCampaign struct {
	*testing.T
	dir    string
	series *os.File
	locks  []*os.File
}

// running returns a campaign in whose second trial five seconds have been measured.
func running(t *testing.T) *runningCampaign {
	t.Helper()
	store := historytest.New(t)
	c, trials := historytest.Night(1, func(c *result.Campaign, trials []*result.Trial) {
		c.Targets = []string{"db"}
		c.Trials[1].Status, c.Trials[2].Status = "", ""
		trials[1].Status = result.Running
		trials[1].Steps = trials[1].Steps[:1]
		trials[1].Steps[0].Status, trials[1].Steps[0].Rows = result.Running, nil
	})
	store.Add("now", c, trials[:2])
	dir := filepath.Join(store.Dir, "now")
	trial := result.TrialPath(dir, "db.2")
	r := &runningCampaign{T: t, dir: store.Dir}
	r.locks = []*os.File{lockOf(t, filepath.Join(dir, result.LockFile)), lockOf(t, filepath.Join(trial, result.LogFile))}
	var err error
	if r.series, err = os.Create(filepath.Join(trial, result.SeriesFile)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 5; n++ {
		r.second(n, 1000*n)
	}
	return r
}

// second adds a second of the series.
func (r *runningCampaign) second(n, rows int) {
	r.Helper()
	_, err := fmt.Fprintf(r.series, `{"step":"l.i1","src":"ops","t":%d,"dt":1,"group":"insert","op":"insert","ops":10,"rows":%d,`+
		`"p50_us":80,"p99_us":900,"max_us":1000}`+"\n"+
		`{"step":"l.i1","src":"process","t":%[1]d,"dt":1,"v":{"process.cpu_ns":1500000000}}`+"\n", n, rows)
	if err != nil {
		r.Fatal(err)
	}
}

// kill ends it as a kill of its processes does.
func (r *runningCampaign) kill() {
	for _, f := range r.locks {
		f.Close()
	}
}
