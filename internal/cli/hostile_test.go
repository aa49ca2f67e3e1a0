package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// hostile would clear the screen, name the window, colour what follows, turn its
// direction, begin a heading, and be a link, a picture and HTML.
const hostile = "evil\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u2066\r\n# owned\n[a](http://evil) ![b](http://evil) `c` **d** <img src=x>"

// What shows its content as it is: blocks between fences that it does not have
// itself, and escaped characters. The plan has a fence of three.
var (
	fences  = regexp.MustCompile("(?ms)^````\\w*\n.*?^````\n|^```\n[^`]*(`[^`]+`[^`]*)*\n```\n")
	escapes = regexp.MustCompile(`\\[^\w\s]`)
)

// harmless looks for what a terminal, a page or a reader of Markdown obeys.
func harmless(t *testing.T, subject, text string) {
	t.Helper()
	for i, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			t.Errorf("%s has %U: …%q", subject, r, text[max(0, i-60):min(len(text), i+20)])
			return
		}
	}
	if !strings.HasSuffix(subject, ".md") {
		return
	}
	text = escapes.ReplaceAllString(fences.ReplaceAllString(text, ""), "")
	for _, bad := range []string{"\n# owned", "[a](", "![b](", "<img", "**d**"} {
		if at := strings.Index(text, bad); at >= 0 {
			t.Errorf("%s has %q: …%q", subject, bad, text[max(0, at-60):min(len(text), at+40)])
		}
	}
}

// writeHostile writes a campaign all of whose texts are hostile.
func writeHostile(t *testing.T, dir string, rate float64) {
	t.Helper()
	campaigns++
	at := time.Date(2026, 1, 2, 3, 4, campaigns, 0, time.UTC)
	c := result.Campaign{Format: result.Format, Name: hostile, Command: []string{"rumbench", hostile}, Started: at, Stopped: hostile, Targets: []string{hostile}}
	for n := 1; n <= 2; n++ {
		e := result.Entry{Dir: "t." + string(rune('0'+n)), Target: hostile, Trial: n, Status: result.Complete}
		c.Trials = append(c.Trials, e)
		row := func(name string, v float64, per string) metric.Row {
			return metric.Row{Target: hostile, Trial: n, Step: hostile, Group: hostile, Op: hostile, Metric: name, Value: v, Unit: hostile, Per: per, N: 1000, Warnings: metric.UntypedAll([]string{hostile})}
		}
		trial := result.Trial{
			Format: result.Format, Campaign: hostile, Target: hostile, Trial: n, Order: "interleaved", Engine: hostile, Structure: hostile, Workload: hostile, Preset: hostile,
			Params: map[string]any{hostile: hostile}, Knobs: map[string]string{hostile: hostile, "cache": hostile, "dsn": hostile}, Durability: hostile,
			Status: result.Failed, Reason: hostile, Hint: hostile, Started: at, Interval: 1, Warnings: metric.UntypedAll([]string{hostile}),
			Versions: []observe.Fact{{Name: hostile, Value: hostile}}, Host: []observe.Fact{{Name: hostile, Value: hostile}},
			Settings: []engine.Setting{{Name: hostile, Value: hostile, Source: hostile}},
			Steps: []result.Step{{
				Name: hostile, Doc: hostile, Status: result.Complete, Primary: hostile, WritesPer: hostile, Seconds: 10, Notes: metric.UntypedAll([]string{hostile}), Warnings: metric.UntypedAll([]string{hostile}),
				Rows: []metric.Row{row("rows_per_s", rate, ""), {Target: hostile, Trial: n, Step: hostile, Metric: "write_kb", Value: 2, Unit: "KB", Per: hostile, N: 10},
					{Target: hostile, Trial: n, Step: hostile, Op: "client", Metric: "wait_share", Value: 1, Unit: "ratio", N: 1, Labels: metric.Labels{State: "running", Event: hostile, Machine: hostile}}},
				Groups: []result.Group{{Name: hostile, Clients: 1, Ops: []string{hostile}}},
			}},
		}
		writeRaw(t, filepath.Join(result.TrialPath(dir, e.Dir), result.TrialFile), &trial)
		writeRaw(t, filepath.Join(result.TrialPath(dir, e.Dir), result.SeriesFile), result.Line{Step: hostile, Source: "ops", Group: hostile, Op: hostile, T: 1, DT: 1})
	}
	writeRaw(t, filepath.Join(dir, result.CampaignFile), &c)
	if err := os.WriteFile(filepath.Join(dir, result.PlanFile), []byte("workload: ibench # "+hostile+"\n```\n# owned\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeRaw writes JSON with its characters as they are.
func writeRaw(t *testing.T, path string, v any) {
	t.Helper()
	expect.Write(t, path, string(expect.Value(json.Marshal(v))(t))+"\n", 0o644)
}

// Whatever a campaign of others is called and says, no command hands it on to a
// terminal, a page or a file as something to obey.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	one, two, notes := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "notes")
	writeHostile(t, one, 100)
	writeHostile(t, two, 90)
	expect.Write(t, notes, "a: \x1b[2J\n", 0o644)
	wrong := filepath.Join(dir, "wrong\x1b[2J.yaml")
	expect.Write(t, wrong, "workload: \"a\\e[2J\\u202e\"\ntargets: [\"b\\e[2J\"]\n\u202e: 1\n", 0o644)
	for _, args := range [][]string{
		{"report", one, two, "--out", filepath.Join(dir, "page")}, {"report", one, "--out", filepath.Join(dir, "redacted"), "--redact"},
		{"show", one}, {"show", one, "--json"}, {"show", one, "--format", "sysbench"},
		{"compare", one, two}, {"compare", one, two, "--format", "markdown"}, {"compare", one, two, "--format", "json"}, {"compare", one, two, "--format", "bench"},
		{"table", one}, {"table", one, "--layout", "markdown"}, {"table", one, "--layout", "tsv"},
		{"table", one, "--notes", notes},
		{"list", "runs", dir}, {"list", "runs", dir, "--json"}, {"history", dir, "--all"},
		{"export", one, "--out", filepath.Join(dir, "rows.parquet")},
		{"run", "--resume", one}, {"run", wrong}, {"run", "none\x1b[2J"}, {"run", wrong, "--set", "targets.\x1b[2J=\u202e"}, {"\x1b[2J"}, {"show", "--\x1b[2J"},
		{"import", hostileLogs(t, dir), "--out", filepath.Join(dir, "imported")}, {"show", filepath.Join(dir, "imported")},
		{"stat", "--attach", "\x1b[2J:x"}, {"stat", "--expr", "\x1b[2J"},
	} {
		out, talk, _ := rumbench(t, args...)
		expect.True(t, out+talk != "", args, "prints nothing")
		subject := strings.Join(args[:min(2, len(args))], " ")
		if strings.Contains(strings.Join(args, " "), "markdown") {
			subject += ".md"
		}
		harmless(t, "standard output of "+subject, out)
		harmless(t, "standard error of "+subject, talk)
	}
	for _, made := range []string{"page", "redacted", "imported"} {
		for path, text := range expect.Value(snapshot(filepath.Join(dir, made)))(t) {
			expect.True(t, text != "", path, "is empty")
			harmless(t, path, text)
		}
	}
}

// hostileLogs are logs of sysbench in a directory with a hostile name.
func hostileLogs(t *testing.T, dir string) string {
	t.Helper()
	logs := filepath.Join(dir, "logs")
	log := expect.Read(t, "../importer/testdata/sysbench/mysql-5.5.9/sb.o.point-query.range100.pk1.dop2")
	for _, name := range []string{"a\x1b[2J\u202eb", "c\u009b31m"} {
		expect.Write(t, filepath.Join(logs, name, "run\x1b[2J.log"), log, 0o644)
	}
	return logs
}
