package doctest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"rumbench/internal/cli/doctor"
)

// TestDoctor: every check of the host has a section that says what is wanted
// and how to fix it, and no section is about a check that is not there.
func TestDoctor(t *testing.T) {
	r, err := doctor.Look(context.Background(), doctor.Options{Dir: t.TempDir(), Period: 10 * time.Millisecond, Lock: t.TempDir() + "/lock"})
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for part := range strings.SplitSeq(read(t, "docs/doctor.md"), "\n### ") {
		name, text, _ := strings.Cut(part, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		if !strings.HasPrefix(name, "# ") { // what comes before the first
			sections[name] = text
		}
	}
	for _, f := range r.Findings {
		text, ok := sections[f.Name]
		delete(sections, f.Name)
		switch {
		case !ok:
			t.Errorf("docs/doctor.md does not describe %s", f.Name)
		case !strings.Contains(text, "Wanted: "+f.Wanted+"."):
			t.Errorf("docs/doctor.md does not say of %s that wanted is: %s", f.Name, f.Wanted)
		case !strings.Contains(text, "Fix: "):
			t.Errorf("docs/doctor.md does not say how to fix %s", f.Name)
		}
	}
	for name := range sections {
		t.Errorf("docs/doctor.md describes %s, which is no check", name)
	}
}
