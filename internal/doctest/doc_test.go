// Package doctest holds the documents against the program: the commands of the
// README and of other pages work.
package doctest_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	engines "rumbench/engine/all"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join(root, path)))(t)
	return string(b)
}

// blocks are the blocks of a language in a document.
func blocks(text, language string) (out []string) {
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkout copies the files that a fresh clone would have.
func checkout(t *testing.T) string {
	t.Helper()
	dir := need.TempDir(t)                 // servers run as another user
	const removed = "--ignore-failed-read" // but not yet from git
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", "git ls-files -z --cached --others --exclude-standard | "+
		"tar -c --null -T - "+removed+" | tar -x -C "+dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// pages hold the commands that are run, each once, in their order.
var pages = []string{"README.md", "docs/start.md", "docs/howto.md", "docs/own-workload.md", "docs/plan.md"}

// TestReadme runs the commands of the pages and the steps of the workflow for CI as in a fresh clone, with
// less data unless it is for make test-long. Make test is what runs this test.
func TestReadme(t *testing.T) {
	need.Setup(t)
	t.Parallel()
	dir := checkout(t)
	var lines []string
	for _, page := range pages {
		for _, block := range blocks(read(t, page), "sh") {
			lines = append(lines, strings.Split(block, "\n")...)
		}
	}
	steps := workflow(t)
	seen := map[string]bool{"": true, "make test": true}
	for _, line := range append(lines, steps...) {
		line, _, _ = strings.Cut(line, "  #") // a comment
		if line = strings.TrimSpace(line); seen[line] || strings.HasPrefix(line, "#") {
			continue
		}
		seen[line] = true
		run(t, dir, line)
	}
	expect.True(t, len(seen) >= 70 && len(steps) == 3, "only", len(seen), "commands and", len(steps), "steps were run")
	if reports, _ := filepath.Glob(filepath.Join(dir, "results", "quick-*", result.ReportFile)); len(reports) == 0 {
		t.Error("make demo left no report")
	}
	summary := expect.Read(t, filepath.Join(dir, "summary.md"))
	// A number that other programs disturbed is not judged: of how many verdicts are is not known before.
	expect.All(t, summary, "## new against old, the base", "| l.i1 | rows_per_s insert |", "on what is asked are corrected for")
	if n := strings.Count(summary, "\n"); n > 40 {
		t.Errorf("the summary has %d lines", n)
	}
}

// workflow returns the commands of the workflow that docs/howto.md shows.
func workflow(t *testing.T) (commands []string) {
	t.Helper()
	var text struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	for _, block := range blocks(read(t, "docs/howto.md"), "yaml") {
		if strings.HasPrefix(block, "name: performance\n") {
			expect.NoError(t, yaml.Unmarshal([]byte(block), &text))
		}
	}
	for _, s := range text.Jobs["gate"].Steps {
		if s.Run != "" {
			commands = append(commands, s.Run)
		}
	}
	return commands
}

// size matches what less will do of.
var size = regexp.MustCompile(`params\.(rows|write_rows|table_size|records|\w*seconds|settle)=\S+|plans/ci\.yaml`)

// less are the sizes of make test.
var less = map[string]string{"rows": "2k", "write_rows": "500", "table_size": "500", "records": "1k", "settle": "0",
	"plans/ci.yaml": "plans/ci.yaml --set trials=3 --set params.rows=2k --set params.write_rows=500"}

// campaign matches a command that runs one, which does without what make demo shows already. The one that is refused
// is refused by the preflight.
var campaign = regexp.MustCompile(`bin/rumbench run \S+ --out results/([^r]|re[^f])\S*`)

// run runs a command in its own test.
func run(t *testing.T, dir, line string) {
	t.Helper()
	command := line
	if !need.IsLong() {
		command = campaign.ReplaceAllString(line, "$0 --no-preflight --set calibrate=false")
		command = size.ReplaceAllStringFunc(command, func(found string) string {
			name, _, set := strings.Cut(strings.TrimPrefix(found, "params."), "=")
			if !set {
				return less[found]
			}
			return "params." + name + "=" + cmp.Or(less[name], "0.1")
		})
	}
	// What the gate finds in real runs is chance.
	switch {
	case strings.Contains(line, "--gate"):
		command = "(" + command + ") || test $? -ge 3"
	case strings.Contains(line, "compare") && strings.Contains(line, "--fail-if"): // so is whether it can judge
		command = "(" + command + ") || test $? -eq 4"
	}
	// It is interrupted once it has begun, however long that takes.
	if after, ok := strings.CutPrefix(command, "timeout --signal=INT 5 "); ok {
		command = "set -m; " + strings.TrimSuffix(after, " || true") + " & until test -e results/interrupted/campaign.json; " +
			"do sleep 0.1; done; kill -INT $!; wait $! || true"
	}
	ok := t.Run(line, func(t *testing.T) {
		// make test builds the native engines, the script card.txtar draws a picture, and package cli runs servers.
		for _, long := range []string{"make old ", "make native", ".png", "find=", "results/servers", "results/sysbench"} {
			if strings.Contains(line, long) {
				need.Long(t)
			}
		}
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RUMBENCH_LOCK="+filepath.Join(dir, "lock"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md"),
			"DEMO=--set trials=1 --set params.rows=2000 --set params.write_rows=500 --set params.query_seconds=0.1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		t.Logf("CPU %v", cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	})
	if !ok { // the next ones need what it makes
		t.FailNow()
	}
}

// TestNamed: every engine, option and cost is in the documents; TestPresets is about workloads.
func TestNamed(t *testing.T) {
	described := read(t, "docs/engines.md")
	for _, e := range engines.Engines() {
		i := e.Info()
		expect.True(t, strings.Contains(described, i.Name), "docs/engines.md does not describe", i.Name)
		for _, o := range i.Options {
			expect.True(t, strings.Contains(described, o.Name),
				"docs/engines.md does not describe option", o.Name, "of", i.Name)
		}
	}
	method := read(t, "docs/method.md")
	for _, m := range metric.All() {
		expect.True(t, m.Section != metric.CostTable || strings.Contains(method, "`"+m.Name+"`"),
			"docs/method.md does not say where", m.Name, "comes from")
	}
}

// TestLinks: what documents link to in the project exists.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	found := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		for _, doc := range expect.Value(filepath.Glob(filepath.Join(root, pattern)))(t) {
			for _, m := range link.FindAllStringSubmatch(expect.Read(t, doc), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				found++
				if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
					t.Errorf("%s links to %s, which is not there", doc, m[1])
				}
			}
		}
	}
	expect.True(t, found >= 100, "only", found, "links were found")
}
