package importer

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// dbBench reads the output of db_bench: for each benchmark, lines of intervals, a
// summary, and a histogram.
type dbBench struct {
	*input
	settings  *run // with the settings that the head of the output reports for all runs
	intervals []dbInterval
	runs      []*run
	unrated   []dbUnrated
	warmups   int                // runs that are still to be left out
	warm      bool               // the last summary was that of one
	percent   map[string]float64 // of the histogram being read
	mixed     *run               // the last one with histograms of several kinds of operations
}

// dbInterval is an interval of one thread.
type dbInterval struct {
	line, thread int
	ops          float64
	length, end  float64 // seconds
}

const dbSummary = `^(?P<name>\S+)\s+: +(?P<mean>\d+\.\d+) micros/op(?:; *| +(?P<rate>\d+) ops/sec)(?P<rest>.*)$`

var isDBBench = anyLine(`^Keys: .* bytes each|^ops_sec\tmb_sec\t|` + dbSummary)

var dbGrammar = grammar[*dbBench]{
	on(`\.\.\. thread (?P<thread>\d+): \((?P<ops>\d+),\d+\) ops and \([\d.]+,[\d.]+\) ops/second in `+
		`\((?P<length>[\d.]+),(?P<end>[\d.]+)\) seconds`, func(d *dbBench, m match) {
		i := dbInterval{d.lineNumber, m.int("thread"), m.number("ops"), m.number("length"), m.number("end")}
		if i.length > 0 && i.end > 0 {
			d.intervals = append(d.intervals, i)
		}
	}),
	on(dbSummary, (*dbBench).summary),
	on(` micros/op`, func(d *dbBench, m match) {
		d.refuseIf(!d.last, "", "%q: N micros/op; or N micros/op N ops/sec was expected", clip(m.line))
		if len(d.runs) > 0 {
			d.lastRun().warn("%s:%d: the output is cut off in the result of another benchmark", d.path, d.lineNumber)
		}
	}),
	on(`^\S+ \[(?:AVG|CI95|MEDIAN) +(?P<n>\d+) runs\]`, func(d *dbBench, m match) { d.repeated(m.int("n")) }),
	on(`^Warming up benchmark by running (?P<n>\d+) times`, func(d *dbBench, m match) {
		d.warmups = m.int("n")
		d.settings.drop("db_bench's warm-up runs")
	}),
	on(`\bdb_bench\b.* --?threads[= ](?P<threads>\d+)`, (*dbBench).asked),
	on(`^Microseconds per (\S+):$`, func(d *dbBench, _ match) { d.percent = map[string]float64{} }),
}

// dbSettings are the lines outside of histograms.
var dbSettings = grammar[*dbBench]{
	on(`^(?:Nanoseconds|Milliseconds) per `, func(d *dbBench, m match) {
		d.refuse("", "%q: Microseconds per operation were expected", clip(m.line))
	}),
	on(`^(?P<engine>RocksDB|LevelDB):\s*(?:version )?(?P<version>.*?)\s*$`, func(d *dbBench, m match) {
		d.settings.engine, d.settings.version = strings.ToLower(m.text("engine")),
			m.text("engine")+" "+m.text("version")
	}),
	on(`^CPU:\s*(?P<n>\d{1,18})(?: |$)`, func(d *dbBench, m match) { d.settings.cpus = m.int("n") }),
	on(`^Keys:\s*(?P<keys>.*?)\s*$`, (*dbBench).asked),
	on(`^Values:\s*(?P<values>.*?)\s*$`, (*dbBench).asked),
	on(`^Entries:\s*(?P<entries>.*?)\s*$`, (*dbBench).asked),
	on(`^Compression:\s*(?P<compression>.*?)\s*$`, (*dbBench).asked),
}

func parseDBBench(files []*file, _ *Options, ps *hint.Problems) []*run {
	d := &dbBench{input: &input{file: files[0], ps: ps}, settings: newRun(files[0], fmtDBBench)}
	d.settings.tool, d.settings.engine = fmtDBBench, "rocksdb"
	if isDBTable(d.head) {
		return parseDBTable(d.input)
	}
	d.each(d.line)
	d.refuseIf(len(d.runs) == 0, "run the benchmark again",
		"db_bench's output ends before the first summary (NAME : N micros/op …)")
	d.rateUnrated()
	last := d.lastRun()
	switch n := len(d.intervals); {
	case n == 0:
	case d.errors == nil:
		last.warnings = append(last.warnings, noted("%s:%d: the output ends with intervals of a benchmark that has "+
			"no "+
			"summary: it is left out, its name is unknown", d.path, d.intervals[n-1].line))
	case len(d.runs) == 1:
		d.addIntervals(last, last.step.Name)
	default:
		last.warn("the intervals in %s are left out: they do not name their benchmarks", d.errors.path)
	}
	for _, r := range d.runs {
		if r.version == "" { // the standard error has it
			r.engine, r.version, r.cpus = d.settings.engine, d.settings.version, d.settings.cpus
		}
	}
	return d.runs
}

func (d *dbBench) lastRun() *run { return d.runs[len(d.runs)-1] }

func (d *dbBench) asked(m match) { (&log{run: d.settings, input: d.input}).asked(m) }

func (d *dbBench) line(line string) {
	switch {
	case dbGrammar.read(d, line):
	case d.percent == nil:
		dbSettings.read(d, line)
	case !d.torn:
		d.histogram(line)
	}
}

// dbCoarse is the rate below which its digits, which are whole, are too few.
const dbCoarse = 100

var dbTotals = regexp.MustCompile(`^ (\d+\.\d+) seconds (\d+) operations;`)

// summary begins the run of a benchmark; the intervals before it belong to it.
func (d *dbBench) summary(m match) {
	name, text := m.text("name"), m.text("rest")
	failed := strings.HasSuffix(text, " failure)") // LevelDB without the library of a compression
	if d.warm = d.warmups > 0; d.warm || failed {
		if d.intervals, d.percent = nil, nil; failed {
			d.settings.drop("the time of " + name + ", which failed")
		} else {
			d.warmups--
		}
		return
	}
	r := newDBRun(d.settings, d.name(name), name)
	_, r.trial = repetition(stem(d.path))
	mean := m.figure("mean")
	rate, rated := figureOf(m.text("rate"))
	options := []account.With{account.Of(opOperation, opOperation), account.Source("summary")}
	rows, n := math.NaN(), int64(0)
	if t := dbTotals.FindStringSubmatch(text); t != nil {
		seconds, _ := figureOf(t[1])
		n, _ = wholeNumber(t[2])
		rows = float64(n)
		r.lasted(seconds.value)
		options = append(options, account.Count(n))
		printed := figure{rate.value, 1}.times(seconds) // without decimals
		if rated && r.requireSame("operations", newFigure(rows), "ops/sec × seconds", printed) &&
			rate.value < dbCoarse {
			rate.value = account.PerSecond(rows, seconds.value)
		}
	}
	switch {
	case rated && rate.value == 0:
		r.warn("db_bench printed 0 ops/sec, which is less than 1: there is no rate")
	case rated:
		r.per(opOperation, rate.value, n)
		r.work(rows, rate.value, options...)
	default:
		d.unrated = append(d.unrated, dbUnrated{run: r, name: name, mean: mean, figures: text})
	}
	if mean.value > 0 {
		r.put(metric.ServiceMeanUS, mean.value, options...)
	}
	found, ok := textBetween(text, "(", " found)")
	r.noteIf(ok, "Keys found: %s.", found)
	r.dropIf(strings.Contains(text, "MB/s"), "db_bench's MB/s")
	r.dropIf(strings.Contains(text, "reads:"), "db_bench's numbers of reads and writes")
	d.addIntervals(r, name)
	d.intervals, d.percent = nil, nil
	d.runs = append(d.runs, r)
}

// repeated makes the last n runs trials of one step: a benchmark with [XN] runs N times.
func (d *dbBench) repeated(n int) {
	if n > len(d.runs) {
		return
	}
	same := d.runs[len(d.runs)-n:]
	if slices.ContainsFunc(same, func(r *run) bool { return r.step.Doc != same[0].step.Doc }) {
		return
	}
	for i, r := range same {
		r.step.Name, r.trial = same[0].step.Name, max(same[0].trial, 1)+i
	}
}

// newDBRun returns the run of a benchmark, with settings.
func newDBRun(settings *run, name, benchmark string) *run {
	r := new(*settings)
	r.plan, r.params, r.dropped = slices.Clone(r.plan), maps.Clone(r.params), slices.Clone(r.dropped)
	r.step.Name, r.step.Doc = name, "db_bench, benchmark "+benchmark
	r.about(opOperation, 0, opOperation)
	return r
}

// name returns the step's name: the benchmark's, with a number if it is repeated in
// one output, on the data of earlier runs.
func (d *dbBench) name(benchmark string) string {
	n := 1
	for _, name := range stepsOf(d.runs) {
		if name, _, _ := strings.Cut(name, "#"); name == benchmark {
			n++
		}
	}
	if n > 1 {
		return benchmark + "#" + strconv.Itoa(n)
	}
	return benchmark
}

// hasMixedThreads reports whether a benchmark has threads of different kinds: its lines do
// not distinguish them.
func hasMixedThreads(name string) bool {
	return strings.Contains(name, "while") || strings.Contains(name, "readrandomwriterandom")
}

// addIntervals adds the intervals of all threads, merged by their numbers.
func (d *dbBench) addIntervals(r *run, name string) {
	if len(d.intervals) == 0 {
		return
	}
	_, byThread := groups(d.intervals, func(i dbInterval) int { return i.thread })
	threads := 1 + slices.Max(slices.Collect(maps.Keys(byThread)))
	if hasMixedThreads(name) || len(byThread) != threads {
		r.noteIf(hasMixedThreads(name), "Its intervals are left out: they do not distinguish readers and writers.")
		r.noteIf(!hasMixedThreads(name), "Its intervals are left out: they are not of all threads.")
		return
	}
	r.step.Groups[0].Clients = threads
	r.ask(0, "threads", strconv.Itoa(threads))
	limit := math.MaxInt
	for _, list := range byThread {
		limit = min(limit, len(list))
	}
	var intervals []account.Interval
	var sum figure
	for k := range limit {
		var end, length, rate float64
		for t := range threads {
			i := byThread[t][k]
			sum.value += i.ops
			rate += account.PerSecond(i.ops, i.length)
			end, length = max(end, i.end), max(length, i.length)
		}
		n := int64(math.Round(rate * length))
		line := result.Line{T: end, DT: length, Group: opOperation, Op: opOperation, Ops: n, Rows: n}
		intervals = append(intervals, r.emitInterval(line))
	}
	if rows := r.step.Find(metric.Rows, "", ""); rows != nil {
		r.requireWithin("the sum of its intervals", sum, "operations", newFigure(rows.Value))
	}
	r.addIntervals(opOperation, intervals, false)
}

// The lines of a histogram. LevelDB prints no percentiles.
var (
	dbCount   = regexp.MustCompile(`^Count: (\d+) +Average: (\d+\.\d+) +StdDev: `)
	dbMax     = regexp.MustCompile(`^Min: \S+ +Median: (\S+) +Max: (\d+(?:\.\d+)?)$`)
	dbPercent = regexp.MustCompile(`(P\d+(?:\.\d+)?): (\d+\.\d+)`)
)

// histogram reads the lines of a histogram after its head. It belongs to the last
// summary; if there are several, of reads and writes, its head names the kind.
func (d *dbBench) histogram(line string) {
	if len(d.runs) == 0 || d.warm {
		d.percent = nil
		return
	}
	r := d.lastRun()
	if m := dbCount.FindStringSubmatch(line); m != nil {
		d.percent["count"], _ = number(m[1])
		return
	}
	if m := dbMax.FindStringSubmatch(line); m != nil {
		if d.percent["median"], _ = number(m[1]); d.settings.engine == "leveldb" {
			d.percent["P50"] = d.percent["median"]
		}
		d.percent["max"], _ = number(m[2])
		return
	}
	if strings.HasPrefix(line, "Percentiles:") {
		for _, m := range dbPercent.FindAllStringSubmatch(line, -1) {
			d.percent[m[1]], _ = number(m[2])
		}
		r.requireSame("P50 of a histogram", figure{d.percent["P50"], 0.005}, "its median",
			newFigure(d.percent["median"]))
		d.addHistogram(r)
	} else if d.percent["max"] > 0 { // the buckets
		d.addHistogram(r)
	}
	d.percent = nil
}

// dbPercentiles are the percentiles of a histogram, and the metrics of some.
var dbPercentiles = []struct {
	name, metric string // "": only in the curve
	percent      float64
}{
	{"P50", metric.ServiceP50US, 50}, {"P75", "", 75}, {"P99", metric.ServiceP99US, 99},
	{"P99.9", metric.ServiceP999US, 99.9}, {"P99.99", "", 99.99}, {"max", metric.ServiceMaxUS, 100},
}

// addHistogram adds the percentiles, which db_bench interpolates within buckets
// whose width is up to half of their lower bound.
func (d *dbBench) addHistogram(r *run) {
	if r.step.Find(metric.ServiceP50US, "", "") != nil {
		r.step.Rows = slices.DeleteFunc(r.step.Rows, func(row metric.Row) bool {
			return strings.HasPrefix(row.Metric, "service_") && row.Metric != metric.ServiceMeanUS
		})
		r.step.Curves, d.mixed = nil, r
	}
	if d.mixed == r {
		r.note("It has a histogram of each kind of operation: percentiles of all together are unknown.")
		return
	}
	n := int64(d.percent["count"])
	options := []account.With{account.Of(opOperation, opOperation), account.Count(n),
		account.Source("db_bench's histogram, interpolated within its buckets")}
	if rows := r.step.Find(metric.Rows, "", ""); rows != nil {
		count, operations := newFigure(d.percent["count"]), newFigure(rows.Value)
		if r.requireWithin("the count of a histogram", count, "operations", operations) && operations.exceeds(count) {
			options = append(options, warned("of fewer times than operations: the histogram is of some of them, or "+
				"of batches"))
		}
	}
	c := metric.Curve{Group: opOperation, Op: opOperation, Measure: "service", Count: n}
	for _, p := range dbPercentiles {
		v, ok := d.percent[p.name]
		if ok && v > 0 && p.metric != "" {
			r.put(p.metric, v, options...)
		}
		if ok {
			c.Points = append(c.Points, [2]float64{p.percent, v})
		}
	}
	if n > 0 {
		r.step.Curves = append(r.step.Curves, c)
	}
}

// dbUnrated is a benchmark without a rate: LevelDB's db_bench prints only the mean time.
type dbUnrated struct {
	*run
	name    string
	mean    figure // µs
	figures string // of the line
}

// rateUnrated adds the rates of benchmarks that print none: threads ÷ mean time.
func (d *dbBench) rateUnrated() {
	threads := d.countThreads()
	for _, u := range d.unrated {
		if threads == 0 || hasMixedThreads(u.name) || u.mean.value <= 0 {
			u.warn("LevelDB's db_bench prints no rate, and its number of threads is unknown: there is no rate")
			continue
		}
		rate := threads * 1e6 / u.mean.value
		u.per(opOperation, rate, 0)
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
		return positiveNumber(v)
	}
	keys, keysKnown := size("keys")
	values, valuesKnown := size("values")
	for _, u := range d.unrated {
		speed, unit, _ := strings.Cut(u.figures, " ")
		mb, ok := figureOf(speed)
		if !ok || !strings.HasPrefix(unit, "MB/s") || !slices.Contains(dbWholeEntries, u.name) ||
			mb.value < 20*mb.half || !keysKnown || !valuesKnown || keys+values == 0 {
			continue
		}
		several := mb.times(u.mean).times(newFigure((1 << 20) / (keys + values) / 1e6))
		n := math.Round(several.value)
		if n < 1 || !several.agrees(newFigure(n)) || threads > 0 && threads != n {
			return 0
		}
		threads = n
	}
	return threads
}

// byThreads adds the number of threads to runs of a benchmark that differ in it, if no
// line has it: mean time × rate is about the number.
func byThreads(runs []*run) {
	var threads []float64
	for _, r := range runs {
		mean, rate := r.step.Find(metric.ServiceMeanUS, "", ""), r.step.Find(metric.OpsPerS, "", "")
		if r.workload != fmtDBBench || mean == nil || rate == nil || r.params["threads"] != "" {
			return
		}
		threads = append(threads, mean.Value*rate.Value/1e6)
	}
	if len(threads) == 0 || slices.Max(threads) < 1.4*slices.Min(threads) {
		return
	}
	for i, r := range runs {
		r.ask(0, "threads", strconv.FormatFloat(math.Round(threads[i]), 'f', -1, 64))
		r.guess("the number of threads of %s in %s is mean time × rate", r.step.Name, r.file.path)
	}
}
