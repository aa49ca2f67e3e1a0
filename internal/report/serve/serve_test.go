package serve_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/compare/history"
	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/page"
	"rumbench/internal/report"
	"rumbench/internal/report/serve"
	"rumbench/internal/report/trend"
	"rumbench/internal/result"
)

// config is the site of a folder, with reports of one campaign or several.
func config(dir string) serve.Config {
	return serve.Config{Dir: dir, Formats: []string{"json"},
		Report: func(dirs ...string) (in report.Input, err error) {
			for _, d := range dirs {
				d, target, _ := strings.Cut(d, ":")
				c, err := result.ReadCampaign(d)
				if err != nil {
					return in, err
				}
				trials, err := result.ReadTrials(d, c)
				if err != nil {
					return in, err
				}
				in.Title += c.Name
				for _, t := range trials {
					if target == "" || t.Target == target {
						if len(dirs) > 1 {
							t.Rename(filepath.Base(d) + "/" + t.Target)
						}
						in.Trials = append(in.Trials, report.Trial{Trial: t})
					}
				}
			}
			return in, nil
		},
		Rows: func(w io.Writer, dir, format string) error { _, err := fmt.Fprintln(w, format); return err },
		Where: func(string, *result.Campaign, []*result.Trial) (string, time.Duration) {
			return "trial 2 of 3", time.Minute
		},
		History: func(dir string, link func(base, other string) string) ([]page.Block, error) {
			runs, err := history.Find(dir)
			if err != nil {
				return nil, err
			}
			families := history.Families(runs, history.Pick{})
			tested := history.Detect(families)
			findings := history.Findings(families, nil)
			for _, r := range runs {
				r.Dir, _ = filepath.Rel(dir, r.Dir)
			}
			return trend.Pictures(families, findings, tested, trend.View{Least: 1}, link), nil
		},
	}
}

// nights is a store of twenty nights, slower from the twelfth on.
func nights(t *testing.T) *historytest.Store {
	s := historytest.New(t)
	for i := range 20 {
		var change []func(*result.Campaign, []*result.Trial)
		if i >= 11 {
			change = append(change, historytest.Scale("rows_per_s", 0.8), historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v2.1.8" }))
		}
		c, trials := historytest.Night(i, change...)
		s.Add(fmt.Sprintf("night-%02d", i), c, trials)
	}
	return s
}

type site struct {
	*testing.T
	*httptest.Server
	token string
}

// open serves a folder as rumbench serve does.
func open(t *testing.T, dir string) site {
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	token := serve.NewToken()
	server := httptest.NewUnstartedServer(serve.NewGuard(serve.New(t.Context(), config(dir)), l.Addr(), token))
	server.Listener.Close()
	server.Listener = serve.Limit(l)
	server.Config.ConnContext = serve.WithConnection
	server.Start()
	t.Cleanup(server.Close)
	return site{t, server, token}
}

// get asks for a page with the cookie of the token, and returns status and body.
func (s site) get(at string, change ...func(*http.Request)) (int, string) {
	s.Helper()
	r := expect.Value(http.NewRequest(http.MethodGet, s.URL+at, nil))(s)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	r.AddCookie(&http.Cookie{Name: "rumbench-" + port, Value: s.token})
	for _, f := range change {
		f(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	a := expect.Value(client.Do(r))(s)
	defer a.Body.Close()
	body := expect.Value(io.ReadAll(a.Body))(s)
	return a.StatusCode, string(body)
}

// until waits for a condition, as long as the package's tests may take.
func (s site) until(subject string, holds func() bool) {
	s.Helper()
	end, _ := s.Deadline()
	for !holds() {
		if time.Sleep(20 * time.Millisecond); time.Until(end) < 10*time.Second && !end.IsZero() {
			s.Fatalf("waited in vain for %q", subject)
		}
	}
}

// await asks for a page until it contains a text.
func (s site) await(at, text string) (body string) {
	s.Helper()
	s.until(text, func() bool { _, body = s.get(at); return strings.Contains(body, text) })
	return body
}

// read asks for a page of the list until all campaigns have been read.
func (s site) read(at string) (body string) {
	s.Helper()
	s.until(at, func() bool {
		_, body = s.get(at)
		return !strings.Contains(body, "still being read") && !strings.Contains(body, "not read yet")
	})
	return body
}

func TestPages(t *testing.T) {
	s := open(t, nights(t).Dir)
	body := s.read("/")
	expect.All(t, body, "20 campaigns", `href="campaigns/night-19/report.html"`, "2026-10-20 02:00", "db (pebble v2.1.8)", "✓ good", "ext4 on vda")
	_, filtered := s.get("/?q=v2.1.7+night-03")
	expect.True(t, strings.Contains(filtered, "1 of 20 campaigns"), "a search does not find one")
	_, oldest := s.get("/?sort=oldest")
	expect.True(t, strings.Index(oldest, "night-00") <= strings.Index(oldest, "night-19"), "the oldest is not first")
	status, body := s.get("/campaigns/night-03/report.html")
	expect.All(t, body, "l.i1", `href="../../index.html"`, `href="rows.json"`)
	expect.Equal(t, status, http.StatusOK)
	if _, body := s.get("/campaigns/night-03/rows.json"); body != "json\n" {
		t.Errorf("%q", body)
	}
	_, body = s.get("/compare.html?" + url.Values{"base": {"night-03"}, "new": {"night-15"}}.Encode())
	expect.All(t, body, "night-03/db", "night-15/db", `<select name="base-target">`)
	_, body = s.get("/history.html")
	expect.All(t, body, "compare.html?base=night-10&amp;new=night-11", "version pebble v2.1.7 → v2.1.8", "<svg")
	_, body = s.get("/campaigns/night-03/live.html")
	expect.All(t, body, "It does not run: 3 of 3 trials complete", "k/s<small class=\"per\">3 trials")
	expect.Lacks(t, body, `name="every"`, "what has ended renews itself")
}

// Nobody is let in without the token, under another name, or from another site.
func TestGuard(t *testing.T) {
	s := open(t, nights(t).Dir)
	none := func(r *http.Request) { r.Header.Del("Cookie") }
	cookie := func(change func(*http.Cookie)) func(*http.Request) {
		return func(r *http.Request) {
			c := r.Cookies()[0]
			none(r)
			change(c)
			r.AddCookie(c)
		}
	}
	for name, c := range map[string]struct {
		at     string
		change func(*http.Request)
		want   int
	}{
		"with the cookie":  {"/", func(*http.Request) {}, 200},
		"without":          {"/", none, 403},
		"another value":    {"/", cookie(func(c *http.Cookie) { c.Value = strings.Repeat("0", len(c.Value)) }), 403},
		"no value":         {"/", cookie(func(c *http.Cookie) { c.Value = "" }), 403},
		"another cookie":   {"/", cookie(func(c *http.Cookie) { c.Name += "x" }), 403},
		"another token":    {"/?token=00000000000000000000000000000000", none, 403},
		"an empty token":   {"/?token=", none, 403},
		"the first link":   {"/?token=" + s.token, none, 303},
		"another name":     {"/", func(r *http.Request) { r.Host = "evil.example" }, 403},
		"another port":     {"/", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		"another site":     {"/", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"no site":          {"/", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"its own site":     {"/", func(r *http.Request) { r.Header.Set("Origin", s.URL) }, 200},
		"writing":          {"/", func(r *http.Request) { r.Method = http.MethodPost }, 405},
		"deleting":         {"/campaigns/night-01/report.html", func(r *http.Request) { r.Method = http.MethodDelete }, 405},
		"a part":           {"/", func(r *http.Request) { r.Header.Set("Range", "bytes=0-9") }, 200},
		"a path upwards":   {"/campaigns/../../../../etc/passwd", func(*http.Request) {}, 404},
		"an escaped one":   {"/campaigns/%2e%2e%2f%2e%2e%2fetc/report.html", func(*http.Request) {}, 404},
		"a zero":           {"/campaigns/%00/report.html", func(*http.Request) {}, 404},
		"a file of a page": {"/campaigns/night-01/campaign.json", func(*http.Request) {}, 404},
		"the plan":         {"/campaigns/night-01/plan.yaml", func(*http.Request) {}, 404},
		"another format":   {"/campaigns/night-01/rows.exe", func(*http.Request) {}, 404},
		"no target":        {"/compare.html?base=night-01&new=night-02&base-target=" + url.QueryEscape("/../../../secret:db"), func(*http.Request) {}, 500},
		"no campaign":      {"/compare.html?base=..&new=night-01", func(*http.Request) {}, 500},
		"too many":         {"/compare.html?base=night-00&new=" + strings.Repeat("night-01&new=", 30) + "night-02", func(*http.Request) {}, 500},
	} {
		got, _ := s.get(c.at, c.change)
		expect.True(t, got == c.want, name, got, c.want)
	}
	refused := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(refused, httptest.NewRequest(http.MethodGet, s.URL+"/", nil))
	expect.True(t, refused.Code == 403 && refused.Header().Get("Connection") == "close", refused.Code, refused.Header())
	// a redirect leads nowhere else
	r := httptest.NewRequest(http.MethodGet, "http://"+s.Listener.Addr().String()+"//evil.example/?token="+s.token, nil)
	w := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(w, r)
	to := w.Header().Get("Location")
	expect.True(t, !strings.HasPrefix(to, "//"), to)
	expect.Equal(t, w.Header().Get("X-Content-Type-Options"), "nosniff", "headers are missing")
	expect.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", "headers are missing")
}

// A hostile folder is shown as far as it can be, and nothing outside it.
func TestHostileFolder(t *testing.T) {
	store := historytest.New(t)
	evil := `<script>alert(1)</script>"&'`
	c, trials := historytest.Night(1, func(c *result.Campaign, trials []*result.Trial) {
		c.Name = evil
		for i, t := range trials {
			t.Target, c.Trials[i].Target = evil, evil
			t.Steps[0].Name = evil
		}
	})
	store.Add("evil <b>&", c, trials)
	outside := historytest.New(t)
	c, trials = historytest.Night(2)
	outside.Add("secret", c, trials)
	must := func(err error) {
		t.Helper()
		expect.NoError(t, err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{store.Dir}, parts...)...) }
	must(os.Symlink(filepath.Join(outside.Dir, "secret"), at("link")))
	for name, content := range map[string]string{"half": `{"format":1,"name":"half`, "empty": "", "list": "[]", "numbers": `{"name":7}`} {
		must(os.Mkdir(at(name), 0o755))
		must(os.WriteFile(at(name, result.CampaignFile), []byte(content), 0o644))
	}
	must(os.Mkdir(at("pipe"), 0o755))
	must(syscall.Mkfifo(at("pipe", result.CampaignFile), 0o644))
	c, trials = historytest.Night(3)
	store.Add("pipes", c, trials)
	must(os.Remove(at("pipes", "trials", "db.1", result.TrialFile)))
	must(syscall.Mkfifo(at("pipes", "trials", "db.1", result.TrialFile), 0o644))
	must(syscall.Mkfifo(at("pipes", "trials", "db.2", result.SeriesFile), 0o644))
	c, trials = historytest.Night(4, func(_ *result.Campaign, trials []*result.Trial) {
		s := trials[0].Steps[0]
		for i := range 10_000 {
			s.Name = fmt.Sprint("step", i)
			s.Rows = nil
			trials[0].Steps = append(trials[0].Steps, s)
		}
	})
	store.Add("many", c, trials)
	// campaigns that lead elsewhere
	for name, spoil := range map[string]func(dir string, c *result.Campaign){
		"a plan elsewhere": func(dir string, _ *result.Campaign) { must(os.Symlink("/etc/passwd", filepath.Join(dir, "plan.yaml"))) },
		"a trial elsewhere": func(dir string, c *result.Campaign) {
			c.Trials[0].Dir = "../../../" + filepath.Base(outside.Dir) + "/secret/trials/db.1"
			must(result.WriteJSON(filepath.Join(dir, result.CampaignFile), c))
		},
		"a linked trial": func(dir string, _ *result.Campaign) {
			must(os.RemoveAll(filepath.Join(dir, "trials", "db.1")))
			must(os.Symlink(filepath.Join(outside.Dir, "secret", "trials", "db.1"), filepath.Join(dir, "trials", "db.1")))
		},
	} {
		c, trials := historytest.Night(5)
		store.Add(name, c, trials)
		spoil(at(name), c)
	}
	// times that no step has
	c, trials = historytest.Night(6)
	store.Add("times", c, trials)
	must(os.WriteFile(at("times", "trials", "db.1", result.SeriesFile),
		[]byte(`{"step":"l.i1","src":"ops","t":1e300,"dt":1,"group":"insert","op":"insert","ops":1,"rows":1}`+"\n"), 0o644))
	s := open(t, store.Dir)
	s.read("/")
	for _, name := range []string{"a plan elsewhere", "a trial elsewhere", "a linked trial"} {
		for _, page := range []string{"report.html", "live.html", "rows.json"} {
			status, body := s.get("/campaigns/" + url.PathEscape(name) + "/" + page)
			expect.True(t, status != http.StatusOK && !strings.Contains(body, "root:"), name, page)
		}
	}
	s.get("/campaigns/times/live.html")
	s.get("/campaigns/times/report.html")
	body := s.await("/?q=broken", "broken")
	for _, at := range []string{"/", "/history.html", "/campaigns/evil%20%3Cb%3E&/report.html", "/campaigns/evil%20%3Cb%3E&/live.html", "/campaigns/pipes/live.html",
		"/campaigns/many/live.html", "/campaigns/half/report.html"} {
		_, body := s.get(at)
		expect.Lacks(t, body, "<script>alert", "the page has what it must not have", at)
		expect.Lacks(t, body, outside.Dir, "the page has what it must not have", at)
	}
	expect.Lacks(t, body, "secret", "a link out of the folder is followed")
	if status, _ := s.get("/campaigns/link/report.html"); status != http.StatusNotFound {
		t.Errorf("a link out of the folder: status %d", status)
	}
}

// Connections beyond the limit wait; none is lost.
func TestConnections(t *testing.T) {
	s := open(t, nights(t).Dir)
	done := make(chan int, 1000)
	for range cap(done) {
		go func() {
			status := 0
			defer func() { done <- status }()
			status, _ = s.get("/campaigns/night-01/live.html")
		}()
	}
	for range cap(done) {
		if status := <-done; status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
}

// A campaign that runs is shown as it is, by its series, and as it ended.
func TestLive(t *testing.T) {
	run := running(t)
	s := open(t, run.dir)
	const at = "/campaigns/now/live.html"
	_, body := s.get(at)
	expect.All(t, body, "Running: trial 2 of 3", "about 1 min left", "now 5,000/s, p99 900 µs", "Step l.i1", `name="every" content="2"`, "rows per second", "k/s</td>")
	expect.All(t, s.await("/", "running: look on"), `href="campaigns/now/live.html"`)
	run.second(6, 7777)
	s.await(at, "now 7,777/s")
	c := expect.Value(result.ReadCampaign(filepath.Join(run.dir, "now")))(t)
	c.Trials[2].Machine, c.Trials[2].Began = "m2", time.Now().Add(-time.Minute)
	expect.NoError(t, result.WriteJSON(filepath.Join(run.dir, "now", result.CampaignFile), c))
	expect.All(t, s.await(at, "Machines"), "m2", c.Trials[2].Dir, "1 min")
	run.kill()
	body = s.await(at, "It does not run: 1 of 3 trials complete")
	expect.Lacks(t, body, `name="every"`, "what was killed renews itself")
	expect.All(t, body, "now 7,777/s", "it was killed")
}

func lockOf(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	expect.NoError(t, err)
	return f
}

// The same pages as files have no link that leads nowhere.
func TestWrite(t *testing.T) {
	files := map[string][]byte{}
	n, err := serve.Write(config(nights(t).Dir), func(name string, body []byte) error { files[name] = bytes.Clone(body); return nil },
		func(text string) { t.Error(text) })
	expect.Must(t, err == nil && n == len(files), n, "files", len(files), "written", err)
	for name, body := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, part := range strings.Split(string(body), `href="`)[1:] {
			to, _, _ := strings.Cut(part, `"`)
			if strings.HasPrefix(to, "#") || strings.HasPrefix(to, "data:") || strings.HasPrefix(to, "http") {
				continue
			}
			u, err := url.Parse(to)
			if err != nil || u.RawQuery != "" {
				t.Errorf("%s has a link to %q", name, to)
				continue
			}
			target := filepath.Join(filepath.Dir(name), u.Path)
			expect.True(t, files[target] != nil, "leads to, which is not there", name, target)
		}
	}
}

// Connections on which nobody says anything, or not all that he has announced, keep nobody out: the oldest of them end.
// Whoever has shown his token keeps his.
func TestSilentConnections(t *testing.T) {
	s := open(t, t.TempDir())
	silent := func(text string) (all []net.Conn) {
		for range 260 {
			c := expect.Value(net.Dial("tcp", s.Listener.Addr().String()))(t)
			t.Cleanup(func() { c.Close() })
			_ = expect.Value(c.Write([]byte(text)))(t)
			all = append(all, c)
		}
		return all
	}
	reused := true
	page := func() {
		t.Helper()
		code, _ := s.get("/", func(r *http.Request) {
			*r = *r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }}))
		})
		expect.Equal(t, code, http.StatusOK)
	}
	first := silent("GET / HT")
	page()
	silent("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nx")
	page()
	expect.True(t, reused, "the connection of the owner was ended")
	_ = first[0].SetReadDeadline(time.Now().Add(time.Minute))
	_, err := first[0].Read(make([]byte, 1))
	expect.True(t, err != nil && !errors.Is(err, os.ErrDeadlineExceeded), err)
}
