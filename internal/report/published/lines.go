package published

import (
	"math"
	"slices"
	"strconv"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/result/layout"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

const (
	perMB = 1024.0 // KB
	perGB = 1 << 30
)

// Summaries returns the steps that have clients with the columns of the insert
// benchmark's tables. A block of targets ends before the next one of firsts;
// the first target of a block is its base.
func Summaries(c *compare.Campaign, base *compare.Target, firsts []*compare.Target) []layout.Step {
	return steps(c, base, firsts, run.summary)
}

// Costs returns the steps that have clients with the columns of the sysbench
// suite's table of costs.
func Costs(c *compare.Campaign, base *compare.Target) []layout.Step {
	return steps(c, base, nil, run.costs)
}

func steps(c *compare.Campaign, base *compare.Target, firsts []*compare.Target,
	columns func(run) map[string]float64) (out []layout.Step) {
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
			*last = append(*last, layout.Line{Tag: t.Name, Values: medians(s, t, columns), Unlike: s.Unlike(first, t) != ""})
		}
		out = append(out, step)
	}
	return out
}

// medians returns the medians of each column over the runs of a step that know it.
func medians(s *compare.Step, t *compare.Target, columns func(run) map[string]float64) map[string]float64 {
	known := map[string][]float64{}
	for _, r := range s.Used(t) {
		for column, v := range columns(run{s, &r}) {
			if quantity.Finite(v) {
				known[column] = append(known[column], v)
			}
		}
	}
	out := map[string]float64{}
	for column, values := range known {
		out[column] = stat.Median(values)
	}
	return out
}

// run is a run of a step. Its numbers are NaN if they are unknown.
type run struct {
	step *compare.Step
	*compare.Run
}

// number returns the number of a key, if there is such a key.
func (r run) number(k compare.Key, ok bool) float64 {
	if row := r.Row(k); ok && row != nil {
		return row.Value
	}
	return math.NaN()
}

func (r run) value(name string) float64 { return r.number(r.step.About(name)) }

// rate returns the throughput of an operation kind.
func (r run) rate(op string) float64 { return r.number(r.step.Rate(op)) }

// per returns a cost per unit of an operation kind, and the number of units.
func (r run) per(name, op string) (cost, units float64) {
	for i := range r.Step.Rows {
		row := &r.Step.Rows[i]
		if row.Metric == name && metric.PerOf(row.Per, op) {
			return row.Value, float64(row.N)
		}
	}
	return math.NaN(), math.NaN()
}

// second returns a cost per second: the cost per unit × units ÷ the length of the
// step; for summaries, which have neither counts nor a length, cost per unit × rate.
func (r run) second(metric, op string) float64 {
	cost, units := r.per(metric, op)
	if total := cost * units / r.Step.Seconds; units != 0 && !math.IsNaN(total) && r.Step.Seconds > 0 {
		return total
	}
	return cost * r.rate(op)
}

// summary has the columns of the insert benchmark's tables. The layouts contain
// only the device and the whole host; figures of a process are no substitute.
func (r run) summary() map[string]float64 {
	about, writes := r.subjects()
	ips, qps := r.twoRates(about, writes)
	reads, _ := r.per(metric.DeviceReads, about)
	readKB, _ := r.per(metric.ReadKB, about)
	writeKB, written := r.per(metric.WriteKB, writes)
	switches, _ := r.per(metric.ContextSwitches, about)
	cpu, _ := r.per(metric.HostCPUUS, about)
	count := r.growth("device.writes")
	return map[string]float64{
		"ips": ips, "qps": qps,
		"rps": r.second(metric.DeviceReads, about), "rmbps": r.second(metric.ReadKB, about) / perMB,
		"wps": count / r.Step.Seconds, "wmbps": r.second(metric.WriteKB, writes) / perMB,
		"rpq": reads, "rkbpq": readKB, "wpi": count / written, "wkbpi": writeKB,
		"csps": r.second(metric.ContextSwitches, about), "cspq": switches,
		"cpups": 100 * r.second(metric.HostCPUUS, about) / 1e6 / r.processors(), "cpupq": cpu,
		"dbgb1": r.value(metric.DataBytes) / perGB, "dbgb2": r.value(metric.DBBytes) / perGB,
		"rss":   r.value(metric.ServerMemoryBytes) / perGB,
		"maxop": r.value(metric.ServiceMaxUS) / 1e6,
		"p50":   r.ofOneClient(metric.IntervalOpsP50), "p99": r.ofOneClient(metric.IntervalOpsP99),
	}
}

// twoRates returns the rows written and the queries a second. A load has no queries;
// the writes of a query-only step are unknown.
func (r run) twoRates(about, writes string) (rows, queries float64) {
	switch {
	case about != writes:
		return r.rate(writes), r.rate(about)
	case r.step.First().Step.WritesRows():
		return r.rate(about), 0
	}
	return math.NaN(), r.rate(about)
}

// subjects returns the main operation of a step and the one that writes; for
// imported transactions both are their queries, the unit of published tables.
func (r run) subjects() (about, writes string) {
	if _, imported := r.step.Rate(opQuery); imported && r.step.Primary == opTransaction {
		return opQuery, opQuery
	}
	return r.step.Primary, r.step.WritesPer
}

// ofOneClient returns a number of a group of one client: these columns are per
// client, and only the sum is known for several clients.
func (r run) ofOneClient(metric string) float64 {
	k, ok := r.step.About(metric)
	one := slices.ContainsFunc(r.Step.Groups, func(g result.Group) bool { return g.Name == k.Group && g.Clients == 1 })
	return r.number(k, ok && one)
}

// costs has the columns of sysbench's table of costs, all per unit of the
// primary operation, or per query of transactions.
func (r run) costs() map[string]float64 {
	rate, each := r.rate(r.step.Primary), 1.0 // queries in a unit
	if queries := r.number(QueryRate(r.step)); r.step.Primary == opTransaction && queries > 0 {
		rate, each = queries, queries/rate
	}
	per := func(metric string) float64 {
		if cost, _ := r.per(metric, opQuery); each != 1 && !math.IsNaN(cost) {
			return cost
		}
		cost, _ := r.per(metric, r.step.Primary)
		return cost / each
	}
	return map[string]float64{
		"cpu/o": 100 * per(metric.HostCPUUS) / 1e6 / r.processors(),
		"cs/o":  per(metric.ContextSwitches), "r/o": per(metric.DeviceReads), "rKB/o": per(metric.ReadKB),
		"wKB/o": per(metric.WriteKB),
		"o/s":   rate,
	}
}

// growth returns a counter's growth over the step, summed over its labels; NaN
// if it is unknown, or known only since a reset.
func (r run) growth(counter string) float64 {
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
func (r run) processors() float64 {
	if in := r.Trial.Imported; in != nil && in.CPUs > 0 {
		return float64(in.CPUs)
	}
	if n, err := strconv.ParseFloat(r.Trial.Host.Value("cpus online"), 64); err == nil && n > 0 {
		return n
	}
	return math.NaN()
}
