// Package doctest holds the documents against the program: the commands of the
// README and of the recipes work.
package doctest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	engines "rumbench/engine/all"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
	workloads "rumbench/workload/all"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// shBlocks are the blocks of shell commands in a document.
func shBlocks(text string) (out []string) {
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// checkout copies the files that a fresh clone would have.
func checkout(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // servers run as another user
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		b, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, but not yet from git
		}
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, b, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReadme runs every command of the README and of the recipes, in their
// order, as in a fresh clone. The demo runs with less data; make test is what
// runs this test.
func TestReadme(t *testing.T) {
	need.Setup(t)
	t.Parallel()
	recipes, _ := howto(t)
	blocks := append(shBlocks(read(t, "README.md")), shBlocks(recipes)...)
	if len(blocks) < 20 {
		t.Fatalf("there are only %d blocks of commands", len(blocks))
	}
	dir := checkout(t)
	commands := 0
	for _, block := range blocks {
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") || line == "make test" || strings.HasPrefix(line, "git clone") || strings.HasPrefix(line, "cd ") {
				continue
			}
			commands++
			run(t, dir, line)
		}
	}
	if commands < 40 {
		t.Errorf("only %d commands were run", commands)
	}
	if reports, _ := filepath.Glob(filepath.Join(dir, "results", "quick-*", result.ReportFile)); len(reports) == 0 {
		t.Error("make demo left no report")
	}
}

// howto returns the recipes of docs/howto.md, and apart the section about CI.
func howto(t *testing.T) (recipes, ci string) {
	t.Helper()
	before, section, found := strings.Cut(read(t, "docs/howto.md"), "\n## Stop slow changes in CI\n")
	ci, after, closed := strings.Cut(section, "\n## ")
	if !found || !closed {
		t.Fatal("docs/howto.md has no section about CI, followed by another")
	}
	return before + "\n## " + after, ci
}

// TestCI runs the steps of the workflow that docs/howto.md shows, and the other
// commands of that section.
// What the gate finds in two real runs is chance: the summary is what counts here.
func TestCI(t *testing.T) {
	need.Setup(t)
	t.Parallel()
	_, text := howto(t)
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)
	if err := yaml.Unmarshal([]byte(block[1]), &workflow); err != nil {
		t.Fatal(err)
	}
	dir := checkout(t)
	summary := filepath.Join(dir, "summary.md")
	run(t, dir, "make build")
	steps := 0
	for _, s := range workflow.Jobs["gate"].Steps {
		if s.Run == "" {
			continue
		}
		steps++
		if s.Name == "Gate" {
			s.Run = "(" + s.Run + ") || test $? -ge 3"
		}
		run(t, dir, "GITHUB_STEP_SUMMARY="+summary+"\n"+s.Run)
	}
	b, err := os.ReadFile(summary)
	if err != nil || steps != 3 {
		t.Fatalf("%d steps, %v", steps, err)
	}
	// A number that other programs disturbed is not judged: of how many verdicts are is not known before.
	for _, want := range []string{"## new against old, the base", "| l.i1 | rows_per_s insert |", "on what is asked are corrected for"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the summary has no %q:\n%s", want, b)
		}
	}
	if n := strings.Count(string(b), "\n"); n > 40 {
		t.Errorf("the summary has %d lines", n)
	}
	for _, block := range shBlocks(text) {
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); strings.Contains(line, "--gate") {
				line = "(" + line + ") || test $? -ge 3"
			}
			run(t, dir, line)
		}
	}
}

func run(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"RUMBENCH_LOCK="+filepath.Join(dir, "lock"),
		"DEMO=--set params.rows=20000 --set params.write_rows=2000 --set params.query_seconds=0.5 --set params.rates=[500]")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestNamed: every engine, workload, preset, parameter and cost is in the documents.
func TestNamed(t *testing.T) {
	described := read(t, "docs/engines.md")
	for _, e := range engines.Engines() {
		i := e.Info()
		if !strings.Contains(described, i.Name) {
			t.Errorf("docs/engines.md does not describe %s", i.Name)
		}
		for _, o := range i.Options {
			if !strings.Contains(described, o.Name) {
				t.Errorf("docs/engines.md does not describe option %s of %s", o.Name, i.Name)
			}
		}
	}
	method := read(t, "docs/method.md")
	for _, m := range metric.All() {
		if m.Section == metric.CostTable && !strings.Contains(method, "`"+m.Name+"`") {
			t.Errorf("docs/method.md does not say where %s comes from", m.Name)
		}
	}
	for _, w := range workloads.Workloads() {
		i := w.Info()
		text := read(t, docOf(i.Name))
		for _, p := range i.Presets {
			if !strings.Contains(text, p.Name) {
				t.Errorf("%s does not describe preset %s", docOf(i.Name), p.Name)
			}
		}
	}
}

// TestLinks: what documents link to in the project exists.
func TestLinks(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	decisions, _ := filepath.Glob(filepath.Join(root, "docs", "decisions", "*.md"))
	docs = append(append(docs, decisions...), filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "CHANGELOG.md"))
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	for _, doc := range docs {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", doc, m[1])
			}
		}
	}
}
