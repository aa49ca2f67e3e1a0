package published

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/published/layout"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

const (
	perMB = 1024.0 // KB
	perGB = 1 << 30
)

// Summaries returns the steps that have clients with the columns of the insert
// benchmark's tables. A block of targets ends where the next begins with one of
// firsts; the first target of a block is its base.
func Summaries(c *compare.Campaign, base *compare.Target, firsts []*compare.Target) []layout.Step {
	return steps(c, base, firsts, view.summary)
}

// Costs returns the steps that have clients with the columns of the sysbench
// suite's table of costs.
func Costs(c *compare.Campaign, base *compare.Target) []layout.Step {
	return steps(c, base, nil, view.costs)
}

func steps(c *compare.Campaign, base *compare.Target, firsts []*compare.Target, values func(view) map[string]float64) (out []layout.Step) {
	for _, s := range c.Steps {
		if s.Primary == "" {
			continue
		}
		step := layout.Step{Name: s.Name}
		first := base // of the block
		for i, t := range c.From(base) {
			if i == 0 || slices.Contains(firsts, t) {
				step.Blocks, first = append(step.Blocks, nil), t
			}
			last := &step.Blocks[len(step.Blocks)-1]
			*last = append(*last, layout.Line{Tag: t.Name, Values: values(view{s, t}), Unlike: s.Unlike(first, t) != ""})
		}
		out = append(out, step)
	}
	return out
}

// view is a step on a target. Its numbers are medians over the runs that have
// them; NaN if none does.
type view struct {
	*compare.Step
	target *compare.Target
}

func (v view) median(of func(*compare.Run) float64) float64 {
	var values []float64
	for _, r := range v.Used(v.target) {
		if x := of(&r); quantity.Finite(x) {
			values = append(values, x)
		}
	}
	return stat.Median(values)
}

// row returns the number of a row, in a larger unit.
func (v view) row(metric string, unit float64) float64 {
	k, ok := v.About(metric)
	return v.median(func(r *compare.Run) float64 { return value(r, k, ok) / unit })
}

// rate returns the throughput of an operation kind.
func (v view) rate(op string) float64 {
	return v.median(func(r *compare.Run) float64 { return v.rateOf(r, op) })
}

func (v view) rateOf(r *compare.Run, op string) float64 {
	k, ok := v.Rate(op)
	return value(r, k, ok)
}

// per returns a cost per unit of an operation kind.
func (v view) per(metric, op string) float64 {
	return v.median(func(r *compare.Run) float64 { cost, _ := per(r, metric, op); return cost })
}

// second returns a cost per second, in a larger unit.
func (v view) second(metric, op string, unit float64) float64 {
	return v.median(func(r *compare.Run) float64 { return v.perSecond(r, metric, op) / unit })
}

// perSecond returns the cost per unit × units ÷ the length of the step; for
// summaries, which have neither counts nor a length, cost per unit × rate.
func (v view) perSecond(r *compare.Run, metric, op string) float64 {
	cost, units := per(r, metric, op)
	if total := cost * units / r.Step.Seconds; units != 0 && !math.IsNaN(total) && r.Step.Seconds > 0 {
		return total
	}
	return cost * v.rateOf(r, op)
}

// summary has the columns of the insert benchmark's tables. The layouts contain
// only the device and the whole host; figures of a process are no substitute.
func (v view) summary() map[string]float64 {
	about, writes := v.Primary, v.WritesPer
	ips, qps := v.twoRates()
	return map[string]float64{
		"ips": ips, "qps": qps,
		"rps": v.second("device_reads", about, 1), "rmbps": v.second("read_kb", about, perMB),
		"wps":   v.median(func(r *compare.Run) float64 { return growth(r, "device.writes") / r.Step.Seconds }),
		"wmbps": v.second("write_kb", writes, perMB),
		"rpq":   v.per("device_reads", about), "rkbpq": v.per("read_kb", about),
		"wpi": v.median(func(r *compare.Run) float64 {
			_, units := per(r, "write_kb", writes)
			return growth(r, "device.writes") / units
		}),
		"wkbpi": v.per("write_kb", writes),
		"csps":  v.second("context_switches", about, 1), "cspq": v.per("context_switches", about),
		"cpups": v.median(func(r *compare.Run) float64 {
			return 100 * v.perSecond(r, "host_cpu_us", about) / 1e6 / processors(r)
		}),
		"cpupq": v.per("host_cpu_us", about),
		"dbgb1": v.row("data_bytes", perGB), "dbgb2": v.row("db_bytes", perGB), "rss": v.row("server_memory_bytes", perGB),
		"maxop": v.row("service_max_us", 1e6),
		"p50":   v.ofOneClient("interval_ops_p50"), "p99": v.ofOneClient("interval_ops_p99"),
	}
}

// twoRates returns the rows written and the queries a second. A load has no
// queries; what a query-only step writes is unknown.
func (v view) twoRates() (rows, queries float64) {
	switch {
	case v.Primary != v.WritesPer:
		return v.rate(v.WritesPer), v.rate(v.Primary)
	case v.First().Step.WritesRows():
		return v.rate(v.Primary), 0
	}
	return math.NaN(), v.rate(v.Primary)
}

// ofOneClient returns a number of a group of one client: these columns are per
// client, and for several clients only the sum is known.
func (v view) ofOneClient(metric string) float64 {
	k, ok := v.About(metric)
	return v.median(func(r *compare.Run) float64 {
		if !slices.ContainsFunc(r.Step.Groups, func(g result.Group) bool { return g.Name == k.Group && g.Clients == 1 }) {
			return math.NaN()
		}
		return value(r, k, ok)
	})
}

// costs has the columns of sysbench's table of costs, all per unit of the
// primary operation.
func (v view) costs() map[string]float64 {
	return map[string]float64{
		"cpu/o": v.median(func(r *compare.Run) float64 {
			us, _ := per(r, "host_cpu_us", v.Primary)
			return 100 * us / 1e6 / processors(r)
		}),
		"cs/o": v.per("context_switches", v.Primary), "r/o": v.per("device_reads", v.Primary),
		"rKB/o": v.per("read_kb", v.Primary), "wKB/o": v.per("write_kb", v.Primary),
		"o/s": v.rate(v.Primary),
	}
}

// value returns the run's number under a key; NaN if there is none, or no such
// key.
func value(r *compare.Run, k compare.Key, ok bool) float64 {
	if row := r.Row(k); ok && row != nil {
		return row.Value
	}
	return math.NaN()
}

// per returns a cost per unit of an operation kind, and how many units there were;
// NaN if it is unknown.
func per(r *compare.Run, metric, op string) (cost, units float64) {
	for i := range r.Step.Rows {
		row := &r.Step.Rows[i]
		if row.Metric == metric && op != "" && (row.Per == op || strings.HasPrefix(row.Per, op+" ")) {
			return row.Value, float64(row.N)
		}
	}
	return math.NaN(), math.NaN()
}

// growth returns a counter's growth over the step, summed over its labels; NaN
// if it is unknown, or known only since a reset.
func growth(r *compare.Run, counter string) float64 {
	sum, found := 0.0, false
	for _, c := range r.Step.Counters {
		if c.Name == counter {
			if c.Reset {
				return math.NaN()
			}
			sum, found = sum+c.Value, true
		}
	}
	if !found {
		return math.NaN()
	}
	return sum
}

// processors returns the host's number of processors; NaN if it was not
// recorded.
func processors(r *compare.Run) float64 {
	if in := r.Trial.Imported; in != nil && in.CPUs > 0 {
		return float64(in.CPUs)
	}
	for _, f := range r.Trial.Host {
		if n, err := strconv.ParseFloat(f.Value, 64); f.Name == "cpus online" && err == nil && n > 0 {
			return n
		}
	}
	return math.NaN()
}
