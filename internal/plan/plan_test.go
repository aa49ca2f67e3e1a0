package plan

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

func load(t *testing.T, text string, sets ...string) *Plan {
	t.Helper()
	p := expect.Value(Load("test.yaml", []byte(text), sets, fakes()))(t)
	return p
}

func loadWrong(t *testing.T, text string, sets ...string) hint.Problems {
	t.Helper()
	p, err := Load("test.yaml", []byte(text), sets, fakes())
	var ps hint.Problems
	expect.Must(t, errors.As(err, &ps) && p == nil, "Load gave", p, err, "want Problems")
	return ps
}

// Every testdata/wrong/*.yaml gives the problems of the .txt beside it.
func TestWrong(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	expect.Must(t, err == nil && len(files) >= 28, "found", len(files), "wrong plans", err)
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(base, func(t *testing.T) {
			src, err := os.ReadFile(file)
			expect.NoError(t, err)
			_, err = Load(base+".yaml", src, nil, fakes())
			expect.Must(t, err != nil, "the plan is accepted")
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			got := err.Error() + "\n"
			if *update {
				expect.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want := expect.Value(os.ReadFile(golden))(t)
			expect.Same(t, string(want), got)
		})
	}
}

// bare takes a plan's parts that other tests compare away.
func bare(p *Plan) *Plan {
	q := *p
	q.Run, q.Source = nil, nil
	return &q
}

func defaults() workload.Params {
	return workload.Params{
		"rows": int64(1000), "batch": int64(10), "mode": "append", "label": "",
		"pause": time.Duration(0), "rates": []int64{100}, "check": true, "skew": 0.5,
	}
}

// sampled is how trials are profiled if a plan does not say.
var sampled = Profile{Mode: result.ProfileSampled, Hertz: 99}

func TestLeastPlan(t *testing.T) {
	const text = "workload: ibench\ntargets: [pebble, null]\n"
	p := load(t, text)
	schema := fakeRun{}.Schema()
	want := &Plan{
		Name: "test", Workload: "ibench", Params: defaults(),
		Trials: 1, Order: Interleaved, Seed: Seed{Value: 1}, Interval: time.Second, Calibrate: true, Profile: sampled,
		Targets: []Target{
			{Name: "pebble", Engine: "pebble", Config: engine.Config{Durability: "process", Schema: schema}, Knobs: map[string]string{"durability": "process"}},
			{Name: "null", Engine: "null", Config: engine.Config{Durability: "process", Schema: schema}, Knobs: map[string]string{"durability": "process"}},
		},
	}
	expect.Same(t, want, bare(p))
	expect.True(t, p.Run != nil && string(p.Source) == text, "Run, Source", p.Run, p.Source)
}

func TestFullPlan(t *testing.T) {
	data := t.TempDir()
	p := load(t, `name: everything at once
workload: bank
preset: quick
params: {batch: 1.5k, rows: 2M, mode: random, label: 007, pause: 90, rates: [1k, 5], check: false, skew: 1e-1}
common: {cache: 1.5GiB, durability: os, page: 4096, direct_io: false, isolation: read-committed}
targets:
  - name: lite
    engine: sqlite
    cache: 1000kB
    durability: none
    compression: none
    page: 64KiB
    data: `+data+`
  - {name: "null", engine: null, direct_io: true, isolation: serializable, protocol: text, options: {a: 1, b: x, c: 2.5, d: [1, y], e: {f: true}, g: 010, h: 18446744073709551615}}
trials: 1
order: sequential
seed: 18446744073709551615
interval: 500ms
cool_down: 1.5
keep: true
errors_allowed: 0.1%
calibrate: false
`)
	no, yes := false, true
	schema := fakeRun{}.Schema()
	params := defaults()
	for k, v := range map[string]any{
		"batch": int64(1500), "rows": int64(2e6), "mode": "random", "label": "007", "pause": 90 * time.Second,
		"rates": []int64{1000, 5}, "check": false, "skew": 0.1,
	} {
		params[k] = v
	}
	want := &Plan{
		Name: "everything at once", Workload: "bank", Preset: "quick", Params: params,
		Targets: []Target{
			{
				Name: "lite", Engine: "sqlite", Data: data,
				Config: engine.Config{Cache: 1e6, Durability: "none", Compression: "none", Page: 64 << 10, DirectIO: &no, Isolation: model.ReadCommitted, Schema: schema},
				Knobs:  map[string]string{"cache": "1MB", "durability": "none", "compression": "none", "page": "64KiB", "direct_io": "false", "isolation": "read-committed"},
			},
			{
				Name: "null", Engine: "null",
				Config: engine.Config{
					Cache: 3 << 29, Durability: "os", Page: 4096, DirectIO: &yes, Isolation: model.Serializable, Protocol: engine.Text, Schema: schema,
					Options: map[string]any{
						"a": int64(1), "b": "x", "c": 2.5, "d": []any{int64(1), "y"}, "e": map[string]any{"f": true},
						"g": "010", "h": uint64(18446744073709551615),
					},
				},
				Knobs: map[string]string{
					"cache": "1536MiB", "durability": "os", "page": "4KiB", "direct_io": "true", "isolation": "serializable", "protocol": "text", "options.a": "1", "options.b": "x",
					"options.c": "2.5", "options.d": `[1,"y"]`, "options.e": `{"f":true}`, "options.g": "010", "options.h": "18446744073709551615",
				},
			},
		},
		Trials: 1, Order: Sequential, Seed: Seed{Value: 18446744073709551615}, Interval: 500 * time.Millisecond,
		Between: Between{Rest: 1500 * time.Millisecond}, Keep: true, ErrorsAllowed: 0.001, Profile: sampled,
	}
	expect.Same(t, want, bare(p))
}

// What stop leaves out has a value that makes sense.
func TestStop(t *testing.T) {
	for text, want := range map[string]Stop{
		"stop: {precision: 2%}":                               {Precision: 0.02, MinTrials: 6},
		"stop: {precision: 0.5 %, budget: 90}":                {Precision: 0.005, MinTrials: 6, Budget: 90 * time.Second},
		"stop: {precision: 0.02, min_trials: 4}\norder: duet": {Precision: 0.02, MinTrials: 4},
		"stop:\n  budget: 2h":                                 {Budget: 2 * time.Hour},
	} {
		p := load(t, "workload: ibench\ntargets: [pebble, null]\ntrials: 20\n"+text+"\n")
		expect.Same(t, want, p.Stop, text)
	}
	if p := load(t, "workload: ibench\ntargets: [pebble]\ntrials: 3\nstop: {precision: 1%}"); p.Stop.MinTrials != 3 {
		t.Errorf("%+v of 3 trials", p.Stop)
	}
}

func TestDefaultName(t *testing.T) {
	for file, want := range map[string]string{
		"plans/lsm.v2.yaml": "lsm.v2", "a.yml": "a", "plan": "plan", "-": "plan", "": "plan", "/": "plan", ".yaml": "plan",
	} {
		expect.Equal(t, defaultName(file), want, file)
	}
}

// Lines and columns count as editors do, whatever the line ends and letters.
func TestPositions(t *testing.T) {
	const good = "name: größe→ö\nworkload: ibench\ntargets: [pebble]\n"
	tests := []struct {
		name, text   string
		line, column int
		wrong        string
	}{
		{"lf", good + "trials: x\n", 4, 9, "x"},
		{"crlf", strings.ReplaceAll(good+"# note\n\ntrials: x\n", "\n", "\r\n"), 6, 9, "x"},
		{"cr", strings.ReplaceAll(good+"trials: x\n", "\n", "\r"), 4, 9, "x"},
		{"byte order mark", "\ufefftrials: x\n" + good, 1, 9, "x"},
		{"after wide letters", good + "params: {label: 'ö→ß', mode: 日本}\n", 4, 30, "日本"},
		{"after a quoted text", good + "params: {label: \"a\\tb\", mode: no}\n", 4, 31, "no"},
		{"after a block text", good + "params:\n  label: |\n    one\n    two\n  mode: no\n", 8, 9, "no"},
		{"after a folded text", good + "params:\n  label: one\n    two\n  mode: no\n", 7, 9, "no"},
		{"after a long quoted text", good + "params:\n  label: \"one\n    two\"\n  mode: no\n", 7, 9, "no"},
		{"not utf-8", good + "# ö \xff\n", 4, 5, ""},
		{"no last line end", good + "trials: x", 4, 9, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ps := loadWrong(t, tt.text)
			expect.True(t, len(ps) == 1 && ps[0].Line == tt.line && ps[0].Column == tt.column && strings.HasPrefix(string([]rune(ps[0].Shown)[tt.column-1:]), tt.wrong), ps)
		})
	}
}

func TestDataOfTwoTargets(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.Symlink(dir, dir+"-too"))
	defer os.Remove(dir + "-too")
	const head = "workload: ibench\ntargets:\n"
	ps := loadWrong(t, head+"  - {engine: pebble, data: "+dir+"}\n  - {engine: sqlite, data: "+dir+"-too}\n")
	expect.True(t, len(ps) == 1 && ps[0].Line == 4 && ps[0].Reason == "two targets use the same data", ps)
	ps = loadWrong(t, head+"  - {engine: pebble, data: "+dir+"}\ntrials: 2\n")
	expect.True(t, len(ps) == 1 && ps[0].Line == 3 && strings.Contains(ps[0].Reason, "2 trials"), ps)
}

// cpuTime returns the CPU time of this process, which other programs do not lengthen.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	expect.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestDeepAndLong(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": "a: " + strings.Repeat("[", 60000),
		"braces":   "a: " + strings.Repeat("{", 60000),
		"dashes":   "a:\n" + strings.Repeat("- ", 30000),
		"tags":     "a: " + strings.Repeat("!a ", 20000),
		"long":     strings.Repeat("a: 1\n", 20000),
	} {
		t.Run(name, func(t *testing.T) {
			before := cpuTime(t)
			ps := loadWrong(t, text)
			expect.True(t, len(ps) == 1, "problems", len(ps))
			d := cpuTime(t) - before
			expect.True(t, d <= 2*time.Second, "took", d)
		})
	}
}

func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/wrong/*.yaml")
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, "targets.pebble.options.a.b={c: [1]}")
	}
	f.Add([]byte("workload: ibench\ntargets: [pebble]"), "trials=3")
	f.Add([]byte("? a\n: !t &b *c"), "targets.0.cache='")
	cat := fakes()
	f.Fuzz(func(t *testing.T, src []byte, set string) {
		before := cpuTime(t)
		p, err := Load("f.yaml", src, []string{set}, cat)
		d := cpuTime(t) - before
		expect.True(t, d <= 2*time.Second, "took", d)
		expect.Must(t, (p == nil) != (err == nil), "gave", p, "and", err)
		if err == nil {
			return
		}
		for _, q := range err.(hint.Problems) {
			expect.True(t, q.Reason != "" && q.Column >= 1 && q.Line >= 0 && (q.Line == 0) == strings.HasPrefix(q.File, "--set "), q)
			_ = q.String()
		}
	})
}

// The reference has a row for every key.
func TestDocs(t *testing.T) {
	doc := expect.Value(os.ReadFile("../../docs/plan.md"))(t)
	for _, key := range slices.Concat(planKeys.Names(), stopKeys.Names(), rateKeys.Names(), findKeys[:5].Names(), questionKeys.Names(), targetKeys.Names(), publishedKeys.Names(), publishedRowKeys.Names()) {
		expect.Contains(t, string(doc), "\n| `"+key+"` |", "docs/plan.md does not describe", key)
	}
}

// Only who asks for it looks at programs, and only then are their engines asked.
func TestLooking(t *testing.T) {
	src := []byte("workload: ibench\ntargets: [served, {name: b, engine: served, server: other, binary: /b}, {name: c, engine: served, dsn: x}, sqlite]\ncommon: {compression: none}\n")
	refused := func(err error) string {
		var all hint.Problems
		errors.As(err, &all)
		var lines []string
		for _, p := range all {
			lines = append(lines, fmt.Sprintf("%d:%d", p.Line, p.Column))
		}
		return strings.Join(lines, " ")
	}
	extra := fakes()
	extra.engines["served"] = fakeEngine{name: "served", caps: []model.Capability{model.CapUnique}, servers: []string{"usual", "other"}}
	_, err := Load("p.yaml", src, nil, extra)
	if got := refused(err); got != "3:23" { // of the target with a dsn
		t.Errorf("refused at %s: %v", got, err)
	}
	var looked []string
	_, err = Load("p.yaml", src, nil, extra, Looking(func(t *Target, kinds []string) bool {
		looked = append(looked, strings.Join(kinds, "|")+t.Config.Server.Binary)
		return false
	}))
	if got := strings.Join(looked, " "); got != "usual|other other/b" || refused(err) != "3:23 3:23" { // once for the two of one engine
		t.Errorf("looked at %s, refused at %s: %v", got, refused(err), err)
	}
}

// A target's params override those of the plan for it alone: its steps, schema and
// needs are those of its own run.
func TestTargetParams(t *testing.T) {
	p := load(t, `workload: ibench
params: {rows: 2000, mode: random}
targets: [pebble, {name: few, engine: pebble, params: {rows: 1k, mode: random}}, {name: none, engine: sqlite, params: {}}]
`, "targets.few.params.skew=1")
	few := p.For(&p.Targets[1])
	want := defaults()
	want["rows"], want["mode"], want["skew"] = int64(1000), "random", 1.0
	expect.Same(t, want, few.Params)
	got := []int64{p.Run.Estimate(nil).Rows, p.For(&p.Targets[0]).Run.Estimate(nil).Rows, few.Run.Estimate(nil).Rows}
	expect.True(t, slices.Equal(got, []int64{2000, 2000, 1000}), "runs of the plan and its targets have rows", got)
	if own := p.Targets[1].Own; !slices.Equal(own, []string{"mode", "rows", "skew"}) || p.Targets[0].Own != nil || p.Targets[2].Own != nil {
		t.Errorf("own parameters are %v, %v and %v", own, p.Targets[0].Own, p.Targets[2].Own)
	}
	texts := p.ParamTexts()
	expect.True(t, texts["rows"] == "2000" && texts["few.rows"] == "1000" && texts["few.batch"] == "",
		"the campaign records", texts)
}
