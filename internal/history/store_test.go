package history

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

// start is when the first campaign of a made-up store began; the others follow
// a day apart.
var start = time.Date(2026, 10, 1, 2, 0, 0, 0, time.UTC)

// store is a folder with made-up campaigns.
type store struct {
	*testing.T
	dir string
}

func newStore(t *testing.T) *store { return &store{t, t.TempDir()} }

// night is the campaign number i of a plan that runs every night. The change of
// it makes it another one.
func night(i int, change ...func(*result.Campaign, []*result.Trial)) (*result.Campaign, []*result.Trial) {
	c := &result.Campaign{Format: result.Format, Name: "nightly", Command: []string{"rumbench", "run"}, Started: start.AddDate(0, 0, i)}
	var trials []*result.Trial
	for n := 1; n <= 3; n++ {
		c.Trials = append(c.Trials, result.Entry{Dir: fmt.Sprintf("db.%d", n), Target: "db", Trial: n, Status: result.Complete})
		trials = append(trials, nightTrial(c, i, n))
	}
	for _, f := range change {
		f(c, trials)
	}
	return c, trials
}

// wobble is noise in −1 … 1, the same for the same run.
func wobble(i int) float64 { return float64((i*37+11)%19)/9 - 1 }

func nightTrial(c *result.Campaign, i, n int) *result.Trial {
	t := &result.Trial{
		Format: result.Format, Campaign: c.Name, Target: "db", Trial: n, Engine: "pebble", Structure: "LSM tree", Workload: "ibench",
		Params: map[string]any{"rows": 2e6, "rates": []any{100.0}}, Knobs: map[string]string{"durability": "os", "cache": "1GiB"},
		Durability: "os", Seed: 1, Interval: 1, Status: result.Complete, Started: c.Started.Add(time.Duration(n) * time.Minute),
		Versions: []observe.Fact{{Name: "rumbench", Value: "0.3.0"}, {Name: "go", Value: "go1.26.8"}, {Name: "pebble", Value: "v2.1.7"}},
		Settings: []engine.Setting{{Name: "cache", Value: "1073741824", Source: engine.ReadBack}, {Name: "dir", Value: fmt.Sprintf("/srv/%d", i), Source: engine.ReadBack}},
		Host: []observe.Fact{{Name: "hostname", Value: "vm"}, {Name: "kernel", Value: "6.1.0-25"}, {Name: "load average", Value: fmt.Sprintf("0.%02d", i)},
			{Name: "cpu", Value: "AMD EPYC"}, {Name: "cpus online", Value: "2"}, {Name: "memory", Value: "23.54 GiB"}, {Name: "filesystem", Value: "ext4"}, {Name: "device", Value: "vda"}},
	}
	insert := result.Step{
		Name: "l.i1", Status: result.Complete, Started: t.Started, Seconds: 60, Primary: "insert", WritesPer: "insert",
		Groups: []result.Group{{Name: "insert", Clients: 1, Ops: []string{"insert"}}},
	}
	add := func(s *result.Step, group, op, name string, value float64, per, source string) {
		s.Rows = append(s.Rows, metric.Row{Target: t.Target, Trial: n, Step: s.Name, Group: group, Op: op, Metric: name,
			Value: value, Unit: metric.ByName(name).Unit, Per: per, N: 60_000, Source: source})
	}
	w := 1 + 0.01*wobble(i*3+n)
	add(&insert, "insert", "", "errors", 0, "", "")
	add(&insert, "insert", "insert", "rows_per_s", 61200*w, "", "")
	add(&insert, "insert", "insert", "service_p50_us", 800/w, "", "")
	add(&insert, "insert", "insert", "service_p99_us", 2100/w, "", "")
	add(&insert, "insert", "", "stall_s", 0, "", "")
	add(&insert, "", "", "cpu_us", 14.1/w, "insert row", "process")
	add(&insert, "", "", "read_kb", 0.01, "insert row", "device vda")
	add(&insert, "", "", "write_kb", 0.82*w, "insert row", "device vda")
	add(&insert, "", "", "space_amplification", 1.87039744, "", "data directory")
	settle := result.Step{Name: "settle", Status: result.Complete, Started: t.Started.Add(time.Minute), Seconds: 1}
	add(&settle, "", "", "space_amplification", 1.5, "", "data directory")
	t.Steps = []result.Step{insert, settle}
	return t
}

// scale multiplies a metric of all trials.
func scale(metric string, by float64) func(*result.Campaign, []*result.Trial) {
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

// each changes every trial.
func each(f func(*result.Trial)) func(*result.Campaign, []*result.Trial) {
	return func(_ *result.Campaign, trials []*result.Trial) {
		for _, t := range trials {
			f(t)
		}
	}
}

// add writes a campaign; a nil trial is one that was not begun.
func (s *store) add(dir string, c *result.Campaign, trials []*result.Trial) {
	s.Helper()
	s.write(filepath.Join(dir, result.CampaignFile), c)
	for i, t := range trials {
		if t != nil {
			s.write(filepath.Join(dir, result.TrialsDir, c.Trials[i].Dir, result.TrialFile), t)
		}
	}
}

// nights adds campaigns from number from up to another, which is not one of them.
func (s *store) nights(from, to int, change ...func(*result.Campaign, []*result.Trial)) {
	s.Helper()
	for i := from; i < to; i++ {
		c, trials := night(i, change...)
		s.add(fmt.Sprintf("night-%02d", i), c, trials)
	}
}

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

func (s *store) write(name string, v any) {
	s.Helper()
	s.mkdir(filepath.Dir(name))
	if err := result.WriteJSON(s.path(name), v); err != nil {
		s.Fatal(err)
	}
}

func (s *store) text(name, content string) {
	s.Helper()
	s.mkdir(filepath.Dir(name))
	if err := os.WriteFile(s.path(name), []byte(content), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *store) mkdir(name string) {
	s.Helper()
	if err := os.MkdirAll(s.path(name), 0o755); err != nil {
		s.Fatal(err)
	}
}

func (s *store) find() []*Run {
	s.Helper()
	runs, err := Find(s.dir)
	if err != nil {
		s.Fatal(err)
	}
	return runs
}

// families are the families of all runs, searched for changes.
func (s *store) families(pick Pick) ([]*Family, int) {
	s.Helper()
	f := Families(s.find(), pick)
	return f, Detect(f)
}
