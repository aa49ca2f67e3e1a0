package metric_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

var update = flag.Bool("update", false, "write the metrics of docs/metrics.md")

// The part of the page between these lines is made from the catalogue.
const (
	begin = "<!-- Metrics: made from internal/metric by `go test ./internal/metric -update`. -->\n"
	end   = "<!-- End of the metrics. -->\n"
)

// TestGlossary: docs/metrics.md has the metrics as the catalogue has them.
func TestGlossary(t *testing.T) {
	const file = "../../docs/metrics.md"
	b := expect.Value(os.ReadFile(file))(t)
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ended := strings.Cut(rest, end)
	expect.Must(t, ok && ended, file, "lacks the lines around the metrics")
	want := before + begin + glossary() + end + after
	if want == string(b) {
		return
	}
	expect.Must(t, *update, file, "is not up to date: go test ./internal/metric -update")
	expect.NoError(t, os.WriteFile(file, []byte(want), 0o644))
}

// layer returns the group of headlines that those of a family are read with.
func layer(f metric.Family) string {
	switch f {
	case metric.Throughput:
		return "throughput"
	case metric.CPU, metric.Storage, metric.Engine, metric.Space, metric.Memory, metric.Waits, metric.Client:
		return "cost"
	}
	return "quality of service"
}

func glossary() string {
	var b strings.Builder
	for _, s := range metric.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n| metric | unit | better | meaning |\n|---|---|---|---|\n", s)
		for _, name := range metric.InSection(s) {
			m := metric.ByName(name)
			meaning := m.Meaning()
			if m.See != "" {
				file, _, _ := strings.Cut(m.See, "#")
				meaning += fmt.Sprintf(" See [%s](%s).", file, m.See)
			}
			if m.Headline == metric.Judged {
				meaning += fmt.Sprintf(" **Headline** of %s.", layer(m.Family))
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, cmp.Or(m.Better, "–"), strings.ReplaceAll(meaning, "|", `\|`))
		}
	}
	b.WriteString("\n## Short names\n\nWhere a metric is asked for, these names may be written too. Of several metrics, a step's number is that of the first which it has.\n\n| name | metric |\n|---|---|\n")
	for _, n := range metric.Nicknames() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", n.Name, strings.Join(n.Means, "`, `"))
	}
	return b.String() + "\n"
}
