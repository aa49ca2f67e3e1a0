package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// numbers are a trial's values in one step.
type numbers map[string]float64

// made returns a trial with the same numbers in each of its steps.
func made(target string, n int, order string, v numbers, steps ...string) *result.Trial {
	t := &result.Trial{Target: target, Trial: n, Order: order, Workload: "w", Params: map[string]any{"rows": 5.0}, Status: result.Complete, Dir: fmt.Sprintf("c/trials/%s.%d", target, n)}
	for _, s := range steps {
		step := result.Step{Name: s, Status: result.Complete, Primary: "insert", WritesPer: "insert"}
		add := func(group, op, name, per string) {
			if value, ok := v[name]; ok {
				step.Rows = append(step.Rows, metric.Row{Target: target, Trial: n, Step: s, Group: group, Op: op, Metric: name, Value: value, Unit: metric.ByName(name).Unit, Per: per})
			}
		}
		add("insert", "insert", "rows_per_s", "")
		add("insert", "insert", "ops_per_s", "")
		add("insert", "insert", "service_p99_us", "")
		add("", "", "cpu_us", "insert row")
		add("", "", "server_cpu_us", "insert row")
		add("", "", "read_kb", "insert row")
		add("", "", "write_kb", "insert row")
		add("", "", "space_amplification", "")
		add("", "", "db_bytes", "")
		add("", "", "stall_s", "")
		add("", "", "live_rows", "")
		t.Steps = append(t.Steps, step)
	}
	return t
}

// series makes a trial per value of a metric.
func series(target, order, metric string, values ...float64) []*result.Trial {
	var out []*result.Trial
	for i, v := range values {
		out = append(out, made(target, i+1, order, numbers{metric: v}, "s"))
	}
	return out
}

// machine is where simulated trials run: it drifts, and every number is noisy.
type machine struct {
	rng   *rand.Rand
	noise float64 // standard deviation of the logarithm
	drift float64 // per trial
	slot  int
}

// trial simulates one; slower is the factor on the times it takes.
func (m *machine) trial(target string, n int, slower float64, steps ...string) *result.Trial {
	slowed := slower * math.Exp(m.drift*float64(m.slot))
	m.slot++
	t := made(target, n, "interleaved", numbers{}, steps...)
	for i := range t.Steps {
		about := func(v float64) float64 { return v * math.Exp(m.noise*m.rng.NormFloat64()) }
		one := made(target, n, "interleaved", numbers{
			"rows_per_s": about(1e5 / slowed), "service_p99_us": about(500 * slowed), "cpu_us": about(20 * slowed),
			"read_kb": about(1.5), "write_kb": about(4), "space_amplification": about(1.4),
		}, t.Steps[i].Name)
		t.Steps[i] = one.Steps[0]
	}
	return t
}

// abba runs blocks of two targets in turns, every second block backwards.
func (m *machine) abba(blocks int, slower float64, steps ...string) *compare.Campaign {
	var trials []*result.Trial
	for n := 1; n <= blocks; n++ {
		run := func(target string, factor float64) { trials = append(trials, m.trial(target, n, factor, steps...)) }
		if n%2 == 1 {
			run("a", 1)
			run("b", slower)
		} else {
			run("b", slower)
			run("a", 1)
		}
	}
	return compare.New(trials)
}
