package progress

import (
	"os"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/report/published"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
)

// sysbenchSteps are two steps and one in which nothing is asked for, with what
// their intervals printed.
func sysbenchSteps() (*result.Trial, map[string][]result.Line) {
	t := &result.Trial{Target: "innodb", Trial: 1, Interval: 1, Status: result.Complete}
	lines := map[string][]result.Line{}
	for _, name := range []string{"read-write.c2", "settle", "point.c2"} {
		s := result.Step{Name: name, Status: result.Complete, Seconds: 3.2}
		if name != "settle" {
			s.Primary = "transaction"
			s.Groups = []result.Group{{Name: "clients", Clients: 2, Ops: []string{"transaction"}}}
			for name, v := range map[string]float64{"min": 345, "p95": 1890, "max": 17321} {
				s.Rows = append(s.Rows, metric.Row{Group: "clients", Op: "transaction", Metric: "service_" + name + "_us", Value: v})
			}
			s.Rows = append(s.Rows, metric.Row{Group: "clients", Op: "transaction", Metric: "service_total_s", Value: 5.98, N: 2100})
			for _, at := range []float64{1, 2, 3, 3.2} {
				l := result.Line{Step: name, Source: "ops", T: at, DT: 1, Group: "clients", Op: "transaction", Ops: 700, Rows: 700, Reads: 9800, Writes: 2800, Others: 1400, P95: 1890, P99: 2500, Max: 17321, Clients: []int64{400, 300}}
				switch at {
				case 2: // nothing was completed
					l = result.Line{Step: name, Source: "ops", T: at, DT: 1, Group: "clients", Op: "transaction", Errors: 3, Clients: []int64{0, 0}}
				case 3.2:
					l.DT = 0.2
				}
				lines[name] = append(lines[name], l, result.Line{Step: name, Source: "host", T: at, DT: 1, V: map[string]float64{"x": 1}})
			}
		}
		t.Steps = append(t.Steps, s)
	}
	return t, lines
}

func all(string) bool { return true }

// What is printed while a trial runs is what is printed of its result, and has
// the shape of sysbench's output.
func TestSysbench(t *testing.T) {
	tr, lines := sysbenchSteps()
	var after strings.Builder
	err := published.WriteSysbench(&after, tr, all, func(yield func(result.Line) error) error {
		for _, s := range tr.Steps {
			for _, l := range lines[s.Name] {
				if err := yield(l); err != nil {
					return err
				}
			}
		}
		return nil
	})
	expect.NoError(t, err)
	expect.Golden(t, *update, "sysbench.txt", after.String())
	for name, ahead := range map[string]bool{"its events come at once": false, "its events come late": true} {
		t.Run(name, func(t *testing.T) { printLive(t, tr, lines, ahead, after.String()) })
	}
}

// printLive prints a trial while it runs, or with everything measured before its first event comes.
func printLive(t *testing.T, tr *result.Trial, lines map[string][]result.Line, ahead bool, want string) {
	dir := t.TempDir()
	expect.NoError(t, os.MkdirAll(result.TrialPath(dir, "innodb.1"), 0o755))
	series := expect.Value(result.CreateSeries(result.TrialPath(dir, "innodb.1")))(t)
	var live, talk strings.Builder
	p := &Sysbench{Progress: New(&talk, nil), Out: &live, Dir: dir, Interval: 1}
	p.Event(trial.Event{Step: "read-write.c2", Phase: trial.PhaseRun}) // of the calibration
	e := result.Entry{Dir: "innodb.1", Target: "innodb", Trial: 1}
	p.Begin(e, forecast.Place{Number: 1, Of: 1})
	for _, s := range tr.Steps {
		if ahead {
			expect.NoError(t, series.Write(lines[s.Name]...))
		}
	}
	for i := range tr.Steps {
		s := &tr.Steps[i]
		p.Event(trial.Event{Step: s.Name, Phase: trial.PhaseBegin, Is: &result.Step{Name: s.Name, Primary: s.Primary, Groups: s.Groups}})
		for _, l := range lines[s.Name] {
			if !ahead {
				expect.NoError(t, series.Write(l))
			}
			if l.DT == 1 { // the rest of a step has no event
				p.Event(trial.Event{Step: s.Name, Phase: trial.PhaseRun, Elapsed: l.T})
			}
		}
		p.Event(trial.Event{Step: s.Name, Phase: trial.PhaseEnd, Is: s})
	}
	p.End(e, tr)
	expect.Must(t, p.Err() == nil, p.Err())
	expect.Equal(t, live.String(), want, "while it ran", "afterwards")
	if want := "[1/1] innodb.1\n  complete in 0s\n"; talk.String() != want {
		t.Errorf("it said %q, want %q", talk.String(), want)
	}
}
