package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rumbench/engine"
	"rumbench/internal/hint"
	"rumbench/internal/watch"
)

// fakeServer is an engine that can be watched; its process is this one.
type fakeServer struct {
	engine.Engine
	dir string
}

const secret = "me:password@host"

func (f fakeServer) Watch(_ context.Context, dsn string) (engine.Watch, error) {
	if dsn != secret {
		return nil, errors.New("refused")
	}
	return &fakeWatch{dir: f.dir}, nil
}

type fakeWatch struct {
	n   float64
	dir string
}

func (w *fakeWatch) Counters(_ context.Context, s *engine.Sample) error {
	w.n++
	s.Counter("fake.statements", "count", w.n)
	s.Counter("fake.rows", "count", w.n, "database", "d")
	s.Counter(engine.CacheLookups, "count", 10*w.n)
	s.Counter(engine.CacheMisses, "count", w.n)
	return nil
}
func (w *fakeWatch) Processes() ([]int, string) { return []int{os.Getpid()}, "" }
func (w *fakeWatch) DataDir() string            { return w.dir }
func (w *fakeWatch) Close() error               { return nil }

// fakeEngines are an engine that can be watched and one that cannot.
type fakeEngines struct{ server fakeServer }

func (f fakeEngines) Engine(name string) (engine.Engine, bool) {
	switch name {
	case "fake", "postgres":
		return f.server, true
	case "embedded":
		return struct{ engine.Engine }{}, true
	}
	return nil, false
}

func (f fakeEngines) EngineNames() []string { return []string{"embedded", "fake"} }

func TestParseAttachment(t *testing.T) {
	for _, test := range []struct{ text, name, dsn, wrong string }{
		{"fake:" + secret, "fake", secret, ""},
		{"prod=fake:" + secret, "prod", secret, ""},
		{"a.b-c_1=fake:x=y:z", "a.b-c_1", "x=y:z", ""},
		{"fake:user=me host=/tmp", "fake", "user=me host=/tmp", ""},
		{"postgres://me@host/db?a=b", "postgres", "postgres://me@host/db?a=b", ""},
		{"p=postgresql://me@host", "p", "postgresql://me@host", ""},
		{"p=postgres:postgres://me@host", "p", "postgres://me@host", ""},
		{"", "", "", "no engine, or no DSN"},
		{"fake", "", "", "no engine, or no DSN"},
		{"fake:", "", "", "no engine, or no DSN"},
		{"a=:x", "", "", "no engine, or no DSN"},
		{"=fake:x", "", "", `"" is no name`},
		{"a b=fake:x", "", "", `"a b" is no name`},
		{"other:" + secret, "", "", `no engine "other"`},
		{"embedded:" + secret, "", "", "embedded is no server"},
	} {
		list, err := parseAttachments([]string{test.text}, fakeEngines{})
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) || hint.Of(err) == "" || strings.Contains(err.Error()+hint.Of(err), secret) {
				t.Errorf("%q: %v", test.text, err)
			}
			continue
		}
		if err != nil || list[0].name != test.name || list[0].dsn != test.dsn {
			t.Errorf("%q: %+v, %v", test.text, list, err)
		}
	}
	if _, err := parseAttachments([]string{"fake:a", "fake:b"}, fakeEngines{}); err == nil || !strings.Contains(err.Error(), "two servers are called fake") {
		t.Error(err)
	}
	if got := watchable(fakeEngines{}); got != "engines that can be attached to: fake" {
		t.Error(got)
	}
}

// TestAttachedServers: two servers are sampled side by side, with the
// processes of each and the device under their data, once.
func TestAttachedServers(t *testing.T) {
	dir := t.TempDir()
	list, err := parseAttachments([]string{"one=fake:" + secret, "two=fake:" + secret}, fakeEngines{fakeServer{dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	out := filepath.Join(dir, "out.csv")
	w := &watching{app: &App{Stdout: io.Discard, Stderr: &stderr}, options: &statOptions{format: "csv", out: out}}
	defer w.close()
	if err := w.attach(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	w.config = watch.Config{Interval: 50 * time.Millisecond, Count: 2, Targets: w.targets, Expressions: watch.Builtins()}
	if w.config.Collectors, err = w.collectors(); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`one/engine,fake.statements,"target=""one""",rate,count/s,`,
		`two/engine,fake.rows,"database=""d"",target=""two""",rate,count/s,`,
		`one/process,process.cpu_ns,"target=""one""",rate,ns/s,`,
		`two/process,process.threads,"target=""two""",gauge,count,`,
		`derived,engine.cache_hit_percent,"target=""one""",derived,percent,90,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s", want)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for _, r := range rows {
		times[r[3]+"{"+r[4]+"}"]++
	}
	for key, n := range times {
		if key != "{}" && n > 2 {
			t.Errorf("%s was sampled %d times in 2 intervals", key, n)
		}
	}
	if strings.Contains(string(b)+stderr.String(), "password") {
		t.Error("the password was told")
	}
}

func TestAttachFails(t *testing.T) {
	list, err := parseAttachments([]string{"fake:wrong"}, fakeEngines{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{app: &App{Stderr: io.Discard}}
	if err := w.attach(t.Context(), list); err == nil || !strings.Contains(err.Error(), "attach fake: refused") {
		t.Error(err)
	}
}

// TestEndpoint runs the command as a service, asks it, and interrupts it.
func TestEndpoint(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, stderr := io.Pipe()
	app := &App{
		Args:   []string{"stat", "--listen", "127.0.0.1:0", "--format", "none", "--interval", "20ms"},
		Stdout: io.Discard, Stderr: stderr, Getenv: os.Getenv,
	}
	code := make(chan int, 1)
	go func() {
		code <- app.Main(ctx)
		stderr.Close()
	}()
	talk := bufio.NewReader(r)
	line, err := talk.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://\S+/metrics`).FindString(line)
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(talk)
		rest <- string(b)
	}()
	var text string
	for !strings.Contains(text, "rumbench_host_cpu_busy_percent") { // until there is a sample with rates
		text = get(t, url)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if f := families["rumbench_host_context_switches_total"]; f == nil || f.Metric[0].GetCounter().GetValue() == 0 {
		t.Errorf("%v", f)
	}
	cancel()
	if c := <-code; c != ExitOK {
		t.Errorf("exit code %d after an interruption", c)
	}
	if got := <-rest; !strings.Contains(got, "own CPU") {
		t.Errorf("the cost is not told: %s", got)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Who listens at all interfaces is warned; at the loopback nobody is.
func TestListenWarns(t *testing.T) {
	for at, warned := range map[string]bool{":0": true, "0.0.0.0:0": true, "[::]:0": true, "127.0.0.1:0": false} {
		var talk bytes.Buffer
		app := &App{Args: []string{"stat", "--listen", at, "--format", "none", "--interval", "20ms", "--count", "1"}, Stdout: io.Discard, Stderr: &talk, Getenv: os.Getenv}
		if code := app.Main(t.Context()); code != ExitOK {
			t.Fatalf("%s: exit code %d: %s", at, code, talk.String())
		}
		if strings.Contains(talk.String(), "warning: whoever can reach this host") != warned {
			t.Errorf("%s: %s", at, talk.String())
		}
	}
}
