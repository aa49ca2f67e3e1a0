package compare

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/result"
)

func gated(t *testing.T) *Judgement {
	var trials []*result.Trial
	for i, v := range []float64{100, 101, 99, 100} {
		trials = append(trials, made("a", i+1, "interleaved", numbers{"rows_per_s": v, "server_cpu_us": 20, "write_kb": 4}, "s", "t"),
			made("b", i+1, "interleaved", numbers{"rows_per_s": v / 2, "server_cpu_us": 40, "write_kb": 4}, "s", "t"))
	}
	for _, u := range trials { // in t nothing is slower
		u.Steps[1].Rows[0].Value = 100
	}
	return judged(t, trials...)
}

func TestGate(t *testing.T) {
	j := gated(t)
	for _, c := range []struct {
		condition string
		steps     []string // where it holds
		judged    int
	}{
		{"rows_per_s < 0.95 && sure", []string{"s"}, 2},
		{"rows_per_s < 0.45", nil, 2},
		{"server_cpu_us > 1.5 && sure", []string{"s", "t"}, 2},
		{"rows_per_s < 0.95 && server_cpu_us > 1.5", []string{"s"}, 2},
		{"low.rows_per_s > 0.99 && step == 't'", []string{"t"}, 2},
		{"verdict.rows_per_s == 'worse' && op == 'insert'", []string{"s"}, 2},
		{"new.write_kb > 3 && base.write_kb < 5", []string{"s", "t"}, 2},
		{"verdict.write_kb != 'same'", nil, 2},
		{"read_kb > 1", nil, 0},
		{"rows_per_s < 0.95 && read_kb > 1", nil, 0},
	} {
		g, err := NewGate(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		found, judged, err := g.Find(j)
		if err != nil {
			t.Errorf("%s: %v", c.condition, err)
		}
		var steps []string
		for _, f := range found {
			steps = append(steps, f.Step.Name)
		}
		if !slices.Equal(steps, c.steps) || judged != c.judged {
			t.Errorf("%s: holds in %v of %d, want %v of %d", c.condition, steps, judged, c.steps, c.judged)
		}
	}
}

func TestWrongGates(t *testing.T) {
	for condition, want := range map[string]string{
		"tps < 1":                  `"tps" is no metric; rumbench list metrics`,
		"per_s < 1":                "is ops_per_s meant?",
		"ops_per_s":                "expected bool",
		"ops_per_s < 'a'":          "mismatched types",
		"ops_per_s <":              "unexpected token",
		"sure":                     "names no metric",
		"low.nonsense < 1":         `"nonsense" is no metric`,
		"shell('rm') || ops_per_s": "is no metric",
	} {
		if _, err := NewGate(condition); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", condition, err, want)
		}
	}
}
