package importer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// dbUnrated is a benchmark without a rate: LevelDB's db_bench prints only the mean time.
type dbUnrated struct {
	*run
	name string
	mean figure // µs
	rest string // of the line
}

// addRates adds the rates of benchmarks that print none: threads ÷ mean time.
func (d *dbBench) addRates() {
	threads := d.countThreads()
	for _, u := range d.unrated {
		if threads == 0 || mixed(u.name) || u.mean.value <= 0 {
			u.warn("LevelDB's db_bench prints no rate, and its number of threads is unknown: there is no rate")
			continue
		}
		rate := threads * 1e6 / u.mean.value
		u.costs = append(u.costs, account.Denominator{Per: opOperation, Units: rate})
		u.work(math.NaN(), rate, account.Of(opOperation, opOperation), account.Source("threads ÷ mean time"))
		u.ask(0, "threads", strconv.FormatFloat(threads, 'f', -1, 64))
	}
}

// dbWholeEntries are benchmarks of LevelDB whose MB are keys and values.
var dbWholeEntries = []string{"fillseq", "fillbatch", "fillrandom", "fillsync", "overwrite", "readseq", "readreverse"}

// countThreads returns the number of threads, which is the same in all benchmarks of a
// process: the rate by the printed MB ÷ the rate of one thread. It returns 0 if it is unknown.
func (d *dbBench) countThreads() (threads float64) {
	size := func(name string) (float64, bool) {
		v, _, _ := strings.Cut(d.settings.params[name], " ")
		return positive(v)
	}
	keys, known := size("keys")
	values, also := size("values")
	entry := keys + values
	for _, u := range d.unrated {
		speed, unit, _ := strings.Cut(u.rest, " ")
		mb, ok := figureOf(speed)
		if !ok || !strings.HasPrefix(unit, "MB/s") || !slices.Contains(dbWholeEntries, u.name) ||
			mb.value < 20*mb.half || !known || !also || entry == 0 {
			continue
		}
		several := mb.times(u.mean).times(figure{value: (1 << 20) / entry / 1e6})
		n := math.Round(several.value)
		if n < 1 || !several.agrees(figure{value: n}) || threads > 0 && threads != n {
			return 0
		}
		threads = n
	}
	return threads
}

// byThreads adds the number of threads to runs of a benchmark that differ in it, if no
// line has it: mean time × rate is about the number.
func byThreads(runs []*run) {
	var at []float64
	for _, r := range runs {
		mean, rate := r.step.Find(metric.ServiceMeanUS, "", ""), r.step.Find(metric.OpsPerS, "", "")
		if r.workload != fmtDBBench || mean == nil || rate == nil || r.params["threads"] != "" {
			return
		}
		at = append(at, mean.Value*rate.Value/1e6)
	}
	if len(at) == 0 || slices.Max(at) < 1.4*slices.Min(at) {
		return
	}
	for i, r := range runs {
		r.ask(0, "threads", strconv.FormatFloat(math.Round(at[i]), 'f', -1, 64))
		r.guess("the number of threads of %s in %s is mean time × rate", r.step.Name, r.file.path)
	}
}
