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

// dbBench parses the output of db_bench: for each benchmark, lines of intervals, a
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

func isDBBench(head []string) bool {
	for _, l := range head {
		settings := strings.HasPrefix(l, "Keys: ") && strings.Contains(l, " bytes each")
		if settings || dbSummary.MatchString(l) || strings.HasPrefix(l, "ops_sec\tmb_sec\t") {
			return true
		}
	}
	return false
}

var (
	dbSummary  = regexp.MustCompile(`^(\S+)\s+: +(\d+\.\d+) micros/op(?:; *| +(\d+) ops/sec)(.*)$`)
	dbTotals   = regexp.MustCompile(`^ (\d+\.\d+) seconds (\d+) operations;`)
	dbProgress = regexp.MustCompile(`\.\.\. thread (\d+): \((\d+),(\d+)\) ops and \([\d.]+,[\d.]+\) ops/second in \(([\d.]+),([\d.]+)\) seconds`)
	dbOf       = regexp.MustCompile(`^Microseconds per (\S+):$`)
	dbCount    = regexp.MustCompile(`^Count: (\d+) +Average: (\d+\.\d+) +StdDev: `)
	dbMax      = regexp.MustCompile(`^Min: \S+ +Median: (\S+) +Max: (\d+(?:\.\d+)?)$`)
	dbPercent  = regexp.MustCompile(`(P\d+(?:\.\d+)?): (\d+\.\d+)`)
	dbRepeated = regexp.MustCompile(`^\S+ \[(?:AVG|CI95|MEDIAN) +(\d+) runs\]`)
	dbWarmUp   = regexp.MustCompile(`^Warming up benchmark by running (\d+) times`)
	dbThreads  = regexp.MustCompile(`\bdb_bench\b.* --?threads[= ](\d+)`)
)

// parseDBBench reads the output of db_bench, or a table of such results.
func parseDBBench(files []*file, _ *Options, ps *hint.Problems) []*run {
	d := &dbBench{input: &input{file: files[0], ps: ps}, settings: newRun(files[0], fmtDBBench)}
	d.settings.tool, d.settings.engine = fmtDBBench, "rocksdb"
	if slices.ContainsFunc(d.head, func(l string) bool { return strings.HasPrefix(l, "ops_sec\t") }) {
		return parseDBTable(d.input)
	}
	d.each(d.line)
	d.refuseIf(len(d.runs) == 0, "run the benchmark again", "db_bench's output ends before the first summary (NAME "+
		": N micros/op …)")
	d.addRates()
	switch n, last := len(d.intervals), d.runs[len(d.runs)-1]; {
	case n == 0:
	case d.errors == nil:
		last.warnings = append(last.warnings,
			remark("%s:%d: the output ends with intervals of a benchmark that has no summary: it is left out, its "+
				"name is "+
				"unknown",
				d.path, d.intervals[n-1].line))
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

func (d *dbBench) line(line string) {
	switch {
	case dbProgress.MatchString(line):
		d.interval(dbProgress.FindStringSubmatch(line))
	case dbSummary.MatchString(line):
		d.summary(dbSummary.FindStringSubmatch(line))
	case strings.Contains(line, " micros/op") && !d.last:
		d.refuse("", "%q: N micros/op; or N micros/op N ops/sec was expected", clip(line))
	case strings.Contains(line, " micros/op") && len(d.runs) > 0:
		d.runs[len(d.runs)-1].warn("%s:%d: the output is cut off in the result of another benchmark", d.path, d.at)
	case dbRepeated.MatchString(line):
		n, _ := strconv.Atoi(dbRepeated.FindStringSubmatch(line)[1])
		d.repeated(n)
	case dbWarmUp.MatchString(line):
		d.warmups, _ = strconv.Atoi(dbWarmUp.FindStringSubmatch(line)[1])
		d.settings.drop("db_bench's warm-up runs")
	case dbThreads.MatchString(line):
		d.settings.ask(d.at, "threads", dbThreads.FindStringSubmatch(line)[1])
	case dbOf.MatchString(line):
		d.percent = map[string]float64{}
	case d.percent != nil && d.last && d.cut: // it may end in the middle of a number
	case d.percent != nil:
		d.histogram(line)
	case strings.HasPrefix(line, "Nanoseconds per "), strings.HasPrefix(line, "Milliseconds per "):
		d.refuse("", "%q: Microseconds per operation were expected", clip(line))
	default:
		d.setting(line)
	}
}

// setting reads the lines before the results.
func (d *dbBench) setting(line string) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	asked := map[string]string{"Keys": "keys", "Values": "values", "Entries": "entries",
		"Compression": "compression"}[name]
	switch {
	case name == "RocksDB" || name == "LevelDB":
		d.settings.engine, d.settings.version = strings.ToLower(name), name+" "+strings.TrimPrefix(value, "version ")
	case name == "CPU":
		word, _, _ := strings.Cut(value, " ")
		if v, ok := whole(word); ok {
			d.settings.cpus = int(v)
		}
	case asked != "":
		d.settings.ask(d.at, asked, value)
	}
}

func (d *dbBench) interval(m []string) {
	i := dbInterval{line: d.at}
	thread, _ := whole(m[1])
	i.thread = int(thread)
	i.ops, _ = number(m[2])
	i.length, _ = number(m[4])
	i.end, _ = number(m[5])
	if i.length > 0 && i.end > 0 {
		d.intervals = append(d.intervals, i)
	}
}

// dbCoarse is the rate below which its digits, which are whole, are too few.
const dbCoarse = 100

// summary begins the run of a benchmark; the intervals before it belong to it.
func (d *dbBench) summary(m []string) {
	failed := strings.HasSuffix(m[4], " failure)") // LevelDB without the library of a compression
	if d.warm = d.warmups > 0; d.warm || failed {
		if d.intervals, d.percent = nil, nil; failed {
			d.settings.drop("the time of " + m[1] + ", which failed")
		} else {
			d.warmups--
		}
		return
	}
	r := newDBRun(d.settings, d.name(m[1]), m[1])
	_, r.trial = repetition(stem(d.path))
	mean, _ := figureOf(m[2])
	rate, rated := figureOf(m[3])
	at := []account.With{account.Of(opOperation, opOperation), account.Source("summary")}
	rows, n := math.NaN(), int64(0)
	if t := dbTotals.FindStringSubmatch(m[4]); t != nil {
		seconds, _ := figureOf(t[1])
		n, _ = whole(t[2])
		rows, r.step.Seconds = float64(n), seconds.value
		r.put(metric.DurationS, r.step.Seconds)
		at = append(at, account.Count(n))
		printed := figure{rate.value, 1}.times(seconds) // without decimals
		if all := (figure{value: rows}); rated && !all.agrees(printed) {
			r.contradictIf(true, "operations", all, "ops/sec × seconds", printed)
		} else if rated && rate.value < dbCoarse {
			rate.value = account.PerSecond(rows, seconds.value)
		}
	}
	switch {
	case rated && rate.value == 0:
		r.warn("db_bench printed 0 ops/sec, which is less than 1: there is no rate")
	case rated:
		r.costs = append(r.costs, account.Denominator{Per: opOperation, Units: rate.value, N: n})
		r.work(rows, rate.value, at...)
	default:
		d.unrated = append(d.unrated, dbUnrated{run: r, name: m[1], mean: mean, rest: m[4]})
	}
	if mean.value > 0 {
		r.put(metric.ServiceMeanUS, mean.value, at...)
	}
	if found, ok := between(m[4], "(", " found)"); ok {
		r.step.Note("Keys found: " + found + ".")
	}
	r.dropIf(strings.Contains(m[4], "MB/s"), "db_bench's MB/s")
	r.dropIf(strings.Contains(m[4], "reads:"), "db_bench's numbers of reads and writes")
	d.addIntervals(r, m[1])
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

// opOperation is the only kind of operation in results of db_bench.
const opOperation = "operation"

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

// mixed reports whether a benchmark has threads of different kinds: its lines do
// not distinguish them.
func mixed(name string) bool {
	return strings.Contains(name, "while") || strings.Contains(name, "readrandomwriterandom")
}

// addIntervals adds the intervals of all threads, merged by their numbers.
func (d *dbBench) addIntervals(r *run, name string) {
	if len(d.intervals) == 0 {
		return
	}
	_, byThread := groups(d.intervals, func(i dbInterval) int { return i.thread })
	threads := 1 + slices.MaxFunc(d.intervals, func(a, b dbInterval) int { return a.thread - b.thread }).thread
	if mixed(name) {
		r.step.Note("Its intervals are left out: they do not distinguish readers and writers.")
		return
	}
	if len(byThread) != threads {
		r.step.Note("Its intervals are left out: they are not of all threads.")
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
		n := math.Round(rate * length)
		intervals = append(intervals, account.NewInterval(end, length, n))
		r.emit(result.Line{Source: "ops", T: end, DT: length, Group: opOperation, Op: opOperation, Ops: int64(n),
			Rows: int64(n)})
	}
	if rows := r.step.Find(metric.Rows, "", ""); rows != nil && sum.exceeds(figure{value: rows.Value}) {
		r.contradictIf(true, "the sum of its intervals", sum, "operations", figure{value: rows.Value})
	}
	r.addIntervals(opOperation, intervals, false)
}

// histogram reads the lines of a histogram after its head. It belongs to the last
// summary; if there are several, of reads and writes, its head names the kind.
func (d *dbBench) histogram(line string) {
	if len(d.runs) == 0 || d.warm {
		d.percent = nil
		return
	}
	switch {
	case dbCount.MatchString(line):
		n, _ := number(dbCount.FindStringSubmatch(line)[1])
		d.percent["count"] = n
	case dbMax.MatchString(line):
		m := dbMax.FindStringSubmatch(line)
		if d.percent["median"], _ = number(m[1]); d.settings.engine == "leveldb" { // it has no other percentiles
			d.percent["P50"] = d.percent["median"]
		}
		d.percent["max"], _ = number(m[2])
	case strings.HasPrefix(line, "Percentiles:"):
		r, median := d.runs[len(d.runs)-1], figure{value: d.percent["median"]}
		for _, m := range dbPercent.FindAllStringSubmatch(line, -1) {
			d.percent[m[1]], _ = number(m[2])
		}
		if p50 := (figure{d.percent["P50"], 0.005}); !p50.agrees(median) {
			r.contradictIf(true, "P50 of a histogram", p50, "its median", median)
		}
		d.addHistogram(r)
		d.percent = nil
	default: // the buckets; LevelDB prints no percentiles
		if d.percent["max"] > 0 {
			d.addHistogram(d.runs[len(d.runs)-1])
		}
		d.percent = nil
	}
}

// addHistogram adds the percentiles, which db_bench interpolates within buckets
// whose width is up to half of their lower bound.
func (d *dbBench) addHistogram(r *run) {
	if r.step.Find(metric.ServiceP50US, "", "") != nil {
		taken := []string{metric.ServiceP50US, metric.ServiceP99US, metric.ServiceP999US, metric.ServiceMaxUS}
		r.step.Rows = slices.DeleteFunc(r.step.Rows, func(row metric.Row) bool {
			return slices.Contains(taken,
				row.Metric)
		})
		r.step.Curves, d.mixed = nil, r
	}
	if d.mixed == r {
		r.step.Note("It has a histogram of each kind of operation: percentiles of all together are unknown.")
		return
	}
	n := int64(d.percent["count"])
	at := []account.With{account.Of(opOperation, opOperation), account.Count(n),
		account.Source("db_bench's histogram, interpolated within its buckets")}
	if rows := r.step.Find(metric.Rows, "", ""); rows != nil {
		switch count, all := (figure{value: d.percent["count"]}), (figure{value: rows.Value}); {
		case count.exceeds(all):
			r.contradictIf(true, "the count of a histogram", count, "operations", all)
		case all.exceeds(count):
			at = append(at, warned("of fewer times than operations: the histogram is of some of them, or of batches"))
		}
	}
	c := metric.Curve{Group: opOperation, Op: opOperation, Measure: "service", Count: n}
	for _, p := range []struct {
		name, metric string // "": only in the curve
		percent      float64
	}{
		{"P50", metric.ServiceP50US, 50}, {"P75", "", 75}, {"P99", metric.ServiceP99US, 99},
		{"P99.9", metric.ServiceP999US, 99.9}, {"P99.99", "", 99.99}, {"max", metric.ServiceMaxUS, 100},
	} {
		v, ok := d.percent[p.name]
		if ok && v > 0 && p.metric != "" {
			r.put(p.metric, v, at...)
		}
		if ok {
			c.Points = append(c.Points, [2]float64{p.percent, v})
		}
	}
	if n > 0 {
		r.step.Curves = append(r.step.Curves, c)
	}
}
