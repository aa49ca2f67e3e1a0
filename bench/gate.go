package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// The gate: how often planted slowdowns of a real engine are found, and how often a
// nonexistent one is; and the power of the rule at the observed noise.

var (
	gateTrials  = []int{4, 6, 10}
	gateSlower  = []float64{0, 0.05, 0.10, 0.30, 0.60}
	powerTrials = []int{3, 4, 6, 10}
	powerEffect = []float64{0.03, 0.10, 0.30, 1.00}
)

// gateBlocks is the number of trials run for each target; gates are simulated on
// neighbouring ones. RUMBENCH_BENCH_BLOCKS overrides it.
const gateBlocks = 14

// overlaid builds rumbench with pebble in slowed's wrapper.
func overlaid(dir string) (exe string, err error) {
	const list = "engine/all/all.go"
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), list)
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.Replace(string(source), "pebble.Engine{},", "slowed.Engine{Engine: pebble.Engine{}},", 1)
	text = strings.Replace(text, "import (", "import (\n\t\"rumbench/bench/slowed\"", 1)
	engines, overlay := filepath.Join(dir, "engines.go"), filepath.Join(dir, "overlay.json")
	mapping, err := json.Marshal(map[string]map[string]string{"Replace": {file: engines}})
	if err != nil {
		return "", err
	}
	for path, content := range map[string][]byte{engines: []byte(text), overlay: mapping} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return "", err
		}
	}
	return built(dir, "-overlay", overlay)
}

// gatePlan returns the plan: the engine, and the same engine with planted slowdowns.
func gatePlan(blocks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `name: gate
workload: ibench
params: {rows: 1M, steps: [l.i0], check: none}
common: {durability: process, cache: 64MiB}
calibrate: false
trials: %d
targets:
  - {name: base, engine: pebble}
`, blocks)
	for _, s := range gateSlower {
		fmt.Fprintf(&b, "  - {name: %q, engine: pebble, options: {slower: %g}}\n", gateName(s), s)
	}
	return b.String()
}

func gateName(slower float64) string { return fmt.Sprintf("slower-%g", 100*slower) }

// gates measures the gate on pebble.
func gates(dir string) ([]budget, error) {
	blocks := gateBlocks
	if n, err := strconv.Atoi(os.Getenv("RUMBENCH_BENCH_BLOCKS")); err == nil && n > 0 {
		blocks = n
	}
	exe, err := overlaid(dir)
	if err != nil {
		return nil, err
	}
	trials, err := trialsOf(exe, filepath.Join(dir, "gate"), gatePlan(blocks))
	if err != nil {
		return nil, err
	}
	var list []budget
	for _, n := range gateTrials {
		if n <= blocks {
			list = append(list, gateRow(trials, blocks, n)...)
		}
	}
	return append(list, powerTable(seen(trials))...), nil
}

// gateRow judges all stretches of n consecutive blocks.
func gateRow(trials []*result.Trial, blocks, n int) (out []budget) {
	var shares []string
	for _, slower := range gateSlower {
		caught, stretches := 0, 0
		for start := 1; start+n-1 <= blocks; start++ {
			stretches++
			if len(gateOf(trials, start, n, gateName(slower)).Outcome().Worse) > 0 {
				caught++
			}
		}
		share := 100 * float64(caught) / float64(stretches)
		shares = append(shares, fmt.Sprintf("%s %.0f %% of %d", gateName(slower), share, stretches))
		switch {
		case slower == 0:
			out = append(out, budget{subject: fmt.Sprintf("gate on pebble, %d trials: false alarms", n), value: share, limit: 5,
				unit: "%"})
		case slower == 0.30 && n == 6:
			out = append(out, budget{subject: "gate on pebble, 6 trials: 30 % slower is caught", value: share, limit: 95,
				unit: "%", atLeast: true})
		}
	}
	out[len(out)-1].measured = strings.Join(shares, ", ")
	return out
}

// gateOf judges a target against the base in n blocks.
func gateOf(trials []*result.Trial, start, n int, target string) *compare.Judgement {
	var list []*result.Trial
	for _, t := range trials {
		if (t.Target == "base" || t.Target == target) && t.Trial >= start && t.Trial < start+n {
			list = append(list, t)
		}
	}
	c := compare.New(list)
	return c.Judge(c.Target("base"), c.Target(target))
}

// seen returns the observed noise of the throughput between the base and itself, in
// pairs and regardless of pairs.
func seen(trials []*result.Trial) stat.Noise {
	var a, b []float64
	for _, t := range trials {
		row := t.Steps[len(t.Steps)-1].Find(metric.RowsPerS, "insert", "")
		switch {
		case row == nil:
		case t.Target == "base":
			a = append(a, math.Log(row.Value))
		case t.Target == gateName(0):
			b = append(b, math.Log(row.Value))
		}
	}
	if len(a) != len(b) {
		return stat.Noise{}
	}
	return stat.Decide(a, b, stat.Blocks, 0.95).Noise
}

// powerTable simulates how often the rule finds an effect at the observed noise, as the
// only number asked about and as one of five.
func powerTable(noise stat.Noise) (out []budget) {
	for _, asked := range []int{1, 5} {
		for _, n := range powerTrials {
			var cells []string
			for _, effect := range powerEffect {
				cells = append(cells, fmt.Sprintf("%g %%: %.0f %%", 100*effect, power(noise, n, effect, ruleAlpha/float64(asked))))
			}
			out = append(out, budget{
				subject: fmt.Sprintf("false alarms at the noise seen, one of %d asked, %d trials", asked, n),
				value:   power(noise, n, 0, ruleAlpha/float64(asked)), limit: 6 / float64(asked), unit: "%",
				measured: fmt.Sprintf("pairs ±%.1f %%, found: %s", 100*noise.Pairs, strings.Join(cells, ", ")),
			})
		}
	}
	return out
}

// power returns how often an effect is found, in percent. The observed noise determines
// how much noise the trials of a pair share.
func power(noise stat.Noise, n int, effect, alpha float64) float64 {
	own := noise.Pairs / math.Sqrt2
	common := math.Sqrt(max(0, (square(noise.Apart)-square(noise.Pairs))/2))
	r := rand.New(rand.NewPCG(uint64(n), 7))
	hits := 0
	for range simulations {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			both := common * r.NormFloat64()
			a[i], b[i] = both+own*r.NormFloat64(), both+own*r.NormFloat64()+math.Log1p(effect)
		}
		if d := stat.Decide(a, b, stat.Blocks, 0.95); d.P < alpha && d.Agreed {
			hits++
		}
	}
	return 100 * float64(hits) / simulations
}
