package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/result"
)

// How cost grows with the size of the input: a figure at several sizes. What grows
// faster than its input is a fault, unless it is said what binds.

// growth is a figure at several sizes.
type growth struct {
	subject, unit string
	sizes         []int
	values        []float64
	limit         float64 // of the last value; 0: none
	binds         string  // what a large input is bound by
}

// exponent returns that of the power law between the two largest sizes: 1 grows as its input does.
func (g *growth) exponent() float64 {
	n := len(g.sizes)
	return math.Log(g.values[n-1]/g.values[n-2]) / math.Log(float64(g.sizes[n-1])/float64(g.sizes[n-2]))
}

func (g *growth) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n   ", g.subject)
	for i, size := range g.sizes {
		fmt.Fprintf(w, " %d: %.4g %s ", size, g.values[i], g.unit)
	}
	fmt.Fprintf(w, " grows as size^%.2f", g.exponent())
	if g.limit > 0 {
		fmt.Fprintf(w, "  limit %.4g", g.limit)
	}
	fmt.Fprintf(w, "  %s\n", g.binds)
}

// grows measures all of them, and prints each when it is known.
func grows(dir string) ([]budget, error) {
	exe, err := built(dir)
	if err != nil {
		return nil, err
	}
	g := grower{dir: dir, exe: exe}
	for _, measure := range []func() ([]*growth, error){g.clients, g.counters, g.seconds, g.trials, g.targets, g.logs} {
		list, err := measure()
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			l.print(os.Stdout)
		}
	}
	return nil, nil
}

type grower struct{ dir, exe string }

// run returns how long rumbench takes.
func (g *grower) run(args ...string) (seconds float64, err error) {
	start := time.Now()
	out, err := exec.Command(g.exe, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("rumbench %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start).Seconds(), err
}

// clients measures many clients of one process on PostgreSQL.
func (g *grower) clients() ([]*growth, error) {
	sizes := []int{1, 4, 16, 64, 256, 1024, 4096}
	dir := filepath.Join(g.dir, "clients")
	list, err := trialsOf(g.exe, dir, fmt.Sprintf(`name: clients
workload: sysbench
params: {tests: [oltp_point_select], table_size: 100k, read_seconds: 10, settle_floor: 1, clients: %s}
common: {durability: process, cache: 256MiB}
calibrate: false
targets: [{name: postgres, engine: postgres, options: {max_connections: 4200}}]
`, strings.ReplaceAll(fmt.Sprint(sizes), " ", ", ")))
	if err != nil {
		return nil, err
	}
	rate := growth{subject: "clients of one process on PostgreSQL, point selects: throughput", unit: "/s", sizes: sizes,
		binds: "the processors, which the server shares"}
	cost := growth{subject: "the same: client CPU of a query", unit: "µs", sizes: sizes,
		binds: "waking the server's processes, whose number is sampled, too"}
	for _, n := range sizes {
		for i := range list[0].Steps {
			s := &list[0].Steps[i]
			if len(s.Groups) == 0 || s.Groups[0].Clients != n || !strings.HasPrefix(s.Name, "oltp") {
				continue
			}
			for _, r := range s.Rows {
				switch {
				case r.Metric == "rows_per_s" && r.Op != "":
					rate.values = append(rate.values, r.Value)
				case r.Metric == "client_cpu_us" && r.Op == "":
					cost.values = append(cost.values, r.Value)
				}
			}
		}
	}
	if len(rate.values) != len(sizes) || len(cost.values) != len(sizes) {
		return nil, fmt.Errorf("%d rates and %d costs of %d steps", len(rate.values), len(cost.values), len(sizes))
	}
	return []*growth{&rate, &cost}, os.RemoveAll(dir)
}

// counters measures counters that are sampled every second.
func (g *grower) counters() ([]*growth, error) {
	out := growth{subject: "counters sampled every second: share of one core", unit: "%",
		sizes: []int{1000, 5000, 10_000, 50_000}, binds: "1 % at 1,000"}
	for _, n := range out.sizes {
		out.values = append(out.values, sampled(n))
	}
	return []*growth{&out}, nil
}

// seconds measures the report of a long step.
func (g *grower) seconds() ([]*growth, error) {
	sizes := []int{3600, 6 * 3600, 24 * 3600}
	took := growth{subject: "seconds of a step: time of the report", unit: "s", sizes: sizes, limit: 10,
		binds: "reading the series"}
	size := growth{subject: "the same: its size", unit: "MB", sizes: sizes, limit: 5, binds: "points of charts are merged"}
	for _, n := range sizes {
		list, err := reportOfDay(filepath.Join(g.dir, fmt.Sprint("day-", n)), n)
		if err != nil {
			return nil, err
		}
		took.values, size.values = append(took.values, list[0].value), append(size.values, list[1].value)
	}
	return []*growth{&took, &size}, nil
}

// seedPlan makes the campaign that larger ones are copied from.
const seedPlan = `name: seed
workload: ibench
params: {rows: 20k, write_rows: 10k, rates: [500], query_seconds: 2, settle_floor: 0}
calibrate: false
trials: 2
targets: [{name: a, engine: pebble}, {name: b, engine: pebble, options: {bloom_bits: 10}}]
`

// trials measures campaigns of many trials.
func (g *grower) trials() ([]*growth, error) {
	shape := func(n int) (targets, trials int) { return 2, n / 2 }
	return g.copies([]int{10, 100, 1000}, "trials of a campaign of two targets", shape, "report", "compare", "show")
}

// targets measures campaigns of many targets.
func (g *grower) targets() ([]*growth, error) {
	shape := func(n int) (targets, trials int) { return n, 4 }
	return g.copies([]int{2, 10, 50}, "targets of four trials each", shape, "report", "compare", "explain")
}

// copies measures commands on campaigns of several sizes.
func (g *grower) copies(sizes []int, subject string, shape func(int) (targets, trials int),
	commands ...string) ([]*growth, error) {
	var out []*growth
	for _, c := range commands {
		out = append(out, &growth{subject: subject + ": time of " + c, unit: "s", sizes: sizes,
			binds: "reading and judging each number"})
	}
	seed := filepath.Join(g.dir, "seed")
	if _, err := os.Stat(seed); err != nil {
		if _, err := trialsOf(g.exe, seed, seedPlan); err != nil {
			return nil, err
		}
	}
	for _, n := range sizes {
		dir := filepath.Join(g.dir, fmt.Sprint("copies-", n))
		targets, trials := shape(n)
		if err := multiply(seed, dir, targets, trials); err != nil {
			return nil, err
		}
		for i, c := range commands {
			took, err := g.run(c, dir)
			if err != nil {
				return nil, err
			}
			out[i].values = append(out[i].values, took)
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// multiply writes a campaign of many targets and trials: copies of the first target's first
// trial, with its figures changed by chance.
func multiply(seed, dir string, targets, trials int) error {
	c, err := result.ReadCampaign(seed)
	if err != nil {
		return err
	}
	source := result.TrialPath(seed, c.Trials[0].Dir)
	first, err := result.ReadTrial(source)
	if err != nil {
		return err
	}
	noise := rand.New(rand.NewPCG(1, 2))
	c.Trials, c.Targets = nil, nil
	for t := range targets {
		c.Targets = append(c.Targets, fmt.Sprintf("t%02d", t))
	}
	for n := 1; n <= trials; n++ {
		for _, target := range c.Targets {
			e := result.Entry{Target: target, Trial: n, Dir: fmt.Sprintf("%s.%d", target, n)}
			c.Trials = append(c.Trials, e)
			copied := *first
			copied.Target, copied.Trial = target, n
			copied.Steps = nil
			for _, s := range first.Steps {
				rows := s.Rows
				s.Rows = nil
				for _, r := range rows {
					r.Target, r.Trial = target, n
					r.Value *= 1 + 0.02*noise.NormFloat64()
					s.Rows = append(s.Rows, r)
				}
				copied.Steps = append(copied.Steps, s)
			}
			own := result.TrialPath(dir, e.Dir)
			if err := errors.Join(os.MkdirAll(own, 0o755), result.WriteJSON(filepath.Join(own, result.TrialFile), &copied),
				link(source, own, result.SeriesFile)); err != nil {
				return err
			}
		}
	}
	return errors.Join(result.WriteJSON(filepath.Join(dir, result.CampaignFile), c), link(seed, dir, result.PlanFile))
}

// link links a file of a directory into another.
func link(source, dir, name string) error {
	return os.Link(filepath.Join(source, name), filepath.Join(dir, name))
}

// logs measures the import of large logs.
func (g *grower) logs() ([]*growth, error) {
	out := &growth{subject: "MB of a sysbench log: time of import", unit: "s", sizes: []int{100, 1000, 10_000},
		binds: "parsing its lines"}
	for _, n := range out.sizes {
		path := filepath.Join(g.dir, "sysbench.log")
		if err := writeLog(path, int64(n)<<20); err != nil {
			return nil, err
		}
		dir := filepath.Join(g.dir, fmt.Sprint("import-", n))
		took, err := g.run("import", path, "--out", dir)
		if err != nil {
			return nil, err
		}
		out.values = append(out.values, took)
		if err := errors.Join(os.Remove(path), os.RemoveAll(dir)); err != nil {
			return nil, err
		}
	}
	return []*growth{out}, nil
}

// writeLog writes the log of a run of sysbench that is about as large.
func writeLog(path string, bytes int64) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	defer func() { err = errors.Join(err, w.Flush()) }()
	const rate, line = 27_000, "[ %ds ] thds: 2 tps: 27000.00 qps: 27000.00 (r/w/o: 0.00/27000.00/0.00) " +
		"lat (ms,95%%): 0.17 err/s: 0.00 reconn/s: 0.00\n"
	seconds := bytes / int64(len(line)+4)
	fmt.Fprintf(w, "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\n"+
		"Number of threads: 2\nReport intermediate results every 1 second(s)\n\nThreads started!\n\n")
	for i := range seconds {
		fmt.Fprintf(w, line, i+1)
	}
	n := seconds * rate
	fmt.Fprintf(w, "SQL statistics:\n    queries performed:\n        read:                            0\n"+
		"        write:                           %[1]d\n        other:                           0\n"+
		"        total:                           %[1]d\n"+
		"    transactions:                        %[1]d (%.2[3]f per sec.)\n"+
		"    queries:                             %[1]d (%.2[3]f per sec.)\n"+
		"    ignored errors:                      0      (0.00 per sec.)\n"+
		"    reconnects:                          0      (0.00 per sec.)\n\nGeneral statistics:\n"+
		"    total time:                          %[2]d.0000s\n    total number of events:              %[1]d\n\n"+
		"Latency (ms):\n         min:                                    0.02\n"+
		"         avg:                                    0.07\n"+
		"         max:                                   40.56\n         95th percentile:                        0.17\n"+
		"         sum:                                 %.2[4]f\n", n, seconds, float64(rate), 2000*float64(seconds))
	return nil
}
