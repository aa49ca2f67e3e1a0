package compare

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/layout"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

const (
	perMB = 1024.0 // KB
	perGB = 1 << 30
	// processors is the fact about a host that published percentages of it are of.
	processors = "cpus online"
)

// MergedSteps are the steps of clients with what the insert benchmark's tables
// tell of them. A block of targets ends where the next begins with one of
// firsts; the first target of a block is its base.
func (c *Campaign) MergedSteps(base *Target, firsts []*Target) []layout.Step {
	var out []layout.Step
	for _, s := range c.Steps {
		if s.Primary == "" {
			continue
		}
		step := layout.Step{Name: s.Name}
		first := base // of the block
		for i, t := range c.from(base) {
			if i == 0 || slices.Contains(firsts, t) {
				step.Blocks = append(step.Blocks, nil)
			}
			last := &step.Blocks[len(step.Blocks)-1]
			if len(*last) == 0 {
				first = t
			}
			line := s.summary(t)
			line.Unlike = s.Unlike(first, t) != ""
			*last = append(*last, line)
		}
		out = append(out, step)
	}
	return out
}

// CostTests are the steps of clients with what sysbench's table of costs tells
// of them.
func (c *Campaign) CostTests(base *Target) []layout.Test {
	var out []layout.Test
	for _, s := range c.Steps {
		if s.Primary == "" {
			continue
		}
		test := layout.Test{Name: s.Name}
		for _, t := range c.from(base) {
			line := s.cost(t)
			line.Unlike = s.Unlike(base, t) != ""
			test.Costs = append(test.Costs, line)
		}
		out = append(out, test)
	}
	return out
}

// PublishedDoubts are the doubts that the layouts of published tables have no
// place for: those of the step, and the numbers that may hold what other
// programs did.
func (s *Step) PublishedDoubts(t *Target) []string {
	out := s.Doubts(t)
	var disturbed []string
	for _, metric := range []string{"device_reads", "read_kb", "write_kb", "context_switches", "host_cpu_us"} {
		if k, ok := s.About(metric); ok && s.Number(t, k).Disturbed() {
			disturbed = append(disturbed, metric)
		}
	}
	if len(disturbed) > 0 {
		out = append(out, "what other programs did may be in "+strings.Join(disturbed, ", "))
	}
	return out
}

// QPS is the table in the layout of sysbench's tables. Of the tests that warm
// up or come before the writes it has, as published tables do, the warm-ups of
// range tests, or all where warmUps says so. Notes are remarks by the names of
// tests.
func (r *Relative) QPS(absolute, warmUps bool, notes map[string]string) *layout.QPS {
	out := &layout.QPS{}
	targets := r.Targets
	if !absolute {
		out.Base, targets = r.Base().Name, targets[1:]
	}
	for _, t := range targets {
		out.Columns = append(out.Columns, t.Name)
	}
	add := func(of Group, wanted func(*Step) bool) {
		for _, g := range r.Groups {
			for i := range g.Rows {
				if row := &g.Rows[i]; g.Group == of && wanted(row.Step) {
					out.Rows = append(out.Rows, layout.QPSRow{Test: row.Step.Name, Cells: r.qpsCells(row, absolute), Note: notes[row.Step.Name]})
				}
			}
		}
	}
	for _, g := range groups {
		if g == Before {
			add(g, func(s *Step) bool { return warmUps && !PublishedWarmUp(s) })
			continue
		}
		add(g, func(*Step) bool { return true })
		if g == Range {
			add(Before, PublishedWarmUp)
		}
	}
	return out
}

// PublishedWarmUp tells whether a step is a warm-up that published tables of
// rates have: that of a range test, such as the scan.
func PublishedWarmUp(s *Step) bool {
	return isWarmUp(s.Name) && GroupOf(s) == Before && s.workload() == sysbench && groupByName(s.Name) != Point && groupByName(s.Name) != Write
}

func (r *Relative) qpsCells(row *RelativeRow, absolute bool) []string {
	var out []string
	base := row.Cells[0].AsPrinted()
	for i := range row.Cells {
		switch n := row.Cells[i].AsPrinted(); {
		case absolute:
			out = append(out, n.Text)
		case i > 0 && row.Cells[i].apart != "":
			out = append(out, layout.Fixed(math.NaN(), 0).Text)
		case i > 0:
			out = append(out, layout.Ratio(n, base, r.Compatible))
		}
	}
	return out
}

// from are the targets with the base first.
func (c *Campaign) from(base *Target) []*Target {
	out := []*Target{base}
	for _, t := range c.Targets {
		if t != base {
			out = append(out, t)
		}
	}
	return out
}

// summary is the step's line in the insert benchmark's tables. The layouts know
// the device and the whole host only: what a process did is no substitute.
func (s *Step) summary(t *Target) layout.Summary {
	about, writes := s.Primary, s.WritesPer
	of := func(f func(*Run) float64) float64 { return s.medianOf(t, f) }
	row := func(metric string, unit float64) float64 {
		k, ok := s.About(metric)
		return of(func(r *Run) float64 { return r.value(k, ok) / unit })
	}
	per := func(metric, op string) float64 {
		return of(func(r *Run) float64 { v, _ := r.per(metric, op); return v })
	}
	second := func(metric, op string, unit float64) float64 {
		return of(func(r *Run) float64 { return r.perSecond(s, metric, op) / unit })
	}
	m := layout.Summary{
		Tag:   t.Name,
		Reads: second("device_reads", about, 1), ReadMB: second("read_kb", about, perMB),
		Writes: of(func(r *Run) float64 { return r.counter("device.writes") / r.Step.Seconds }), WriteMB: second("write_kb", writes, perMB),
		ReadsPer: per("device_reads", about), ReadKBPer: per("read_kb", about),
		WritesPer: of(func(r *Run) float64 { return r.counter("device.writes") / r.units("write_kb", writes) }), WriteKBPer: per("write_kb", writes),
		Switches: second("context_switches", about, 1), SwitchesPer: per("context_switches", about),
		CPU: of(func(r *Run) float64 {
			return 100 * r.perSecond(s, "host_cpu_us", about) / 1e6 / r.processors()
		}),
		CPUPer: per("host_cpu_us", about),
		DataGB: row("data_bytes", perGB), DirGB: row("db_bytes", perGB), MemoryGB: row("server_memory_bytes", perGB),
		MaxOp: row("service_max_us", 1e6),
		P50:   s.ofOneClient(t, "interval_ops_p50"), P99: s.ofOneClient(t, "interval_ops_p99"),
	}
	m.IPS, m.QPS = s.twoRates(t)
	return m
}

// twoRates are the rows written and the queries a second. In a load there are no
// queries; what is written by a step that is about queries only is not known.
func (s *Step) twoRates(t *Target) (rows, queries float64) {
	rate := func(op string) float64 {
		k, ok := s.Rate(op)
		return s.medianOf(t, func(r *Run) float64 { return r.value(k, ok) })
	}
	switch {
	case s.Primary != s.WritesPer:
		return rate(s.WritesPer), rate(s.Primary)
	case groupOfKind(s.Primary) == Write || s.Primary == "index":
		return rate(s.Primary), 0
	}
	return math.NaN(), rate(s.Primary)
}

// ofOneClient is a number of a group that is one client: what these columns tell
// is of one client, and of several only their sum is known here.
func (s *Step) ofOneClient(t *Target, metric string) float64 {
	k, ok := s.About(metric)
	return s.medianOf(t, func(r *Run) float64 {
		if !slices.ContainsFunc(r.Step.Groups, func(g result.Group) bool { return g.Name == k.Group && g.Clients == 1 }) {
			return math.NaN()
		}
		return r.value(k, ok)
	})
}

// cost is the step's line in sysbench's table of costs, all per unit of the
// primary operation.
func (s *Step) cost(t *Target) layout.Cost {
	per := func(metric string) float64 {
		return s.medianOf(t, func(r *Run) float64 { v, _ := r.per(metric, s.Primary); return v })
	}
	k, ok := s.Rate(s.Primary)
	return layout.Cost{
		Tag: t.Name,
		CPU: s.medianOf(t, func(r *Run) float64 {
			us, _ := r.per("host_cpu_us", s.Primary)
			return 100 * us / 1e6 / r.processors()
		}),
		Switches: per("context_switches"), Reads: per("device_reads"), ReadKB: per("read_kb"), WriteKB: per("write_kb"),
		Rate: s.medianOf(t, func(r *Run) float64 { return r.value(k, ok) }),
	}
}

// medianOf is the median over the runs that know a number; NaN if none does.
func (s *Step) medianOf(t *Target, f func(*Run) float64) float64 {
	var values []float64
	for _, r := range s.Used(t) {
		if v := f(&r); !math.IsNaN(v) && !math.IsInf(v, 0) {
			values = append(values, v)
		}
	}
	return stat.Median(values)
}

// value is the run's number under a key; NaN if there is none, or no such key.
func (r *Run) value(k Key, ok bool) float64 {
	for i := range r.Step.Rows {
		if row := &r.Step.Rows[i]; ok && KeyOf(row) == k {
			return row.Value
		}
	}
	return math.NaN()
}

// per is a cost per unit of an operation kind, and how many units there were;
// NaN if it is not known.
func (r *Run) per(metric, op string) (cost, units float64) {
	for i := range r.Step.Rows {
		row := &r.Step.Rows[i]
		if row.Metric == metric && op != "" && (row.Per == op || strings.HasPrefix(row.Per, op+" ")) {
			return row.Value, float64(row.N)
		}
	}
	return math.NaN(), math.NaN()
}

func (r *Run) units(metric, op string) float64 {
	_, units := r.per(metric, op)
	return units
}

// total is a cost of the whole step: per unit × units.
func (r *Run) total(metric, op string) float64 {
	cost, units := r.per(metric, op)
	if units == 0 {
		return math.NaN() // how many there were was not recorded
	}
	return cost * units
}

// perSecond is a cost a second; of summaries, which have neither counts nor a
// length, by the rate.
func (r *Run) perSecond(s *Step, metric, op string) float64 {
	if v := r.total(metric, op) / r.Step.Seconds; !math.IsNaN(v) && r.Step.Seconds > 0 {
		return v
	}
	cost, _ := r.per(metric, op)
	k, ok := s.Rate(op)
	return cost * r.value(k, ok)
}

// counter is the growth of a counter over the step, of all its labels; NaN if it
// is not known, or only from a reset on.
func (r *Run) counter(name string) float64 {
	sum, found := 0.0, false
	for _, c := range r.Step.Counters {
		if c.Name == name {
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

// processors is how many the host has; NaN if that was not recorded.
func (r *Run) processors() float64 {
	if in := r.Trial.Imported; in != nil && in.CPUs > 0 {
		return float64(in.CPUs)
	}
	for _, f := range r.Trial.Host {
		if n, err := strconv.ParseFloat(f.Value, 64); f.Name == processors && err == nil && n > 0 {
			return n
		}
	}
	return math.NaN()
}
