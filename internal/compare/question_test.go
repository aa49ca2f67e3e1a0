package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// sides makes trials of two targets with a number in each of the steps.
func sides(name string, base, list []float64, steps ...string) *compare.Campaign {
	var trials []*result.Trial
	for target, values := range map[string][]float64{"a": base, "b": list} {
		for i, v := range values {
			trials = append(trials, made(target, i+1, "interleaved", numbers{name: v}, steps...))
		}
	}
	slices.SortStableFunc(trials, func(x, y *result.Trial) int { return int(x.Target[0]) - int(y.Target[0]) })
	return compare.New(trials)
}

func effectOf(j *compare.Judgement, step, name string) *compare.Item {
	for i := range j.Items {
		if it := &j.Items[i]; it.Step.Name == step && it.Metric() == name {
			return it
		}
	}
	return nil
}

// The correction is for what is asked, and for no more.
func TestQuestionNarrowsTheCorrection(t *testing.T) {
	base, list := []float64{100, 103, 98, 101}, []float64{94, 96, 91, 98}
	for _, c := range []struct {
		name     string
		question result.Question
		asked    float64
	}{
		{"all", result.Question{}, 4},
		{"two steps", result.Question{Steps: []string{"q1", "q2"}}, 2},
		{"one step", result.Question{Steps: []string{"q1"}, Metrics: []string{"rows_per_s"}}, 1},
	} {
		all := sides("rows_per_s", base, list, "q1", "q2", "q3", "q4")
		all.Question = c.question
		j := all.Judge(all.Targets[0], all.Targets[1])
		it := effectOf(j, "q1", "rows_per_s")
		expect.True(t, it.Asked && math.Abs(it.Adjusted-min(1, c.asked*it.P)) <= 1e-12,
			c.name, "asked", it.Asked, "p", it.P, "adjusted", it.Adjusted)
		other := effectOf(j, "q4", "rows_per_s")
		expect.True(t, other.Asked == (c.asked == 4) && other.Headline, c.name, other)
	}
}

func TestWorkloadAsks(t *testing.T) {
	trials := append(series("a", "interleaved", "rows_per_s", 1, 2, 3), series("b", "interleaved", "rows_per_s", 1, 2, 3)...)
	for _, trial := range trials {
		more := made(trial.Target, trial.Trial, trial.Order, numbers{"rows_per_s": 5, "write_kb": 3, "cpu_us": 2}, "main", "settle")
		more.Steps[0].Judged = []string{"rows_per_s", "write_kb"}
		trial.Steps = append(trial.Steps, more.Steps...)
	}
	asked := func(q result.Question) (out []string) {
		c := compare.New(trials)
		c.Question = q
		for _, it := range c.Judge(c.Targets[0], c.Targets[1]).Items {
			if it.Asked {
				out = append(out, it.Step.Name+" "+it.Metric())
			}
		}
		return out
	}
	for _, c := range []struct {
		name     string
		question result.Question
		want     []string
	}{
		{"what the workload is about", result.Question{}, []string{"main rows_per_s", "main write_kb"}},
		{"a metric of the step that it is about", result.Question{Metrics: []string{"cpu_us"}}, []string{"main cpu_us"}},
		{"a step that it is not about", result.Question{Steps: []string{"s"}}, []string{"s rows_per_s"}},
		{"both", result.Question{Steps: []string{"settle"}, Metrics: []string{"cpu_us"}}, []string{"settle cpu_us"}},
	} {
		expect.List(t, asked(c.question), c.want, c.name)
	}
}

// Only what matters is worse, and only what is excluded is equivalent.
func TestWhatMatters(t *testing.T) {
	steady := []float64{100, 100.2, 99.8, 100.1, 99.9, 100}
	for _, c := range []struct {
		name     string
		metric   string
		list     []float64
		question result.Question
		verdict  compare.Verdict
		excluded bool // that it is worse by 5 %
	}{
		{"3 % slower, any difference matters", "rows_per_s", []float64{97, 97.2, 96.8, 97.1, 96.9, 97}, result.Question{}, compare.Worse, true},
		{"3 % slower, 5 % matters", "rows_per_s", []float64{97, 97.2, 96.8, 97.1, 96.9, 97}, result.Question{WorseBy: 0.05}, compare.Same, true},
		{"10 % slower, 5 % matters", "rows_per_s", []float64{90, 90.2, 89.8, 90.1, 89.9, 90}, result.Question{WorseBy: 0.05}, compare.Worse, false},
		{"4 % slower, noisy", "rows_per_s", []float64{94, 97.5, 95, 97, 96.5, 95.9}, result.Question{WorseBy: 0.05}, compare.Unclear, false},
		{"10 % faster, 20 % matters", "rows_per_s", []float64{110, 110.2, 109.8, 110.1, 109.9, 110}, result.Question{BetterBy: 0.2}, compare.Same, true},
		{"3 % faster, 5 % slower matters", "rows_per_s", []float64{103, 103.2, 102.8, 103.1, 102.9, 103}, result.Question{WorseBy: 0.05}, compare.Better, true},
		{"10 % dearer, 5 % matters", "cpu_us", []float64{110, 110.2, 109.8, 110.1, 109.9, 110}, result.Question{WorseBy: 0.05}, compare.Worse, false},
		{"10 % cheaper, 5 % matters", "cpu_us", []float64{90, 90.2, 89.8, 90.1, 89.9, 90}, result.Question{WorseBy: 0.05}, compare.Better, true},
	} {
		c.question.Metrics, c.question.Steps = []string{c.metric}, []string{"s"}
		all := sides(c.metric, steady, c.list, "s")
		all.Question = c.question
		it := effectOf(all.Judge(all.Targets[0], all.Targets[1]), "s", c.metric)
		expect.Equal(t, it.Verdict, c.verdict, "excluded, ( to", c.name, it.Why, it.Ratio, it.Low, it.High)
		expect.Equal(t, it.Excluded(0.05), c.excluded, "excluded, ( to", c.name, it.Why, it.Ratio, it.Low, it.High)
	}
}

func TestOutcome(t *testing.T) {
	base := []float64{100, 101, 99, 100}
	for _, c := range []struct {
		name                       string
		list                       []float64
		worse, open, blind, judged int
	}{
		{"slower", []float64{80, 81, 79, 80}, 1, 0, 0, 1},
		{"as fast", []float64{100, 101, 99.1, 100}, 0, 0, 0, 1},
		{"noisy", []float64{80, 120, 95, 105}, 0, 1, 0, 1},
		{"too few", []float64{80, 81}, 0, 0, 1, 0},
		{"none", nil, 0, 0, 1, 0},
		{"none of the base", nil, 0, 0, 1, 0},
	} {
		all := sides("rows_per_s", base, c.list, "s")
		if c.list == nil {
			all = compare.New(append(series("a", "interleaved", "rows_per_s", base...), made("b", 1, "interleaved", numbers{}, "s")))
		}
		if c.name == "none of the base" {
			all = compare.New(append([]*result.Trial{made("a", 1, "interleaved", numbers{}, "s")}, series("b", "interleaved", "rows_per_s", base...)...))
		}
		all.Question.WorseBy = 0.05
		o := all.Judge(all.Target("a"), all.Target("b")).Outcome()
		expect.Equal(t, len(o.Weak), c.open, c.name, "would not have been seen")
		expect.True(t, len(o.Worse) == c.worse && len(o.Open) == c.open && len(o.Blind) == c.blind && o.Judged == c.judged, c.name, len(o.Worse), len(o.Open), len(o.Blind), o.Judged)
	}
}

// What is proven to be better is no regression, though it has no interval; and a rate cannot fall as far as a cost rises.
func TestNoRegression(t *testing.T) {
	for _, c := range []struct {
		metric     string
		base, list []float64
		matters    float64
		weak       int
	}{
		{"read_kb", []float64{500, 510, 490, 505}, []float64{0, 0, 0, 0}, 0.1, 0},
		{"rows_per_s", []float64{100, 135, 78, 112}, []float64{70, 75, 90, 62}, 0.5, 0},
		{"rows_per_s", []float64{100, 135, 78, 112}, []float64{70, 75, 90, 62}, 0.45, 1},
	} {
		all := sides(c.metric, c.base, c.list, "s")
		all.Question = result.Question{Steps: []string{"s"}, Metrics: []string{c.metric}, WorseBy: c.matters}
		j := all.Judge(all.Targets[0], all.Targets[1])
		expect.Equal(t, len(j.Outcome().Weak), c.weak, c.metric, c.matters, effectOf(j, "s", c.metric).Detectable())
	}
}

// Where other programs used the device, what the engine's own processes wrote is
// compared.
func TestDisturbedDevice(t *testing.T) {
	all := sides("write_kb", []float64{4, 4.1, 3.9}, []float64{8, 8.1, 7.9}, "s")
	for _, target := range all.Targets {
		for _, trial := range target.Trials {
			rows := &trial.Steps[0].Rows
			own := (*rows)[0]
			own.Metric, own.Value = "process_write_kb", own.Value/2
			(*rows)[0].Disturbed = trial.Trial == 2
			*rows = append(*rows, own)
		}
	}
	all.Question = result.Question{Steps: []string{"s"}, Metrics: []string{"write_kb"}}
	it := effectOf(all.Judge(all.Targets[0], all.Targets[1]), "s", "write_kb")
	expect.True(t, it.Verdict == compare.Worse && it.For == "write_kb" && it.New.Metric == "process_write_kb" &&
		it.New.Value == 4 && it.Asked, it)
}

// Processes that say that they wrote more than the device did are not believed.
func TestImpossibleWrites(t *testing.T) {
	all := sides("write_kb", []float64{4, 4.1, 3.9}, []float64{8, 8.1, 7.9}, "s")
	for _, target := range all.Targets {
		for _, trial := range target.Trials {
			rows := &trial.Steps[0].Rows
			own := (*rows)[0]
			own.Metric, own.Value = "process_write_kb", own.Value*20
			(*rows)[0].Disturbed = true
			*rows = append(*rows, own)
		}
	}
	it := effectOf(all.Judge(all.Targets[0], all.Targets[1]), "s", "write_kb")
	expect.Equal(t, it.Verdict, "", it)
	expect.Equal(t, it.For, "", it)
}

// A difference of what any program reads or writes proves nothing; that of much from
// little does.
func TestLittleIO(t *testing.T) {
	for _, c := range []struct {
		n    int64
		with []float64
		want compare.Verdict
	}{
		{1000, []float64{0.060, 0.061, 0.059}, compare.Unclear}, // 60 KB in all
		{10_000, []float64{0.060, 0.061, 0.059}, compare.Worse},
		{1000, []float64{6.0, 6.1, 5.9}, compare.Worse},
		{1000, []float64{0.020, 0.021, 0.0195}, compare.Same},
	} {
		all := sides("read_kb", []float64{0.020, 0.021, 0.0195}, c.with, "s")
		for _, target := range all.Targets {
			for _, trial := range target.Trials {
				for i := range trial.Steps[0].Rows {
					trial.Steps[0].Rows[i].N = c.n
				}
			}
		}
		all.Question = result.Question{Steps: []string{"s"}, Metrics: []string{"read_kb"}, Within: 0.1}
		it := effectOf(all.Judge(all.Targets[0], all.Targets[1]), "s", "read_kb")
		expect.True(t, it.Verdict == c.want && (it.Verdict == compare.Unclear) == strings.Contains(it.Why, "128 KB in all"), c.with, c.n, it.Verdict, it.Why)
	}
}

// Imported logs on one side do not change what is asked.
func TestImportedBase(t *testing.T) {
	trials := append(series("a", "", "rows_per_s", 1, 2, 3), series("b", "", "rows_per_s", 1, 2, 3)...)
	for _, trial := range trials[3:] {
		trial.Steps[0].Judged = []string{"rows_per_s"}
	}
	c := compare.New(trials)
	got := c.Steps[0].Asked()
	expect.True(t, len(got) == 1 && got[0].Metric == "rows_per_s", got)
}

func TestNothingIsPrecise(t *testing.T) {
	trials := append(series("a", "interleaved", "read_kb", 0, 0, 0), series("b", "interleaved", "read_kb", 0, 0, 0)...)
	for _, trial := range trials {
		trial.Asked = result.Question{Steps: []string{"s"}, Metrics: []string{"read_kb"}}
	}
	enough, worst, _ := compare.Precise(trials, 0.02)
	expect.True(t, enough && worst == 0, "zeros are precise to", worst)
	c := compare.New(trials)
	it := effectOf(c.Judge(c.Targets[0], c.Targets[1]), "s", "read_kb")
	expect.Equal(t, it.Verdict, compare.Same, "excluded")
	expect.True(t, it.Excluded(0.05), "excluded")
}

func TestPlansAskDifferently(t *testing.T) {
	trials := append(series("a", "", "rows_per_s", 1, 2, 3), series("b", "", "rows_per_s", 1, 2, 3)...)
	for i, trial := range trials {
		trial.Asked.WorseBy = 0.05
		if i >= 3 {
			trial.Asked.WorseBy = 0.10
		}
	}
	c := compare.New(trials)
	expect.True(t, c.Conflict, c.Question)
	expect.Equal(t, c.Question.WorseBy, 0.10, c.Question)
}
