package report

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"rumbench/internal/compare"
	"rumbench/internal/result"
)

// differences are those of which a calibration tells how many trials they take.
var differences = []float64{0.01, 0.03, 0.10}

// CalibrationText says what the trials of a target against itself tell of the
// machine: the smallest difference that as many trials can find, and how many
// trials it takes to find some.
func CalibrationText(w io.Writer, trials []*result.Trial) error {
	c := compare.New(trials)
	if len(c.Targets) != 2 {
		return fmt.Errorf("a calibration has two targets, not %d", len(c.Targets))
	}
	j := c.Judge(c.Targets[0], c.Targets[1], compare.DefaultRule())
	return buffered(w, func(b *bufio.Writer) error { writeCalibration(b, j); return nil })
}

func writeCalibration(w io.Writer, j *compare.Judgement) {
	fmt.Fprintf(w, "A/A: %s and %s are the same. What differs is this machine's noise.\n\n", j.Base.Name, j.New.Name)
	heads := []string{"step", "number", "ratio", "noise", "smallest difference"}
	for _, d := range differences {
		heads = append(heads, "trials for "+percent(d))
	}
	var rows [][]string
	var least, most float64
	alarms := 0
	for i := range j.Items {
		it := &j.Items[i]
		if !it.Headline || it.Verdict == "" {
			continue
		}
		if it.Sure() {
			alarms++
		}
		d := j.Detectable(&it.Effect)
		if it.Metric() == "rows_per_s" && !math.IsNaN(d) {
			if least == 0 || d < least {
				least = d
			}
			most = max(most, d)
		}
		rows = append(rows, calibrationRow(j, it, d))
	}
	widths := columnWidths(heads, [][][]string{rows})
	fmt.Fprintln(w, textRowAligned(heads, widths))
	for _, r := range rows {
		fmt.Fprintln(w, textRowAligned(r, widths))
	}
	fmt.Fprintln(w, "\nNoise: standard deviation of the ratio of two trials. A difference of the size told is found by as many trials as ran here in nine of ten campaigns, with the correction for all headline numbers.")
	trials := min(len(j.Base.Trials), len(j.New.Trials))
	if most > 0 && least == most {
		fmt.Fprintf(w, "With %d trials of each target this machine tells differences in throughput from %s on.\n", trials, farApart(most))
	} else if most > 0 {
		fmt.Fprintf(w, "With %d trials of each target this machine tells differences in throughput from %s (in the quietest step) to %s (in the noisiest).\n", trials, farApart(least), farApart(most))
	} else {
		fmt.Fprintf(w, "%d trials of each target are too few to say what this machine can tell; at least %d are needed.\n", trials, compare.LeastTrials)
	}
	if alarms > 0 {
		fmt.Fprintf(w, "⚠ %d numbers are called different although nothing differs: something on this machine favours one of the two. Look for it before comparing anything.\n", alarms)
	}
}

func calibrationRow(j *compare.Judgement, it *compare.Item, detectable float64) []string {
	row := []string{it.Step.Name, numberName(it.New.Key), effectRatio(it.Ratio), unknown, unknown}
	if !math.IsNaN(it.SD) {
		row[3] = percentOf(it.SD)
	}
	if !math.IsNaN(detectable) {
		row[4] = farApart(detectable)
	}
	for _, d := range differences {
		n := j.Needed(&it.Effect, d)
		if n == 0 {
			row = append(row, unknown)
			continue
		}
		row = append(row, trialCount(n))
	}
	return row
}

// farApart is a relative difference: a share, or a factor where it is beyond twice.
func farApart(d float64) string {
	if d > 1 {
		return "a factor of " + decimal(1+d)
	}
	return percentOf(d)
}

// percentOf is a share to two digits.
func percentOf(share float64) string {
	if share >= 0.995 {
		return grouped(100*share) + " %"
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}

// textRowAligned has two columns of words, then numbers.
func textRowAligned(cells []string, widths []int) string {
	return comparisonRow(append(cells, ""), append(widths, 0))
}
