package serve_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/page/browsertest"
	"rumbench/internal/result"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// browser is a tab that the site has let in.
type browser struct {
	*browsertest.Tab
	site
}

func (s site) browser() browser {
	s.Helper()
	b := browser{browsertest.Open(s.T), s}
	b.open("/?token=" + s.token)
	return b
}

func (b browser) open(at string) {
	b.Helper()
	b.Do(b.T, chromedp.Navigate(b.URL+at))
}

// await waits until the page has a text. There is none while the browser is on its way to another page.
func (b browser) await(text string) {
	b.Helper()
	b.until(text, func() bool {
		body, err := chromedp.Run(b.Context, chromedp.Evaluate[string]("document.body ? document.body.innerText : ''"))
		expect.Must(b, err == nil || b.Context.Err() == nil, err)
		return strings.Contains(body, text)
	})
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
	browsertest.EachScreen(t, func(t *testing.T, screen browsertest.Screen) {
		for _, at := range []string{"/", "/history.html", "/campaigns/night-03/live.html", "/campaigns/night-03/report.html", compared} {
			t.Run(at, func(t *testing.T) {
				b.Show(t, s.URL+at, screen)
				b.CheckWidth(t)
				const colors = "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
				c := browsertest.Evaluate[[]string](t, b.Tab, colors)
				expect.True(t, c[0] != c[1], "letters have the paper's colour")
			})
		}
	})
	// a search, and the choice of what it finds
	b.open("/")
	b.Do(t, chromedp.SendKeys(`input[name="q"]`, "night-07\r"))
	b.await("1 of 21 campaigns")
	b.Do(t, chromedp.Click(`input[type="radio"]`), chromedp.Click(`input[type="checkbox"]`), chromedp.Click("main form button"))
	b.await("base: night-07") // the choice of its target
	if at := browsertest.Evaluate[string](t, b.Tab, "location.href"); !strings.Contains(at, "compare.html?base=night-07&new=night-07") {
		t.Errorf("the comparison is at %s", at)
	}
}

// The page of a running campaign renews itself, until the campaign has ended or been killed,
// and says when nobody answers any more.
func TestLiveInBrowser(t *testing.T) {
	run := running(t)
	s := open(t, run.dir)
	b := s.browser()
	b.open("/campaigns/now/live.html")
	b.await("now 5,000/s")
	run.second(6, 6_666)
	b.await("now 6,666/s")
	b.Do(t, chromedp.Reload())
	b.await("now 6,666/s")
	s.Close()
	b.await("No answer")
	again := open(t, run.dir)
	b.Do(t, chromedp.Navigate(again.URL+"/campaigns/now/live.html?token="+again.token))
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
