package verdict_test

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/report/verdict"
	"rumbench/internal/result"
)

// did is what a target did in a step: its rate, its p99 from n operations, its p50 and its CPU time.
type did struct {
	step           string
	rate, p99, p50 float64
	n              int64
	cpu            float64
}

// storyOf returns the story of targets with the same noise in each trial.
func storyOf(trials int, targets map[string][]did, names ...string) (verdict.Story, *compare.Campaign) {
	var list []*result.Trial
	for trial := range trials {
		for _, name := range names {
			t := &result.Trial{Target: name, Trial: trial + 1, Order: "interleaved", Status: result.Complete}
			for _, d := range targets[name] {
				t.Steps = append(t.Steps, d.did(name, 1+0.01*math.Sin(float64(trial*5+len(name)*3))))
			}
			list = append(list, t)
		}
	}
	c := compare.New(list)
	about := verdict.Campaign{Campaign: c, Judged: c.Judge}
	return about.Story(), c
}

func (d did) did(target string, noise float64) result.Step {
	s := result.Step{Name: d.step, Status: result.Complete, Seconds: 10, Primary: "insert", WritesPer: "insert",
		Groups: []result.Group{{Name: "writers", Ops: []string{"insert"}, Clients: 1}}}
	if d.step == "work" {
		s.Judged = []string{metric.RowsPerS, metric.CPUUS}
	}
	add := func(group, op, name string, v float64, unit, per string, n int64) {
		s.Rows = append(s.Rows, metric.Row{Target: target, Step: d.step, Group: group, Op: op, Metric: name, Value: v, Unit: unit,
			Per: per, N: n})
	}
	add("", "insert", metric.RowsPerS, d.rate*noise, "1/s", "", d.n)
	add("writers", "insert", metric.ServiceP99US, d.p99*noise, "µs", "", d.n)
	add("writers", "insert", metric.ServiceP50US, d.p50*noise, "µs", "", d.n)
	add("writers", "insert", metric.ServiceMaxUS, 3*d.p99, "µs", "", d.n)
	add("", "", metric.CPUUS, d.cpu/noise, "µs", "insert row", 1e6)
	add("writers", "", metric.IntervalOpsError, 0.03, "ratio", "", 10)
	return s
}

// What the winner loses comes before what else it wins, after the test that the question is about;
// then latency and costs as values.
func TestStoryOrder(t *testing.T) {
	s, c := storyOf(4, map[string][]did{
		"old": {{"load", 1000, 900, 90, 5000, 10}, {"work", 100, 1000, 100, 5000, 20}, {"other", 10, 1, 1, 5000, 3}},
		"new": {{"load", 740, 900, 90, 5000, 10}, {"work", 300, 2000, 300, 5000, 12}, {"other", 20, 1, 1, 5000, 3}},
	}, "old", "new")
	want := []string{
		"new inserted 301 rows/s in work: proven 3.00× old’s (2.95 to 3.05).",
		"Proven in work: p99 of insert service time 2.00× (1.97 to 2.03) against old and CPU µs per insert row 0.600× (",
		"new against old: slower in load (0.740×); faster in other (2.00×).",
		"With 4 trials each, differences in the throughput of work below ",
	}
	got := s.Sentences()
	expect.Must(t, len(got) == len(want), got)
	for i := range want {
		expect.True(t, strings.HasPrefix(got[i], want[i]), got[i], want[i])
	}
	k, _ := c.Step("work").Rate("insert")
	detectable := c.Judge(c.Targets[0], c.Targets[1]).Effect(c.Step("work"), k).Detectable()
	expect.Contains(t, got[3], verdict.DetectableText(detectable), "but the trials detect")
}

// Of one trial it says what was seen, and how much that varied within the run, and no word of
// proof.
func TestStoryOfOneTrial(t *testing.T) {
	s, _ := storyOf(1, map[string][]did{
		"a": {{"work", 400, 1000, 100, 500, 20}, {"load", 10, 1, 1, 5000, 3}}, "b": {{"work", 100, 900, 90, 500, 25}, {"load", 20, 1, 1, 5000, 3}},
		"c": {{"work", 50, 900, 90, 500, 25}, {"load", 5, 1, 1, 5000, 3}},
	}, "a", "b", "c")
	text := strings.Join(s.Sentences(), "\n")
	expect.All(t, text, "a inserted 401 rows/s in work: 4.00× b’s and 8.00× c’s (one trial each; within the run ±4.2 %).",
		"a against b: seems slower in load (0.500×).", "a against c: seems faster in load (2.00×).")
	expect.Lacks(t, text, "prove")
	expect.Lacks(t, text, "chance")
}
