package forecast_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

const source = `
workload: ibench
params: {rows: 1k, steps: [l.i0, settle, qr100], rates: [100], query_seconds: 7, settle_floor: 3s}
calibrate: false
targets: [pebble, bbolt]
`

func load(t *testing.T, text string, sets ...string) *plan.Plan {
	t.Helper()
	p := expect.Value(plan.Load("test.yaml", []byte(text), sets, catalog.Plugins{}))(t)
	return p
}

// began is when trials begin.
var began = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// ended is a trial that begins with a second of preparation, and whose steps take so
// many seconds.
func ended(target string, steps ...result.Step) *result.Trial {
	t := &result.Trial{Format: result.Format, Target: target, Trial: 1, Engine: target, Workload: "ibench", Status: result.Complete, Started: began}
	at := began.Add(time.Second)
	for _, s := range steps {
		s.Started, s.Status = at, result.Complete
		at = at.Add(time.Duration(s.Seconds * float64(time.Second)))
		t.Steps = append(t.Steps, s)
	}
	t.Ended = &at
	return t
}

func ibench(target string, load, settle, query float64) *result.Trial {
	return ended(target, result.Step{Name: "l.i0", Seconds: load}, result.Step{Name: "settle", Seconds: settle}, result.Step{Name: "qr100", Seconds: query})
}

// store writes a campaign.
func store(t *testing.T, folder, name string, day int, params map[string]string, trials ...*result.Trial) {
	t.Helper()
	dir := filepath.Join(folder, name)
	c := &result.Campaign{Format: result.Format, Name: name, Started: began.AddDate(0, 0, day), Params: params}
	for _, tr := range trials {
		e := result.Entry{Dir: tr.Target + ".1", Target: tr.Target, Trial: 1, Status: tr.Status}
		c.Trials = append(c.Trials, e)
		expect.NoError(t, os.MkdirAll(result.TrialPath(dir, e.Dir), 0o755))
		expect.NoError(t, result.WriteJSON(filepath.Join(result.TrialPath(dir, e.Dir), result.TrialFile), tr))
	}
	expect.NoError(t, result.WriteJSON(filepath.Join(dir, result.CampaignFile), c))
}

func entries(n int) (out []result.Entry) {
	for i := range n {
		out = append(out, result.Entry{Target: "pebble", Trial: i + 1}, result.Entry{Target: "bbolt", Trial: i + 1})
	}
	return out
}

// Parameters fix the length of some steps; the others are unknown, not 0.
func TestFromParameters(t *testing.T) {
	f := forecast.New(load(t, source), nil)
	tr := f.Trial("pebble", 1)
	want := []forecast.Span{forecast.AtLeast(0), forecast.Exactly(3 * time.Second), forecast.Exactly(7 * time.Second)}
	for i, w := range want {
		expect.Equal(t, tr.Parts[i].Length, w, tr.Parts[i].Name)
	}
	expect.Equal(t, f.Campaign(entries(2)), forecast.AtLeast(40*time.Second), "the campaign")
	expect.Equal(t, tr.Left(1, 2*time.Second), forecast.Exactly(8*time.Second), "left in the second step")
}

// A search has any number of probes up to the greatest.
func TestSearch(t *testing.T) {
	p := load(t, `
workload: sysbench
preset: quick
params: {tests: [oltp_point_select], tables: 1, table_size: 1000, clients: [2], read_seconds: 30, warmup_seconds: 0, settle_floor: 1s}
targets: [sqlite]
find: {promise: p99_ms < 5, to: 4000, precision: 50%, seconds: 10}
`)
	tr := forecast.New(p, nil).Trial("sqlite", 1)
	var searched forecast.Part
	for _, part := range tr.Parts {
		if part.Probes > 0 {
			searched = part
		}
	}
	const held = 40 * time.Second                                                    // four probes
	limit := 30*time.Second + time.Duration(searched.Probes)*12*time.Second + 2*held // with the lead-in
	expect.True(t, searched.Probes != 0 && searched.Length == (forecast.Span{Least: 30*time.Second + held, Most: limit}),
		searched)
	if n := tr.Part(searched.Name + "@250"); n < 0 || tr.Parts[n].Name != searched.Name || tr.Part("other@250") >= 0 {
		t.Errorf("a probe belongs to part %d", n)
	}
}

// What took how long in an earlier run of the plan is expected again, with what was
// done between the steps; this campaign's own trials count for more.
func TestFromEarlierRun(t *testing.T) {
	folder := t.TempDir()
	p := load(t, source)
	same := p.ParamTexts()
	other := load(t, source, "params.rows=2k").ParamTexts()
	store(t, folder, "first", 0, same, ibench("pebble", 100, 3, 7), ibench("bbolt", 200, 3, 7))
	store(t, folder, "second", 1, same, ibench("pebble", 10, 4, 8), ibench("bbolt", 20, 4, 8))
	store(t, folder, "larger", 2, other, ibench("pebble", 1000, 3, 7), ibench("bbolt", 1000, 3, 7))
	store(t, folder, "half", 3, same, ibench("pebble", 12, 3, 7))
	failed := ibench("pebble", 1, 3, 7)
	failed.Status = result.Failed
	store(t, folder, "failed", 4, same, failed)
	foreign := ibench("pebble", 1, 3, 7)
	foreign.Engine = "memory"
	store(t, folder, "foreign", 5, same, foreign)
	store(t, folder, "steps", 6, same, ended("pebble", result.Step{Name: "l.i0"}, result.Step{Name: "another"}))

	earlier := forecast.Find(p, folder, filepath.Join(folder, "nowhere"))
	expect.Must(t, earlier != nil && earlier.Dir == filepath.Join(folder, "second") && earlier.Has("bbolt") && !earlier.Has("sqlite"), earlier)
	f := forecast.New(p, earlier)
	expect.Equal(t, f.Campaign(entries(1)), forecast.Exactly(56*time.Second), "the campaign")
	expect.Equal(t, f.Trial("pebble", 1).Left(-1, 500*time.Millisecond), forecast.Exactly(22500*time.Millisecond),
		"left before the first step")
	f.Add(ibench("bbolt", 50, 4, 8))
	f.Add(ibench("bbolt", 52, 4, 8))
	f.Add(failed)
	expect.Equal(t, f.Campaign(entries(1)), forecast.Exactly(87*time.Second), "with its own trials")
	if one := load(t, source, "targets=[bbolt, sqlite]"); forecast.New(one, forecast.Find(one, folder)).Trial("sqlite", 1).Length().Bounded() {
		t.Error("a target without an earlier trial is known")
	}
}

// The trials of a duet run at the same time, pauses count, and a campaign that may
// end early has no least.
func TestCampaign(t *testing.T) {
	for name, c := range map[string]struct {
		set  string
		want forecast.Span
	}{
		"one after the other":       {"trials=2", forecast.Exactly(2 * 65 * time.Second)},
		"at the same time":          {"order=duet", forecast.Exactly(2 * 43 * time.Second)},
		"with pauses":               {"cool_down=10s", forecast.Exactly(2*65*time.Second + 3*10*time.Second)},
		"with trims, the first too": {"between={trim: true, rest: 10s}", forecast.Exactly(2*65*time.Second + 4*10*time.Second)},
		"until precise":             {"stop={precision: 2%, min_trials: 2}", forecast.Span{Least: 2 * 65 * time.Second, Most: 3 * 65 * time.Second}},
		"a budget":                  {"stop={budget: 90s}", forecast.Exactly(90 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			f := forecast.New(load(t, source, "trials=2", c.set), nil)
			f.Add(ibench("pebble", 10, 3, 8))
			f.Add(ibench("bbolt", 30, 4, 8))
			n := 2
			if name == "until precise" {
				n = 3
			}
			expect.Equal(t, f.Campaign(entries(n)), c.want)
		})
	}
}

func TestSpan(t *testing.T) {
	for want, s := range map[string]forecast.Span{
		"about 23 min":      forecast.Exactly(23*time.Minute + 10*time.Second),
		"about 2 min 30 s":  forecast.Exactly(150 * time.Second),
		"12 min to 40 min":  {Least: 12 * time.Minute, Most: 40 * time.Minute},
		"at most 1 h 5 min": {Least: time.Minute, Most: 65 * time.Minute},
		"at least 12 min":   forecast.AtLeast(12 * time.Minute),
		"an unknown time":   forecast.AtLeast(0),
	} {
		expect.Equal(t, s.String(), want)
	}
	sum := forecast.Exactly(time.Hour).Plus(forecast.AtLeast(time.Minute))
	expect.True(t, !sum.Bounded() && !sum.Minus(2*time.Hour).Bounded() && !sum.Plus(sum).Bounded() && sum.Least == 61*time.Minute, sum)
}

// A probe belongs to the step with the longest name: names may have an @ themselves.
func TestPart(t *testing.T) {
	tr := forecast.Trial{Parts: []forecast.Part{{Name: "q", Probes: 3}, {Name: "q@4c", Probes: 3}, {Name: "w"}}}
	for step, want := range map[string]int{"q": 0, "q@100": 0, "q@4c": 1, "q@4c@100": 1, "w": 2, "w@100": -1, "x": -1} {
		expect.Equal(t, tr.Part(step), want, "belongs to part", step)
	}
}

// Trials that begin with a copy take no time to load, whether that is known from this campaign or not.
func TestCopies(t *testing.T) {
	text := strings.Replace(source, "calibrate", "start: {copy: l.i0, loads: 1}\ntrials: 3\ncalibrate", 1)
	f := forecast.New(load(t, text), nil)
	for number, want := range map[int]forecast.Span{1: forecast.AtLeast(10 * time.Second), 2: forecast.Exactly(10 * time.Second)} {
		expect.Equal(t, f.Trial("pebble", number).Length(), want, "trial", number)
	}
	start := result.Start{Copy: "l.i0", Load: 1, Loads: 1}
	first, second := ibench("pebble", 100, 3, 7), ended("pebble", result.Step{Name: "settle", Seconds: 5}, result.Step{Name: "qr100", Seconds: 9})
	first.Start, second.Start = &start, &start
	f.Add(first)
	f.Add(second)
	if got := f.Trial("pebble", 3); got.Parts[0].Length != forecast.Exactly(0) || got.Parts[1].Length != forecast.Exactly(4*time.Second) {
		t.Errorf("the third trial: %+v", got.Parts)
	}
	// The target that has not run loads first.
	expect.Equal(t, f.Trial("bbolt", 1).Length(), forecast.AtLeast(10*time.Second), "another target")
}
