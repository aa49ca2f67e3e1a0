package explain_test

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/explain"
)

// A proven difference of CPU time is split into instructions and the cycles of each; without a PMU on
// both sides, or without a difference, nothing is said of them.
func TestInstructions(t *testing.T) {
	base := usual()
	base.server, base.instructions, base.each = 100, 200_000, 1
	for name, c := range map[string]struct {
		change func(*state)
		says   string // "": nothing
	}{
		"more instructions": {func(s *state) { s.server, s.instructions, s.each = 198, 360_000, 1.1 }, "b executes 1.80× the instructions per query at 1.10× the cycles each"},
		"slower ones":       {func(s *state) { s.server, s.each = 150, 1.5 }, "b executes 1.00× the instructions per query at 1.50× the cycles each"},
		"a slower clock":    {func(s *state) { s.server = 150 }, "at 1.00× the cycles each, at 0.6"},
		"equal":             {func(*state) {}, ""},
		"one side only":     {func(s *state) { s.server, s.instructions = 198, 0 }, ""},
	} {
		subject := base
		c.change(&subject)
		said := ""
		for _, r := range explained(base, subject, 4, 1).Records() {
			if strings.Contains(r.Sentence, "instructions") {
				said += r.Sentence
			}
		}
		expect.Contains(t, said, c.says, name)
		expect.Equal(t, (said == ""), (c.says == ""), name)
	}
	noPMU := usual()
	subject := noPMU
	subject.server *= 2
	if slices.ContainsFunc(explained(noPMU, subject, 4, 1).Records(), func(r explain.Record) bool { return strings.Contains(r.Sentence, "instructions") }) {
		t.Error("instructions that were not counted")
	}
}
