// Package historytest makes up stores of campaigns, to test the code that reads them.
package historytest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// Start is the start of the first campaign of a made-up store; the others follow a
// day apart.
var Start = time.Date(2026, 10, 1, 2, 0, 0, 0, time.UTC)

// Store is a folder with made-up campaigns.
type Store struct {
	*testing.T
	Dir string
}

// New returns an empty store.
func New(t *testing.T) *Store { return &Store{t, t.TempDir()} }

// Night is the campaign number i of a plan that runs every night. Passing change
// makes it a different campaign.
func Night(i int, change ...func(*result.Campaign, []*result.Trial)) (*result.Campaign, []*result.Trial) {
	c := &result.Campaign{Format: result.Format, Name: "nightly", Command: []string{"rumbench", "run"},
		Started: Start.AddDate(0, 0, i)}
	var trials []*result.Trial
	for n := 1; n <= 3; n++ {
		c.Trials = append(c.Trials, result.Entry{Dir: fmt.Sprintf("db.%d", n), Target: "db", Trial: n,
			Status: result.Complete})
		trials = append(trials, NightTrial(c, i, n))
	}
	for _, f := range change {
		f(c, trials)
	}
	return c, trials
}

// Wobble is noise in −1 … 1, the same for the same run.
func Wobble(i int) float64 { return float64((i*37+11)%19)/9 - 1 }

// NightTrial is trial n of night i.
func NightTrial(c *result.Campaign, i, n int) *result.Trial {
	t := &result.Trial{
		Format: result.Format, Campaign: c.Name, Target: "db", Trial: n, Engine: "pebble", Structure: "LSM tree",
		Workload:   "ibench",
		Params:     map[string]any{"rows": 2e6, "rates": []any{100.0}},
		Knobs:      map[string]string{"durability": "os", "cache": "1GiB"},
		Durability: "os", Seed: 1, Interval: 1, Status: result.Complete,
		Started: c.Started.Add(time.Duration(n) * time.Minute),
		Versions: []observe.Fact{{Name: "rumbench", Value: "0.3.0"}, {Name: "go", Value: "go1.26.8"},
			{Name: "pebble", Value: "v2.1.7"}},
		Settings: []engine.Setting{
			{Name: "cache", Value: "1073741824", Source: engine.ReadBack},
			{Name: "dir", Value: fmt.Sprintf("/srv/%d", i), Source: engine.ReadBack},
		},
		Host: []observe.Fact{{Name: "hostname", Value: "vm"}, {Name: "kernel", Value: "6.1.0-25"},
			{Name: "load average", Value: fmt.Sprintf("0.%02d", i)},
			{Name: "cpu", Value: "AMD EPYC"}, {Name: "cpus online", Value: "2"}, {Name: "memory", Value: "23.54 GiB"},
			{Name: "filesystem", Value: "ext4"}, {Name: "device", Value: "vda"}},
	}
	insert := result.Step{
		Name: "l.i1", Status: result.Complete, Started: t.Started, Seconds: 60, Primary: "insert", WritesPer: "insert",
		Groups: []result.Group{{Name: "insert", Clients: 1, Ops: []string{"insert"}}},
	}
	add := func(s *result.Step, group, op, name string, value float64, per, source string) {
		s.Rows = append(s.Rows, metric.Row{Target: t.Target, Trial: n, Step: s.Name, Group: group, Op: op, Metric: name,
			Value: value, Unit: metric.ByName(name).Unit, Per: per, N: 60_000, Source: source})
	}
	w := 1 + 0.01*Wobble(i*3+n)
	add(&insert, "insert", "", "errors", 0, "", "")
	add(&insert, "insert", "insert", metric.RowsPerS, 61200*w, "", "")
	add(&insert, "insert", "insert", metric.ServiceP50US, 800/w, "", "")
	add(&insert, "insert", "insert", metric.ServiceP99US, 2100/w, "", "")
	add(&insert, "insert", "", metric.StallS, 0, "", "")
	add(&insert, "", "", metric.CPUUS, 14.1/w, "insert row", "process")
	add(&insert, "", "", metric.ReadKB, 0.01, "insert row", "device vda")
	add(&insert, "", "", metric.WriteKB, 0.82*w, "insert row", "device vda")
	add(&insert, "", "", metric.SpaceAmplification, 1.87039744, "", "data directory")
	settle := result.Step{Name: "settle", Status: result.Complete, Started: t.Started.Add(time.Minute), Seconds: 1}
	add(&settle, "", "", metric.SpaceAmplification, 1.5, "", "data directory")
	t.Steps = []result.Step{insert, settle}
	return t
}

// Scale multiplies a metric of all trials.
func Scale(metric string, by float64) func(*result.Campaign, []*result.Trial) {
	return func(_ *result.Campaign, trials []*result.Trial) {
		for _, t := range trials {
			for i := range t.Steps {
				for k := range t.Steps[i].Rows {
					if r := &t.Steps[i].Rows[k]; r.Metric == metric {
						r.Value *= by
					}
				}
			}
		}
	}
}

// Each changes every trial.
func Each(f func(*result.Trial)) func(*result.Campaign, []*result.Trial) {
	return func(_ *result.Campaign, trials []*result.Trial) {
		for _, t := range trials {
			f(t)
		}
	}
}

// Offer has the insert step offered at a rate, and searched for the highest rate that
// keeps a limit of p99.
func Offer(rate, limit float64) func(*result.Campaign, []*result.Trial) {
	return Each(func(t *result.Trial) {
		step := &t.Steps[0]
		step.Groups[0] = result.Group{Name: "insert", Clients: 1, Open: true, Rate: rate, Pace: "poisson", Queue: 100,
			Ops: []string{"insert"}}
		step.Search = &result.Search{Promise: fmt.Sprintf("p99_ms < %g", limit), Kept: rate}
		step.Rows = append(step.Rows, metric.Row{Target: t.Target, Trial: t.Trial, Step: step.Name, Group: "insert",
			Metric: metric.HighestRate, Value: rate, Unit: "1/s"})
	})
}

// Add writes a campaign; a nil trial is one that was not begun.
func (s *Store) Add(dir string, c *result.Campaign, trials []*result.Trial) {
	s.Helper()
	s.write(filepath.Join(dir, result.CampaignFile), c)
	for i, t := range trials {
		if t != nil {
			s.write(filepath.Join(dir, result.TrialsDir, c.Trials[i].Dir, result.TrialFile), t)
		}
	}
}

// Nights adds campaigns from number start up to, but not including, number end.
func (s *Store) Nights(start, end int, change ...func(*result.Campaign, []*result.Trial)) {
	s.Helper()
	for i := start; i < end; i++ {
		c, trials := Night(i, change...)
		s.Add(fmt.Sprintf("night-%02d", i), c, trials)
	}
}

// Path returns the path of a file in the store.
func (s *Store) Path(name string) string { return filepath.Join(s.Dir, name) }

func (s *Store) write(name string, v any) {
	s.Helper()
	s.Mkdir(filepath.Dir(name))
	if err := result.WriteJSON(s.Path(name), v); err != nil {
		s.Fatal(err)
	}
}

// Text writes a file with its folder.
func (s *Store) Text(name, content string) {
	s.Helper()
	s.Mkdir(filepath.Dir(name))
	if err := os.WriteFile(s.Path(name), []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
}

// Mkdir makes a folder.
func (s *Store) Mkdir(name string) {
	s.Helper()
	if err := os.MkdirAll(s.Path(name), 0o755); err != nil {
		s.Fatal(err)
	}
}

// BreakPromise has the first group of a trial break its promise.
func BreakPromise(t *result.Trial) {
	s := &t.Steps[0]
	for name, value := range map[string]float64{metric.SLATarget: 10, metric.SLAAchieved: 5, metric.SLAMet: 0} {
		s.Rows = append(s.Rows, metric.Row{Target: t.Target, Trial: t.Trial, Step: s.Name, Group: s.Groups[0].Name,
			Metric: name, Value: value})
	}
}
