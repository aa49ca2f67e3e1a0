package cost

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
)

// Ask is a demand on a step's primary operation.
type Ask struct {
	Rate float64 // units per second; 0: as many as were measured
	Rows float64 // in the database; 0: as many as there were
}

// Range is a median over trials, with the least and the greatest of them.
type Range struct{ Value, Low, High float64 }

func (r Range) times(f float64) Range { return Range{r.Value * f, r.Low * f, r.High * f} }

// Need is the hardware that a target needs for a demand: what was measured per operation,
// times its rate. It has many fields: one for each kind of hardware.
type Need struct {
	Target *compare.Target
	Unit   string  // what is counted
	Rate   float64 // per second, as asked for
	Most   Range   // per second, as measured
	Rows   float64

	Cores        Range
	ReadsPerS    Range // requests to the device
	ReadBytes    Range // per second
	WrittenBytes Range // per second
	Disk         Range // bytes
	Memory       Range // bytes, as measured

	// Busy is which share of the machine's processors it used at the measured rate: near 1,
	// they are what limits it. 0: unknown.
	Busy float64
	// Space and Write are the measured amplifications.
	Space, Write Range
	// Missing is what is not known, with the reason; Refused why nothing is said.
	Missing []string
	Refused string
}

// Storage returns what storage has to hold and do.
func (n *Need) Storage() Storage {
	return Storage{Bytes: n.Disk.Value, ReadsPerS: n.ReadsPerS.Value, ReadBytes: n.ReadBytes.Value, WrittenBytes: n.WrittenBytes.Value}
}

// TBPerYear returns how many 10^12 bytes are written in a year.
func (n *Need) TBPerYear() Range { return n.WrittenBytes.times(SecondsPerYear / 1e12) }

// UserBytes returns how many bytes users write per second; 0: unknown.
func (n *Need) UserBytes() float64 {
	if n.Write.Value == 0 {
		return 0
	}
	return n.WrittenBytes.Value / n.Write.Value
}

// Of returns what a target needs to do a step's primary operation as asked. It refuses what
// is more than was measured: a database has a wall somewhere above, and nobody knows where.
func Of(s *compare.Step, t *compare.Target, ask Ask) (n Need) {
	m := measured{s, t, &n}
	n.Target = t
	k, _ := s.About("")
	n.Unit = cmp.Or(k.Op, s.Primary)
	rate := s.Number(t, k)
	if rate.Missing != "" {
		n.Refused = rate.Missing
		return n
	}
	n.Most = rangeOf(rate)
	n.Rate = cmp.Or(ask.Rate, n.Most.Value)
	if n.Rate > n.Most.High {
		n.Refused = fmt.Sprintf("it did not reach more than %.4g a second", n.Most.High)
		return n
	}
	n.Cores = m.perSecond("cpu_us").times(1e-6)
	n.ReadsPerS = m.perSecond("device_reads")
	n.ReadBytes = m.perSecond("read_kb").times(1024)
	n.WrittenBytes = m.perSecond("write_kb").times(1024)
	n.Memory = m.whole("server_memory_bytes")
	n.Space, n.Write = m.whole("space_amplification"), m.whole("write_amplification")
	m.disk(ask)
	if cpus, err := strconv.ParseFloat(t.Trials[0].Host.Value("cpus usable"), 64); err == nil && cpus > 0 {
		n.Busy = n.Cores.Value / cpus * n.Most.Value / n.Rate
	}
	return n
}

// measured are the numbers of a target in a step.
type measured struct {
	step   *compare.Step
	target *compare.Target
	need   *Need
}

func rangeOf(n compare.Number) Range { return Range{n.Value, n.Low, n.High} }

func (m measured) number(k compare.Key) (Range, bool) {
	if own, ok := compare.Undisturbed(m.step, k, m.target); ok {
		k = own
	}
	n := m.step.Number(m.target, k)
	switch {
	case n.Missing != "":
		m.need.Missing = append(m.need.Missing, m.label(k.Metric)+": "+n.Missing)
	case n.Disturbed():
		m.need.Missing = append(m.need.Missing, m.label(k.Metric)+": other programs took part in it")
	default:
		return rangeOf(n), true
	}
	return Range{}, false
}

func (m measured) label(name string) string { return metric.Label(name) }

// whole returns a number of the step.
func (m measured) whole(name string) Range {
	k, _ := m.step.About(name)
	r, _ := m.number(k)
	return r
}

// perSecond returns a cost per second at the rate that is asked for. It was measured per
// unit of the primary operation or, of what is written, of the writing one.
func (m measured) perSecond(name string) Range {
	k, _ := m.step.About(name)
	r, ok := m.number(k)
	if !ok {
		return Range{}
	}
	rate := m.need.Rate
	if !k.PerOf(m.need.Unit) {
		of, ok := m.step.Find("rows_per_s", func(of compare.Key) bool { return k.PerOf(of.Op) })
		n := m.step.Number(m.target, of)
		if !ok || n.Missing != "" {
			m.need.Missing = append(m.need.Missing, m.label(name)+": it is not measured per "+m.need.Unit)
			return Range{}
		}
		rate *= n.Value / m.need.Most.Value
	}
	return r.times(rate)
}

// disk returns the space of so many rows: files of tables and indexes grow with them, logs do
// not.
func (m measured) disk(ask Ask) {
	all, ok := m.number(compare.Key{Metric: "db_bytes"})
	live, rows := m.whole("live_bytes"), m.whole("live_rows")
	n := m.need
	n.Rows = cmp.Or(ask.Rows, rows.Value)
	if !ok {
		return
	}
	if n.Disk = all; n.Rows == rows.Value {
		return
	}
	if rows.Value == 0 || n.Space.Value == 0 {
		n.Missing, n.Disk = append(n.Missing, "space of another number of rows: it is not known how it grows"), Range{}
		return
	}
	data := n.Space.times(live.Value)
	fixed := max(0, all.Value-data.Value)
	grown := data.times(n.Rows / rows.Value)
	n.Disk = Range{grown.Value + fixed, grown.Low + fixed, grown.High + fixed}
}

// Month is the price of a need in a month.
type Month struct {
	Bill
	Cores, Memory float64
}

// Sum returns the whole price.
func (m Month) Sum() float64 { return m.Bill.Sum() + m.Cores + m.Memory }

// Price returns what a need costs in a month.
func (c *Card) Price(n *Need) Month {
	return Month{c.Store(n.Storage()), n.Cores.Value * c.Core, n.Memory.Value / (1 << 30) * c.Memory}
}

// Span is rates between which a target is the cheapest.
type Span struct {
	Target   *compare.Target
	From, To float64
}

// Cheapest returns which target is the cheapest at which rate, up to the greatest that any
// reached. Targets of which a cost is not known are left out.
func Cheapest(s *compare.Step, targets []*compare.Target, rows float64, c *Card) (spans []Span) {
	most := 0.0
	for _, t := range targets {
		most = max(most, Of(s, t, Ask{Rows: rows}).Most.High)
	}
	const steps, decades = 300, 4
	for i := range steps + 1 {
		rate := most * math.Pow(10, decades*(float64(i)/steps-1))
		var best *compare.Target
		price := math.Inf(1)
		for _, t := range targets {
			n := Of(s, t, Ask{rate, rows})
			if n.Refused == "" && len(n.Missing) == 0 && c.Price(&n).Sum() < price {
				best, price = t, c.Price(&n).Sum()
			}
		}
		switch last := len(spans) - 1; {
		case best == nil:
		case last >= 0 && spans[last].Target == best:
			spans[last].To = rate
		default:
			spans = append(spans, Span{best, rate, rate})
		}
	}
	return spans
}
