package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/cli"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// made is what a made-up target did.
type made struct {
	target string
	rates  []float64 // rows a second of each trial, in step load
	params map[string]any
	// offered is the rate that was asked of the clients of step load, in a
	// campaign that has a step before it too; 0: there is neither.
	offered    float64
	durability string
	version    string // of its server
}

// writeCampaign writes a campaign with trials that were not run.
func writeCampaign(t *testing.T, dir string, targets ...made) {
	t.Helper()
	campaigns++
	c := result.Campaign{Format: result.Format, Name: filepath.Base(dir), Command: []string{"rumbench", "run"}, Started: time.Date(2026, 1, 2, 3, 4, campaigns, 0, time.UTC)}
	for n := range targets[0].rates {
		for _, m := range targets {
			e := result.Entry{Dir: fmt.Sprintf("%s.%d", m.target, n+1), Target: m.target, Trial: n + 1, Status: result.Complete}
			c.Trials = append(c.Trials, e)
			path := result.TrialPath(dir, e.Dir)
			expect.NoError(t, os.MkdirAll(path, 0o755))
			row := func(group, op, name string, v float64, unit, per string) metric.Row {
				return metric.Row{Target: m.target, Trial: n + 1, Step: "load", Group: group, Op: op, Metric: name, Value: v, Unit: unit, Per: per, N: 1000}
			}
			trial := result.Trial{
				Format: result.Format, Campaign: c.Name, Target: m.target, Trial: n + 1, Order: "interleaved", Workload: "ibench", Params: m.params,
				Status: result.Complete, Started: c.Started, Interval: 1, Steps: []result.Step{{
					Name: "load", Status: result.Complete, Primary: "insert", WritesPer: "insert", Seconds: 10,
					Rows: []metric.Row{
						row("insert", "insert", "rows_per_s", m.rates[n], "1/s", ""),
						row("", "", "write_kb", 2, "KB", "insert row"),
						row("", "", "context_switches", 0.5, "count", "insert row"),
					},
				}},
			}
			trial.Durability = m.durability
			if m.version != "" {
				trial.Engine, trial.Versions = "mysql", []observe.Fact{{Name: "server", Value: m.version}}
			}
			if m.offered > 0 {
				before := trial.Steps[0]
				before.Name, before.Rows = "before", []metric.Row{row("insert", "insert", "rows_per_s", 70+float64(n), "1/s", "")}
				before.Rows[0].Step = "before"
				trial.Steps[0].Groups = []result.Group{{Name: "insert", Clients: 4, Rate: m.offered, Pace: "poisson", Open: true}}
				trial.Steps = append([]result.Step{before}, trial.Steps...)
			}
			expect.NoError(t, result.WriteJSON(filepath.Join(path, result.TrialFile), &trial))
		}
	}
	expect.NoError(t, result.WriteJSON(filepath.Join(dir, result.CampaignFile), &c))
}

// rumbench runs a command and returns what it printed and its exit code.
func rumbench(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := cli.App{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	code = a.Main(context.Background())
	return out.String(), errs.String(), code
}

// change changes all trials of a written campaign.
func change(t *testing.T, dir string, by func(*result.Trial)) {
	t.Helper()
	for _, file := range expect.Value(filepath.Glob(filepath.Join(dir, result.TrialsDir, "*", result.TrialFile)))(t) {
		trial := expect.Value(result.ReadTrial(filepath.Dir(file)))(t)
		by(trial)
		expect.NoError(t, result.WriteJSON(file, trial))
	}
}

// call is a call of rumbench and how it ends: its exit code, and patterns of what it prints.
type call struct {
	name, args     string
	code           int
	stdout, stderr string
}

// calls makes calls, whose name is their arguments if they have no other.
func calls(t *testing.T, list []call) {
	t.Helper()
	for _, c := range list {
		t.Run(cmp.Or(c.name, c.args), func(t *testing.T) {
			stdout, stderr, code := rumbench(t, strings.Fields(c.args)...)
			expect.Equal(t, code, c.code, "exit code")
			expect.True(t, regexp.MustCompile(c.stdout).MatchString(stdout), "stdout is", stdout, "want", c.stdout)
			expect.True(t, regexp.MustCompile(c.stderr).MatchString(stderr), "stderr is", stderr, "want", c.stderr)
		})
	}
}

// campaigns counts those written, so that no two began at the same time.
var campaigns int

var params = map[string]any{"rows": 1000.0}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	before, after, longer := filepath.Join(dir, "before"), filepath.Join(dir, "after"), filepath.Join(dir, "longer")
	writeCampaign(t, before, made{target: "a", rates: []float64{1000, 1010, 990, 1000}, params: params}, made{target: "b", rates: []float64{500, 505, 495, 500}, params: params})
	writeCampaign(t, after, made{target: "a", rates: []float64{1001, 1011, 991, 1002}, params: params}, made{target: "b", rates: []float64{400, 404, 396, 400}, params: params})
	writeCampaign(t, longer, made{target: "a", rates: []float64{1000, 1010, 990, 1000}, params: map[string]any{"rows": 2000.0}})
	calls(t, []call{
		{"within a campaign", "compare " + before, 0, `(?s)^b against a, the base\n.*rows_per_s insert\s+1,000\s+500\s+0\.500×\s+0\.500 to 0\.500×\s+4 pairs\s+▼ worse`, `^$`},
		{"another base", "compare " + before + " --base b", 0, `(?s)^a against b, the base\n.*2\.00×.*▲ better`, `^$`},
		{"two campaigns, by names", "compare " + before + " " + after, 0, `(?s)^after/a against before/a, the base.*= same.*after/b against before/b, the base.*0\.800×.*▼ worse`, `^$`},
		{"one target each", "compare " + before + ":a " + after + ":b", 0, `(?s)^b against a, the base.*0\.400×`, `^$`},
		{"several on a side", "compare " + before + ":a " + longer + " --anyway -- " + after + ":a", 0, `(?s)after/a against before/a, the base.*rows_per_s insert.* 8, 4 `, `^$`},
		{"all numbers", "compare " + before + " --all", 0, `context_switches per insert row`, `^$`},
		{"headline", "compare " + before + " --metric rows_per_s --step load", 0, `rows_per_s insert`, `^$`},
		{"markdown", "compare " + before + " --format markdown", 0, `\| load \| rows_per_s insert \| 1,000 \| 500 \| 0\.500× \|`, `^$`},
		{"a regression", "compare " + before + " " + after + " --fail-if rows_per_s<0.95&&sure", 3, `▼ worse`, `after/b against before/b in load, insert: rows_per_s 0\.800× \(0\.\d+ to 0\.\d+\) worse\nrumbench: a condition holds in 1 place`},
		{"a regression, by a nickname", "compare " + before + " " + after + " --metric throughput --fail-if throughput<0.95&&sure", 3, `rows_per_s insert.*▼ worse`, `in load, insert: rows_per_s 0\.800×`},
		{"no regression", "compare " + before + " " + after + " --fail-if rows_per_s<0.5&&sure", 0, `▼ worse`, `^$`},
		{"not to be judged", "compare " + before + " " + after + " --fail-if read_kb>1.1", 4, ``, `not known on both sides of any step`},
		{"no such metric", "compare " + before + " " + after + " --fail-if velocity<1", 2, `^$`, `there is no metric "velocity"`},
		{"different plans", "compare " + before + ":a " + longer, 1, `^$`, `did different work: rows 1000 and 2000\nhint: .*--anyway`},
		{"anyway", "compare " + before + ":a " + longer + " --anyway", 0, `⚠ before/a and longer/a did different work: rows 1000 and 2000`, `^$`},
		{"no such target", "compare " + before + ":x " + after, 2, `^$`, `has no trials of a target "x"`},
		{"twice the same", "compare " + before + " " + before, 2, `^$`, `is named twice`},
		{"by another name", "compare " + before + " " + before + "/../before:a", 2, `^$`, `is named twice`},
		{"apart", "compare " + before + " " + after, 0, `⚠ the two did not run side by side`, `^$`},
		{"a misspelt step", "compare " + before + " --fail-if rows_per_s<0.9&&step=='laod'", 2, `▼ worse`, `there is no step "laod"`},
		{"alone", "compare " + longer, 2, `^$`, `one target only`},
		{"no such directory", "compare " + filepath.Join(dir, "nothing") + " " + after, 1, `^$`, `nothing does not exist`},
		{"a format of others", "compare " + before + " --format xml", 2, `^$`, `--format is one of text, markdown, json, bench`},
		{"nothing", "compare", 2, `^$`, `needs directories`},
	})
}

// What was offered and what was promised belongs to the work: 4,000/s are not
// eight times better than 500/s.
func TestCompareUnlike(t *testing.T) {
	dir := t.TempDir()
	rates := []float64{100, 101, 99, 100}
	path := func(name string, m made) string {
		m.target, m.params = "a", params
		if m.rates = rates; m.offered > 0 {
			m.rates = []float64{m.offered, m.offered + 1, m.offered, m.offered}
		}
		full := filepath.Join(dir, name)
		writeCampaign(t, full, m)
		return full
	}
	slow, fast := path("slow", made{offered: 500}), path("fast", made{offered: 4000})
	safe, unsafe := path("safe", made{durability: "os"}), path("unsafe", made{durability: "none"})
	old, upgraded := path("old", made{version: "8.0.43"}), path("upgraded", made{version: "8.4.6"})
	both := filepath.Join(dir, "both")
	writeCampaign(t, both, made{target: "a", rates: rates, params: params, durability: "none"}, made{target: "b", rates: []float64{50, 51, 49, 50}, params: params, durability: "os"})
	calls(t, []call{
		{"a step with another rate", "compare " + slow + " " + fast, 0, `(?s)⚠ not compared, as the work differs, in load: rate of insert: 500/s and 4000/s \(--anyway compares them all the same\)\n.*before .* 1\.00× .*\nload +rows_per_s insert +500 +4,000 +– +– .*– other work: rate of insert: 500/s and 4000/s`, `^$`},
		{"as a gate", "compare " + slow + " " + fast + " --fail-if rows_per_s<0.9&&sure", 4, `other work`, `in load: rows_per_s cannot be judged: other work`},
		{"anyway", "compare " + slow + " " + fast + " --anyway", 0, `(?s)⚠ different work in load: rate.*8\.00×.*▲ better`, `^$`},
		{"in a table", "table " + slow + " " + fast, 0, `(?s)\n  load +1\.00 +–⚠1.*⚠1 fast/a in load: other work: rate of insert: 500/s and 4000/s; not comparable`, `^$`},
		{"in a published table", "table " + slow + " " + fast + " --layout tsv", 0, `(?m)^NA\tload`, `other work: rate of insert`},
		{"in a table, anyway", "table " + slow + " " + fast + " --anyway", 0, `load +1\.00 +8\.00`, `^$`},
		{"durability", "compare " + safe + " " + unsafe, 1, `^$`, `differ in durability: os and none\..*\nhint: .*--across-durability`},
		{"durability in one plan", "compare " + both, 1, `^$`, `differ in durability: none and os`},
		{"across durability", "compare " + safe + " " + unsafe + " --across-durability", 0, `^⚠ Durability differs: os and none\.`, `^$`},
		{"across durability, markdown", "compare " + both + " --across-durability --format markdown", 0, `^> ⚠ Durability differs: none and os\.`, `^$`},
		{"across durability, json", "compare " + both + " --across-durability --format json", 0, `^{`, `^⚠ Durability differs: none and os\.`},
		{"a table of one plan", "table " + both, 0, `(?s)^⚠ Durability differs: a: none, b: os\..*\n  load +1\.00 +0\.50▼`, `^$`},
		{"a table of two", "table " + safe + " " + unsafe, 0, `(?s)^⚠ Durability differs: .*\n  load +1\.00 +–⚠1.*other durability: os and none`, `^$`},
		{"a table of two, across", "table " + safe + " " + unsafe + " --across-durability", 0, `(?s)^⚠ Durability differs: .*\n  load +1\.00 +1\.00`, `^$`},
		{"versions", "compare " + old + " " + upgraded, 0, `(?s)the base[^\n]*\n.*⚠[^\n]*\ndiffers: mysql version: 8\.0\.43 and 8\.4\.6\n`, `^$`},
	})
}

// Nothing is said of verdicts where there is none.
func TestCompareSingleTrials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	writeCampaign(t, dir, made{target: "a", rates: []float64{100}, params: params}, made{target: "b", rates: []float64{200}, params: params})
	stdout, stderr, code := rumbench(t, "compare", dir)
	if code != 0 || !strings.Contains(stdout, "(one trial each).") || !strings.Contains(stdout, "1 trial, at least 3 are needed to prove a difference.") || strings.Contains(stdout, "corrected for") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// A percentile of six samples is shown as the greatest of them, also in results
// that were written as a percentile, and no condition sees it.
func TestFewSamples(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	writeCampaign(t, dir, made{target: "a", rates: []float64{100, 101, 99}, params: params}, made{target: "b", rates: []float64{100, 101, 99}, params: params})
	change(t, dir, func(trial *result.Trial) {
		for name, us := range map[string]float64{"service_p99_us": 4000, "service_max_us": 9000} {
			trial.Steps[0].Rows = append(trial.Steps[0].Rows, metric.Row{Target: trial.Target, Trial: trial.Trial,
				Step: "load", Group: "insert", Op: "insert", Metric: name, Value: us, Unit: "µs", N: 6})
		}
	})
	calls(t, []call{
		{"", "show " + dir + " --metric service_p99_us", 0, `a\.1 +load +insert +insert +service_p99_us +9000 \(max of 6\)`, ``},
		{"", "show " + dir + " --metric service_p99_us --json", 0, `"metric":"service_p99_us","value":9000,"unit":"µs","n":6,"max_of":6}`, ``},
		{"", "compare " + dir + " --metric service_p99_us", 0,
			`service_p99_us insert +9\.00 ms, max of 6 +9\.00 ms, max of 6 +– .*– max of 6: p99 needs 1000 operations`, ``},
		{"", "compare " + dir + " --fail-if service_p99_us>1.1&&sure", 4, ``, ``},
		{"", "table " + dir + " --metric service_p99_us", 0, `load +1\.00⚠1 +–⚠2`, ``},
		{"", "table " + dir + " --metric service_p99_us --absolute", 0, `load +9\.00 ms.*⚠1 +9\.00 ms.*⚠2`, ``},
	})
}

// Of several pairs, those are refused that cannot be compared.
func TestCompareRefusesPairs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	rates := []float64{100, 101, 99}
	writeCampaign(t, dir, made{target: "a", rates: rates, params: params, durability: "os"}, made{target: "b", rates: rates, params: params, durability: "none"},
		made{target: "d", rates: rates, params: params, durability: "os"})
	calls(t, []call{{"", "compare " + dir, 1, `(?s)^d against a.*1\.00×`, `a and b differ in durability: os and none(?s:.*)\nhint: `}})
}

// Where no step is left, the whole is refused.
func TestCompareAllUnlike(t *testing.T) {
	dir := t.TempDir()
	for name, clients := range map[string]int{"few": 1, "many": 64} {
		writeCampaign(t, filepath.Join(dir, name), made{target: "a", rates: []float64{100, 101, 99}, params: params})
		change(t, filepath.Join(dir, name), func(trial *result.Trial) {
			trial.Steps[0].Groups = []result.Group{{Name: "insert", Clients: clients}}
		})
	}
	both := "compare " + filepath.Join(dir, "few") + " " + filepath.Join(dir, "many")
	calls(t, []call{
		{"refused", both, 1, ``, `did different work: load: clients of insert: 1 and 64\nhint: `},
		{"anyway", both + " --anyway", 0, `(?s)⚠ few/a and many/a did different work: load: clients of insert: 1 and 64.*1\.00×`, `^$`},
	})
}

func TestCompareJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	writeCampaign(t, dir, made{target: "a", rates: []float64{1000, 1010, 990}, params: params}, made{target: "b", rates: []float64{500, 506, 495}, params: params})
	stdout, _, code := rumbench(t, "compare", dir, "--format", "json")
	expect.Must(t, code == 0, code)
	var first map[string]any
	expect.NoError(t, json.Unmarshal([]byte(strings.SplitN(stdout, "\n", 2)[0]), &first))
	for key, want := range map[string]any{
		"base_target": "a", "new_target": "b", "step": "load", "op": "insert", "metric": "rows_per_s", "unit": "1/s", "better": "higher",
		"headline": true, "base": 1000.0, "new": 500.0, "pairs": 3.0, "ratio": 0.5, "verdict": "worse",
	} {
		expect.True(t, first[key] == want, key, first[key], want)
	}
}

// Plain benchstat reads the format that is made for it, and comes to the same medians.
func TestCompareBenchstat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	writeCampaign(t, dir, made{target: "a", rates: []float64{1000, 1010, 990, 1000, 1005, 995}, params: params}, made{target: "b", rates: []float64{500, 506, 495, 500, 503, 498}, params: params})
	stdout, stderr, code := rumbench(t, "compare", dir, "--format", "bench", "--metric", "rows_per_s")
	expect.Must(t, code == 0, stderr)
	file := filepath.Join(dir, "bench.txt")
	expect.NoError(t, os.WriteFile(file, []byte(stdout), 0o644))
	out, err := exec.Command("go", "tool", "benchstat", "-col", "target", file).CombinedOutput()
	expect.Must(t, err == nil, err, out, "of", stdout)
	expect.True(t, regexp.MustCompile(`Ibench/step=load/op=insert\s+1000\.0 ± +\d%\s+500\.0 ± +\d%\s+-50\.00% \(p=0\.002 n=6\)`).Match(out), out, stdout)
}

// Targets that have the same name on several sides never become one.
func TestNamesOfSides(t *testing.T) {
	t.Chdir(t.TempDir())
	rates := []float64{1, 2, 3}
	for _, dir := range []string{"mine", "old/x", "new/x"} {
		writeCampaign(t, dir, made{target: "a", rates: rates}, made{target: "b", rates: rates})
	}
	for args, want := range map[string][]string{
		"old/x":                        {"a b"},
		"old/x mine":                   {"x/a mine/a", "x/b mine/b"},
		"old/x new/x":                  {"x/a new/x/a", "x/b new/x/b"},
		"mine:a old/x -- mine:b new/x": {"mine/b mine/b'", "mine/a mine/a'"},
	} {
		stdout, stderr, _ := rumbench(t, append(strings.Fields("compare --anyway --format json --metric rows_per_s"), strings.Fields(args)...)...)
		var got []string
		for line := range strings.Lines(stdout) {
			var item struct {
				Base string `json:"base_target"`
				New  string `json:"new_target"`
			}
			expect.NoError(t, json.Unmarshal([]byte(line), &item))
			got = append(got, item.Base+" "+item.New)
		}
		expect.True(t, slices.Equal(got, want), args, got, "want", want, stderr)
	}
}

// The gate answers the plan's question, or that of the flags.
func TestGate(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "base")
	writeCampaign(t, base, made{target: "a", rates: []float64{1000, 1010, 990, 1000}, params: params})
	for name, rates := range map[string][]float64{
		"slow": {800, 812, 790, 805}, "noisy": {900, 1150, 870, 1100}, "even": {1001, 1009, 991, 1000}, "once": {800}, "slight": {970, 981, 960, 971},
	} {
		writeCampaign(t, filepath.Join(dir, name), made{target: "a", rates: rates, params: params})
	}
	ask(t, filepath.Join(dir, "slight"), result.Question{Metrics: []string{"rows_per_s"}, WorseBy: 0.10})
	gate := "compare --gate " + base + " " + dir + "/"
	calls(t, []call{
		{"", gate + "slow", 3, `in load: proven 0\.80\S* base/a’s`,
			`^regression: slow/a against base/a in load insert throughput 0\.80\S* \(0\.\S+ to 0\.\S+\)\nrumbench: a regression is proven in 1 number\n$`},
		{"", gate + "slow --worse-by 30%", 0, `equivalent within 30 % to base/a`, `^$`},
		{"", gate + "slow --worse-by 30% --fail-unless-equivalent", 0, ``, `^$`},
		{"", gate + "noisy", 0, `Throughput in load is undecided`, `^$`},
		{"", gate + "noisy --worse-by 5% --fail-unless-equivalent", 3, ``, `(?s)^not excluded: .*a regression is not excluded in 1 number`},
		{"", gate + "even --worse-by 5% --fail-unless-equivalent", 0, `equivalent within 5 % to base/a`, `^$`},
		{"", gate + "even --equivalent-within 3% --fail-unless-equivalent", 0, `equivalent within 3 % to base/a`, `^$`},
		{"", gate + "once", 4, `base/a’s \(one trial of once/a\)\.`, `(?s)^not judged: .*\nrumbench: 1 number cannot be judged`},
		{"", gate + "slight", 0, `equivalent within 10 % to base/a`, `^$`},
		{"", gate + "slight --worse-by 1%", 3, `proven 0\.9`, `^regression: `},
		{"", gate + "even --fail-unless-equivalent", 2, ``, `(?s)how great a difference matters.*\nhint: add --worse-by 5%`},
		{"", gate + "slow --metric p99", 2, ``, `no step has a number of response_p99_us`},
		{"", gate + "slow --brief --format markdown", 3, `^## slow/a against base/a[^|]*proven 0\.80[^|]*Gate: a regression is proven in 1 number`, `^regression`},
		{"", gate + "slow --fail-if rows_per_s<0.95", 2, ``, `give one of them`},
	})
}

// ask gives a written campaign a question.
func ask(t *testing.T, dir string, q result.Question) {
	t.Helper()
	c := expect.Value(result.ReadCampaign(dir))(t)
	c.Question = q
	expect.NoError(t, result.WriteJSON(filepath.Join(dir, result.CampaignFile), c))
}
