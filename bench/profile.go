package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"

	"rumbench/internal/metric"
	"rumbench/internal/profile"
	"rumbench/internal/stat"
)

const (
	profilePairs = 10
	profilePlan  = `workload: sysbench
params: {table_size: 100k, clients: [2], load_clients: 1, settle_floor: 0s, tests: [point-query], read_seconds: 10}
calibrate: false
trials: 1
profile: %s
targets: [{name: t, engine: %s}]
`
)

// profiled compares campaigns whose trials are sampled with others, in pairs: the rate, and
// the CPU time of an operation. The interval tells how much the machine's noise leaves open.
func profiled(dir string) (out []budget, err error) {
	if s, err := profile.Start(99, false); errors.Is(err, profile.ErrUnavailable) {
		return []budget{{what: "profiles inside trials", measured: err.Error()}}, nil
	} else if err == nil {
		_, err = s.Stop()
		if err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // servers run as another user
		return nil, err
	}
	exe := filepath.Join(dir, "rumbench")
	if text, err := exec.Command("go", "build", "-o", exe, "rumbench/cmd/rumbench").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build rumbench: %w\n%s", err, text)
	}
	for _, engine := range []string{"pebble", "postgres"} {
		logs := map[string][]float64{}
		for pair := range profilePairs {
			of := map[string]map[string]float64{}
			modes := []string{"off", "inside"}
			if pair%2 == 1 {
				modes = []string{"inside", "off"}
			}
			for _, mode := range modes {
				numbers, err := profiledRun(exe, filepath.Join(dir, fmt.Sprintf("profile-%s-%d-%s", engine, pair, mode)), fmt.Sprintf(profilePlan, mode, engine))
				if err != nil {
					return nil, err
				}
				of[mode] = numbers
			}
			for name, v := range of["inside"] {
				logs[name] = append(logs[name], math.Log(v/of["off"][name]))
			}
		}
		for _, name := range []string{"rows_per_s", "cpu_us"} {
			mean := stat.Mean(logs[name])
			half := 2.26 * stat.Deviation(logs[name]) / math.Sqrt(profilePairs) // Student's t of 9 degrees of freedom
			out = append(out, budget{
				what: fmt.Sprintf("%s with profile: inside, %s: change", engine, name), value: 100 * math.Abs(math.Expm1(mean)), limit: 1, unit: "%",
				measured: fmt.Sprintf("%d pairs: %+.2f %% (%+.2f to %+.2f)", profilePairs, 100*math.Expm1(mean), 100*math.Expm1(mean-half), 100*math.Expm1(mean+half)),
			})
		}
	}
	return out, nil
}

// profiledRun returns the numbers of the last step of a campaign of one trial.
func profiledRun(exe, dir, plan string) (map[string]float64, error) {
	trials, err := trialsOf(exe, dir, plan)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	steps := trials[len(trials)-1].Steps
	for _, name := range []string{"rows_per_s", "cpu_us"} {
		row := metric.Find(steps[len(steps)-1].Rows, name, "", "")
		if row == nil {
			return nil, fmt.Errorf("%s: no %s", dir, name)
		}
		out[name] = row.Value
	}
	return out, nil
}
