package metric_test

import (
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

// words are the parts of names that constants do not merely capitalise.
var words = map[string]string{"us": "US", "ms": "MS", "kb": "KB", "cpu": "CPU", "db": "DB", "io": "IO", "gc": "GC", "sla": "SLA", "llc": "LLC", "dtlb": "DTLB"}

// other are the constants of metrics whose own name is a warning's or a section's.
var other = map[string]string{"stalls": "StallCount", "given_up": "GivenUpOps", "shed": "ShedOps", "saturated": "SaturatedFlag"}

func constant(name string) string {
	if c := other[name]; c != "" {
		return c
	}
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if w := words[part]; w != "" {
			b.WriteString(w)
		} else {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// composed reports whether the code makes a name from those of a family and a class or quantile.
func composed(m *metric.Metric) bool {
	distribution := m.Family == metric.Attempt || m.Family == metric.Statement
	return m.Family == metric.ErrorClass || distribution && m.Quantile != ""
}

// TestNames: names.go has a constant for each metric of the catalogue, unless its name is composed; -update
// writes it.
func TestNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("package metric\n\n// The names of the metrics, made from the catalogue by TestNames; see composed.\nconst (\n")
	for _, m := range metric.All() {
		if !composed(&m) {
			fmt.Fprintf(&b, "%s = %q\n", constant(m.Name), m.Name)
		}
	}
	b.WriteString(")\n")
	want := expect.Value(format.Source([]byte(b.String())))(t)
	if *update {
		expect.NoError(t, os.WriteFile("names.go", want, 0o644))
	}
	if got, _ := os.ReadFile("names.go"); string(got) != string(want) {
		t.Error("names.go is not what the catalogue makes: go test ./internal/metric -run TestNames -update")
	}
}
