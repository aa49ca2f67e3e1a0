package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

const (
	aaCampaigns = 20
	aaTrials    = 6
	aaSlowdown  = 1.03
)

// aaPlan is a campaign of two targets on the null engine with a delay, with noise
// of 1.5 % between trials and a drift of the machine.
const aaPlan = `name: aa
workload: ibench
params: {rows: 150k, steps: [l.i0]}
calibrate: false
common: {durability: none}
trials: %d
seed: %d
interval: 100ms
targets:
  - {name: a, engine: "null", options: {delay: 200us, noise: 0.015, noise_seed: %[2]d, drift: 0.05, drift_period: 1m}}
  - {name: b, engine: "null", options: {delay: %[3]s, noise: 0.015, noise_seed: %[2]d, drift: 0.05, drift_period: 1m}}
`

// equals runs campaigns of two equal targets and counts false differences; it then
// runs campaigns with one target 3 % slower, with the number of trials that the
// first campaigns recommend, and counts how often the difference is found.
func equals(dir string) ([]budget, error) {
	exe, err := built(dir)
	if err != nil {
		return nil, err
	}
	claims, judged, campaigns := 0, 0, 0
	var needed []int
	for seed := range aaCampaigns {
		j, err := aaRun(exe, dir, seed+1, aaTrials, 1)
		if err != nil {
			return nil, err
		}
		n, all := claimed(j)
		claims, judged = claims+n, judged+all
		if n > 0 {
			campaigns++
		}
		needed = append(needed, recommended(j))
	}
	slices.Sort(needed)
	trials := needed[len(needed)/2]
	trials += trials % 2 // each block has its reverse
	found, asked := 0, 0
	const slow = 5
	for seed := range slow {
		j, err := aaRun(exe, dir, 100+seed, trials, aaSlowdown)
		if err != nil {
			return nil, err
		}
		for _, e := range throughput(j) {
			asked++
			if e.Verdict == compare.Worse {
				found++
			}
		}
	}
	return []budget{
		{
			subject: "A/A on the null engine: campaigns of 20 with any false verdict", value: float64(campaigns), limit: 1,
			measured: fmt.Sprintf("%d of %d numbers", claims, judged),
		},
		{
			subject: "3 % slower on the null engine: found with the trials recommended",
			value:   float64(found) / float64(asked), limit: 0.9, atLeast: true,
			measured: fmt.Sprintf("%d of %d numbers in %d campaigns of %d trials (recommended by the A/A campaigns: %v)",
				found, asked, slow, trials, needed),
		},
	}, nil
}

func aaRun(exe, dir string, seed, trials int, slower float64) (*compare.Judgement, error) {
	delay := fmt.Sprintf("%.0fns", 200e3*slower)
	list, err := trialsOf(exe, filepath.Join(dir, fmt.Sprintf("aa-%d", seed)), fmt.Sprintf(aaPlan, trials, seed, delay))
	if err != nil {
		return nil, err
	}
	all := compare.New(list)
	a, b := all.Target("a"), all.Target("b")
	return all.Judge(a, b), nil
}

// trialsOf runs a plan and returns the trials of its campaign, in a new directory.
func trialsOf(exe, dir, plan string) ([]*result.Trial, error) {
	if err := os.WriteFile(dir+".yaml", []byte(plan), 0o644); err != nil {
		return nil, err
	}
	if text, err := exec.Command(exe, "run", dir+".yaml", "--out", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run the campaign %s: %w\n%s", filepath.Base(dir), err, text)
	}
	c, err := result.ReadCampaign(dir)
	if err != nil {
		return nil, err
	}
	return result.ReadTrials(dir, c)
}

// claimed returns how many numbers are judged better or worse, and how many are
// judged at all.
func claimed(j *compare.Judgement) (n, all int) {
	for i := range j.Items {
		if it := &j.Items[i]; it.Asked && it.Verdict != "" {
			all++
			if it.Sure() {
				n++
			}
		}
	}
	return n, all
}

func throughput(j *compare.Judgement) (out []*compare.Effect) {
	for i := range j.Items {
		if it := &j.Items[i]; it.Asked && it.Metric() == metric.RowsPerS {
			out = append(out, &it.Effect)
		}
	}
	return out
}

// recommended returns the number of trials that a campaign needs to find 3 %.
func recommended(j *compare.Judgement) int {
	highest := 0
	for _, e := range throughput(j) {
		highest = max(highest, e.Needed(math.Abs(1-aaSlowdown)))
	}
	return highest
}
