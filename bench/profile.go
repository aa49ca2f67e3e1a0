package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"rumbench/internal/observe/profile"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

const (
	// profilePairs is the number of pairs of windows compared; one window of each pair is
	// sampled.
	profilePairs  = 40
	profileWindow = 3 * time.Second
	// profileMargin is the minimum distance of an interval from the ends of a window.
	profileMargin = 200 * time.Millisecond
	profilePlan   = `workload: sysbench
params: {table_size: 100k, clients: [2], load_clients: 1, settle_floor: 0s, tests: [point-query], read_seconds: %g}
calibrate: false
interval: 500ms
trials: 1
targets: [{name: t, engine: %s}]
`
)

// profiled measures the cost of the sampler for a trial: while a trial runs, the sampler
// is switched on and off every few seconds. Neighbouring windows are compared, because the
// speed of a machine varies more from trial to trial than a sampler could change it. The
// interval shows the uncertainty that noise leaves.
func profiled(dir string) (out []budget, err error) {
	if s, err := profile.Start(99, false); errors.Is(err, profile.ErrUnavailable) {
		return []budget{{subject: "the sampler", measured: err.Error()}}, nil
	} else if err == nil {
		_, err = s.Stop()
		if err != nil {
			return nil, err
		}
	}
	exe, err := built(dir)
	if err != nil {
		return nil, err
	}
	for _, engine := range []string{"pebble", "postgres"} {
		logs, err := sampledInTurns(exe, filepath.Join(dir, "profile-"+engine), engine)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"rows/s", "CPU time of a row"} {
			_, i := stat.PairedT(logs[name], 0.95)
			percent := func(log float64) float64 { return 100 * math.Expm1(log) }
			out = append(out, budget{
				subject: fmt.Sprintf("%s of %s while it is sampled: change", name, engine), value: math.Abs(percent(i.Value)),
				limit: 1, unit: "%",
				measured: fmt.Sprintf("%d pairs of windows: %+.2f %% (%+.2f to %+.2f)", len(logs[name]), percent(i.Value),
					percent(i.Low), percent(i.High)),
			})
		}
	}
	return out, nil
}

// sampledInTurns runs a trial, samples the machine every other window, and returns the
// logarithms of the ratios of each pair.
func sampledInTurns(exe, dir, engine string) (map[string][]float64, error) {
	done := make(chan error, 1)
	var trials []*result.Trial
	go func() (err error) {
		defer func() { done <- err }()
		trials, err = trialsOf(exe, dir,
			fmt.Sprintf(profilePlan, (2*profilePairs*profileWindow+profileWindow).Seconds(), engine))
		return err
	}() //nolint:errcheck // sent
	began := time.Now()
	for n := 0; ; n++ {
		var s *profile.Sampler
		if isSampled(n) {
			var err error
			if s, err = profile.Start(99, false); err != nil {
				return nil, errors.Join(err, <-done)
			}
		}
		over := false
		var err error
		select {
		case err = <-done:
			over = true
		case <-time.After(time.Until(began.Add(time.Duration(n+1) * profileWindow))):
		}
		if s != nil {
			_, stopped := s.Stop()
			err = errors.Join(err, stopped)
		}
		switch {
		case err != nil && !over:
			return nil, errors.Join(err, <-done)
		case err != nil:
			return nil, err
		case over:
			return pairedWindows(trials[0], began)
		}
	}
}

// isSampled reports whether the n-th window is sampled: the order in a pair alternates, so
// that a drift of the machine cancels out.
func isSampled(n int) bool { return n%4 == 1 || n%4 == 2 }

// window is the work that a trial did in a window.
type window struct{ rows, rowSeconds, cpu, cpuSeconds float64 }

// pairedWindows compares the pairs of windows in the trial's last step.
func pairedWindows(t *result.Trial, began time.Time) (map[string][]float64, error) {
	step := t.Steps[len(t.Steps)-1]
	windows := map[int]window{}
	err := result.ReadSeries(t.Dir, []string{"ops", "process"}, func(l result.Line) error {
		if l.Step != step.Name {
			return nil
		}
		end := step.Started.Add(time.Duration(l.T * float64(time.Second))).Sub(began)
		start := end - time.Duration(l.DT*float64(time.Second))
		n := int(start / profileWindow)
		if start < time.Duration(n)*profileWindow+profileMargin || end > time.Duration(n+1)*profileWindow-profileMargin {
			return nil
		}
		w := windows[n]
		if l.Source == "ops" {
			w.rows, w.rowSeconds = w.rows+float64(l.Rows), w.rowSeconds+l.DT
		} else {
			w.cpu, w.cpuSeconds = w.cpu+l.V["process.cpu_ns"], w.cpuSeconds+l.DT
		}
		windows[n] = w
		return nil
	})
	logs := map[string][]float64{}
	for n := range windows {
		a, b := windows[n], windows[n+1]
		if n%2 == 1 || a.rows*a.cpu*b.rows*b.cpu == 0 {
			continue
		}
		if isSampled(n) {
			a, b = b, a
		}
		rate := math.Log(b.rows / b.rowSeconds / (a.rows / a.rowSeconds))
		logs["rows/s"] = append(logs["rows/s"], rate)
		logs["CPU time of a row"] = append(logs["CPU time of a row"], math.Log(b.cpu/b.cpuSeconds/(a.cpu/a.cpuSeconds))-rate)
	}
	return logs, err
}
