package compare_test

import (
	"fmt"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// holds returns where a condition holds.
func holds(t *testing.T, condition string, j *compare.Judgement) compare.Findings {
	t.Helper()
	return expect.Value(expect.Value(compare.NewGate(condition))(t).Find(j, nil))(t)
}

func gated(t *testing.T) *compare.Judgement {
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

// A condition can ask for numbers that do not depend on how long the step lasted.
func TestGateSteady(t *testing.T) {
	for _, code := range []metric.Code{"", remark.NotSteady, remark.ShortCycle, remark.OnCredit, remark.Disturbed} {
		var trials []*result.Trial
		for n := 1; n <= 4; n++ {
			a := made("a", n, "interleaved", numbers{"rows_per_s": 1000 + float64(n)}, "s")
			b := made("b", n, "interleaved", numbers{"rows_per_s": 500 + float64(n)}, "s")
			if code != "" {
				b.Steps[0].Rows[0].Warnings = []metric.Warning{{Code: code, Text: "x"}}
			}
			trials = append(trials, a, b)
		}
		c := compare.New(trials)
		found := holds(t, "rows_per_s < 0.9 && steady", c.Judge(c.Targets[0], c.Targets[1]))
		expect.Equal(t, len(found.True) > 0, code == "" || code == remark.Disturbed, code)
	}
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
		{"server_cpu_us > 1.5 && rows_per_s < 0.95", []string{"s"}, 2},
		{"low.rows_per_s > 0.99 && step == 't'", []string{"t"}, 2},
		{"verdict.rows_per_s == 'worse' && op == 'insert'", []string{"s"}, 2},
		{"new.write_kb > 3 && base.write_kb < 5", []string{"s", "t"}, 2},
		{"verdict.write_kb != 'same'", nil, 2},
		{"read_kb > 1", nil, 0},
		{"rows_per_s < 0.95 && read_kb > 1", nil, 0},
	} {
		found := holds(t, c.condition, j)
		expect.True(t, len(found.Blind) == 0, c.condition, found.Blind)
		var steps []string
		for _, f := range found.True {
			steps = append(steps, f.Step.Name)
		}
		expect.List(t, steps, c.steps, "holds in of, of", c.condition)
		expect.Equal(t, found.Judged, c.judged, "holds in of, of", c.condition)
	}
}

// A gate is blind where the base has a number and the other side has none that
// can be judged; where something came out of nothing, it sees that.
// With too few trials nothing is ever sure: a condition that rests on it is not
// judged, but one that holds without it is found.
func TestGateOfFewTrials(t *testing.T) {
	j := judged(t, made("a", 1, "interleaved", numbers{"rows_per_s": 100}, "s"), made("b", 1, "interleaved", numbers{"rows_per_s": 50}, "s"))
	for condition, want := range map[string]string{
		"rows_per_s < 0.95 && sure":                  "0 true, 0 judged, [s: rows_per_s cannot be judged: 1 of at least 3 trials]",
		"verdict.rows_per_s == 'worse'":              "0 true, 0 judged, [s: rows_per_s cannot be judged: 1 of at least 3 trials]",
		"rows_per_s < 0.6 || rows_per_s < 1 && sure": "1 true, 1 judged, []",
		"rows_per_s < 0.45":                          "0 true, 1 judged, []",
	} {
		found := holds(t, condition, j)
		expect.Equal(t, fmt.Sprintf("%d true, %d judged, %v", len(found.True), found.Judged, found.Blind), want, condition)
	}
}

func TestGateSees(t *testing.T) {
	fresh := func() (a, b []*result.Trial) {
		for i := range 3 {
			a = append(a, made("a", i+1, "interleaved", numbers{"rows_per_s": 100 + float64(i), "stall_s": 0}, "s", "t"))
			b = append(b, made("b", i+1, "interleaved", numbers{"rows_per_s": 100 + float64(i), "stall_s": 0}, "s", "t"))
		}
		return a, b
	}
	for _, c := range []struct {
		name, condition string
		do              func(b []*result.Trial)
		found, blind    int
	}{
		{"all is well", "rows_per_s < 0.9", func([]*result.Trial) {}, 0, 0},
		{"a step is missing", "rows_per_s < 0.9", func(b []*result.Trial) {
			for _, t := range b {
				t.Steps = t.Steps[:1]
			}
		}, 0, 1},
		{"a promise is missed", "rows_per_s < 0.9", func(b []*result.Trial) {
			breaks(&b[0].Steps[1], result.Group{})
		}, 0, 1},
		{"out of nothing", "stall_s > 1", func(b []*result.Trial) {
			for i, t := range b {
				t.Steps[0].Rows[1].Value = 5 + float64(i)
			}
		}, 1, 0},
		{"the other half", "rows_per_s < 0.9 || new.stall_s > 3", func(b []*result.Trial) {
			for i, t := range b {
				t.Steps[0].Rows[1].Value = 5 + float64(i)
			}
		}, 1, 0},
		{"no bounds", "low.rows_per_s < 0.95", func(b []*result.Trial) {
			for _, t := range b[1:] {
				t.Status = result.Invalid
			}
		}, 2, 0},
	} {
		a, b := fresh()
		c.do(b)
		found := holds(t, c.condition, judged(t, append(a, b...)...))
		expect.Equal(t, len(found.True), c.found, c.name)
		expect.Equal(t, len(found.Blind), c.blind, c.name, found.Blind)
	}
	g := expect.Value(compare.NewGate("rows_per_s < 1 && step == 'laod'"))(t)
	a, b := fresh()
	expect.Error(t, g.Check(judged(t, append(a, b...)...)), `there is no step "laod"`, "error")
}

// Every denominator of a cost is judged.
func TestGateDenominators(t *testing.T) {
	var trials []*result.Trial
	for i := range 3 {
		for k, target := range []string{"a", "b"} {
			u := made(target, i+1, "interleaved", numbers{"server_cpu_us": 20}, "s")
			other := u.Steps[0].Rows[0]
			other.Per, other.Value = "query", 20*float64(1+k)
			u.Steps[0].Rows = append(u.Steps[0].Rows, other)
			trials = append(trials, u)
		}
	}
	found := holds(t, "server_cpu_us > 1.5", judged(t, trials...))
	expect.True(t, len(found.True) == 1 && found.Judged == 2, found)
}

func TestWrongGates(t *testing.T) {
	for condition, want := range map[string]string{
		"velocity < 1":             `there is no metric "velocity"; rumbench list metrics`,
		"rows_per_sec < 1":         "did you mean rows_per_s?",
		"ops_per_s":                "expected bool",
		"ops_per_s < 'a'":          "mismatched types",
		"ops_per_s <":              "unexpected token",
		"sure":                     "names no metric",
		"verdict.errors == 'bad'":  `"bad" is no verdict`,
		"low.nonsense < 1":         `there is no metric "nonsense"`,
		"shell('rm') || ops_per_s": "there is no metric",
	} {
		expect.Refused(compare.NewGate(condition))(t, want, condition)
	}
}

// A nickname is the response time where there is one, else the service time.
func TestGateNicknames(t *testing.T) {
	fresh := func() (trials []*result.Trial) {
		for i := range 3 {
			for k, target := range []string{"a", "b"} {
				u := made(target, i+1, "interleaved", numbers{"service_p99_us": 100}, "closed", "paced")
				paced := u.Steps[1].Rows[0]
				paced.Metric, paced.Value = "response_p99_us", 300*float64(1+k)
				u.Steps[1].Rows = append(u.Steps[1].Rows, paced)
				trials = append(trials, u)
			}
		}
		return trials
	}
	for condition, want := range map[string]int{"p99 > 1.5": 1, "p99 > 1.5 && step == 'closed'": 0, "new.p99 < 200": 1, "service_p99_us < 1.1 && p99 > 1.5": 1} {
		found := holds(t, condition, judged(t, fresh()...))
		expect.True(t, len(found.True) == want && found.Judged == 2, condition, found, want)
	}
}
