package doctest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"rumbench/internal/cli/doctor"
	"rumbench/internal/expect"
)

// TestDoctor: docs/doctor.md lists the checks of the host as the code has them, and
// its table of fixes has a row for each of them and no other.
func TestDoctor(t *testing.T) {
	r, err := doctor.Look(context.Background(), doctor.Options{Dir: t.TempDir(), Period: 10 * time.Millisecond, Lock: t.TempDir() + "/lock"})
	expect.NoError(t, err)
	var b strings.Builder
	b.WriteString("| check | wanted | why |\n|---|---|---|\n")
	_, byHand, _ := strings.Cut(read(t, "docs/doctor.md"), "<!-- end -->")
	fixes := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| .+ \| (.+) \|$`).FindAllStringSubmatch(byHand, -1) {
		fixes[row[1]] = row[2]
	}
	delete(fixes, "check") // the head of the table
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.Name, f.Wanted, f.Why)
		expect.True(t, fixes[f.Name] != "", "docs/doctor.md does not say how to fix", f.Name)
		delete(fixes, f.Name)
	}
	for name := range fixes {
		t.Errorf("docs/doctor.md describes %s, which is no check", name)
	}
	generated(t, "docs/doctor.md", b.String())
}
