package trial

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/workload"
)

// Levels that only read ascend in one block and descend in the next; all else keeps its order.
func TestOrderOfLevels(t *testing.T) {
	step := func(name string) workload.Step {
		base, _, level := strings.Cut(name, "@")
		s := workload.Step{Name: name, Groups: []workload.Group{{Ops: []workload.OpKind{{Returns: base[0] != 'w'}}}}}
		if level {
			s.Base = base
		}
		s.Warmup = strings.HasPrefix(name, "prepare")
		return s
	}
	for _, c := range []struct{ steps, second string }{
		{"load r@1 r@4 r@16 w@1 w@4", "load r@16 r@4 r@1 w@1 w@4"},
		{"prepare1 r@1 prepare4 r@4", "prepare4 r@4 prepare1 r@1"},
		{"r@1 s@1 r@4 s@4 w r@8 r@9", "s@4 r@4 s@1 r@1 w r@9 r@8"},
		{"r s w r@1 s@1", "r s w r@1 s@1"},
		{"w@1 w@2 prepare", "w@1 w@2 prepare"},
	} {
		var steps []workload.Step
		for name := range strings.FieldsSeq(c.steps) {
			s := step(name)
			if name == "load" {
				s.Creates = true
			}
			steps = append(steps, s)
		}
		names := func(block int) string {
			var out []string
			for _, s := range ordered(steps, block) {
				out = append(out, s.Name)
			}
			return strings.Join(out, " ")
		}
		expect.True(t, names(1) == c.steps && names(3) == c.steps && names(2) == c.second,
			"then", c.steps, names(1), names(2), c.second)
	}
}
