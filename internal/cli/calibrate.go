package cli

import (
	"fmt"
	"math"

	"rumbench/internal/compare"
	"rumbench/internal/comparison"
	"rumbench/internal/result"
)

// precise judges whether the trials of a campaign compare as precisely as its
// plan asks for.
func precise(precision float64) func([]*result.Trial) (bool, string) {
	return func(trials []*result.Trial) (bool, string) {
		enough, worst, step := compare.Precise(trials, precision)
		if step == "" && !enough {
			return false, "no step can be compared"
		}
		if math.IsInf(worst, 1) {
			return false, "nothing is known yet of the precision of " + step
		}
		return enough, fmt.Sprintf("the throughput of every step is known to ±%.2g %% (the least precise: %s), ±%.2g %% was wanted", 100*worst, step, 100*precision)
	}
}

// afterCalibrate says what a campaign of a target against itself tells of the
// machine.
func (a *App) afterCalibrate(dir string) error {
	_, trials, _, err := readCampaign(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout)
	return comparison.Calibration(a.Stdout, trials)
}
