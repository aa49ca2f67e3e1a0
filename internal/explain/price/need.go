package price

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Ask is a demand on a step's primary operation.
type Ask struct {
	Rate float64 // units per second; 0: the measured rate
	P99  float64 // the greatest 99th percentile allowed, in µs; 0: any
	Rows float64 // in the database; 0: the measured number
}

// Range is a median over trials, with the least and the greatest of them.
type Range struct{ Value, Low, High float64 }

// MarshalJSON writes the median.
func (r Range) MarshalJSON() ([]byte, error) { return json.Marshal(r.Value) }

func (r Range) IsZero() bool { return r.Value == 0 }

func (r Range) times(f float64) Range { return Range{r.Value * f, r.Low * f, r.High * f} }

// Need is the hardware that a target needs for a demand: the measured costs per operation,
// times its rate. It has many fields: one for each kind of hardware.
type Need struct {
	Target *compare.Target `json:"-"`
	Unit   string          `json:"unit"` // of work
	// Refused is the reason if nothing is reported, Missing are the unknown numbers, and Remarks describe how
	// the others were computed.
	Refused string   `json:"refused,omitempty"`
	Missing []Gap    `json:"missing,omitempty"`
	Remarks []string `json:"remarks,omitempty"`

	Rate float64 `json:"rate_per_s"` // as asked for
	Most Range   `json:"measured_per_s"`
	Rows float64 `json:"rows"`

	Cores        Range `json:"processors"` // of the engine; an embedded one's include its clients'
	ReadBytes    Range `json:"read_bytes_per_s"`
	ReadsPerS    Range `json:"reads_per_s"` // requests to the device
	WrittenBytes Range `json:"written_bytes_per_s"`
	WritesPerS   Range `json:"writes_per_s"`        // requests
	TBPerYear    Range `json:"written_tb_per_year"` // 10^12 bytes written
	Disk         Range `json:"disk_bytes"`
	Memory       Range `json:"memory_bytes"` // as measured
	// Space and Write are the measured amplifications; Unlike is the reason if they cannot
	// be compared with each other.
	Space  Range  `json:"space_amplification,omitzero"`
	Write  Range  `json:"write_amplification,omitzero"`
	Unlike string `json:"-"`

	Live   float64 `json:"-"` // bytes of user data
	Media  Range   `json:"-"` // bytes that the drive wrote to its media for each that it was sent; 0: unknown
	Fanout float64 `json:"-"` // of an LSM tree: data size ÷ memtable size; 0: not an LSM tree
	// Busy is the share of the machine's processors used at the measured rate: near 1, the
	// processors are the limit. 0: unknown.
	Busy float64 `json:"-"`
}

// Gap is a number that is unknown, or known only as a lower bound.
type Gap struct{ Metric, Why string }

func (g Gap) String() string { return metric.Label(g.Metric) + ": " + g.Why }

func (g Gap) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Storage returns the data and the load that storage has to handle.
func (n *Need) Storage() Storage {
	return Storage{Bytes: n.Disk.Value, ReadsPerS: n.ReadsPerS.Value, WritesPerS: n.WritesPerS.Value,
		ReadBytes: n.ReadBytes.Value, WrittenBytes: n.WrittenBytes.Value, Media: n.Media.Value}
}

// UserBytes returns the number of bytes that users write per second; 0: unknown.
func (n *Need) UserBytes() float64 {
	if n.Write.Value == 0 {
		return 0
	}
	return n.WrittenBytes.Value / n.Write.Value
}

// Of returns the hardware that a target needs to do a step's primary operation as asked. It
// refuses demands above the measured range: a database reaches a limit somewhere above, and
// that point is unknown.
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
	if n.Rate > n.Most.Value {
		n.Refused = "measured only up to " + quantity.Amount(n.Most.Value) + " per second"
		return n
	}
	if n.Refused = m.late(ask.P99); n.Refused != "" {
		return n
	}
	n.Cores = m.perSecond(metric.ServerCPUUS).times(1e-6)
	n.ReadsPerS = m.reads()
	n.ReadBytes = m.perSecond(metric.ReadKB).times(1024)
	n.WrittenBytes = m.perSecond(metric.WriteKB).times(1024)
	n.WritesPerS, n.TBPerYear = m.writes(), n.WrittenBytes.times(SecondsPerYear/1e12)
	n.Memory = m.whole(metric.ServerMemoryBytes)
	m.disk(ask)
	m.amplifications()
	n.Fanout = m.fanout()
	first := t.Trials[0]
	if cpus, err := strconv.ParseFloat(first.Host.Value("cpus usable"), 64); err == nil && cpus > 0 && !first.Unseen {
		all, _ := m.about(metric.CPUUS)
		n.Busy = all.Value * 1e-6 / cpus * n.Most.Value
	}
	return n
}

// late reports how late the slowest operations are, if that is too late.
func (m measured) late(limit float64) string {
	if limit == 0 {
		return ""
	}
	for _, name := range []string{metric.ResponseP99US, metric.ServiceP99US} {
		switch p99, reason := m.about(name); {
		case reason != "":
		case p99.Value > limit:
			return "its 99th percentile is " + quantity.Micros(p99.Value) + " at the measured rate"
		default:
			return ""
		}
	}
	return "its 99th percentile is not known"
}

// reads returns the read requests per second. An engine that read nothing needs none,
// whatever other programs read in the meantime.
func (m measured) reads() Range {
	if kb, reason := m.about(metric.ReadKB); reason == "" && kb.High == 0 {
		return Range{}
	}
	return m.perSecond(metric.DeviceReads)
}

// writes returns the write requests per second: as large as those of the step were. If they
// were not counted a price is a lower bound.
func (m measured) writes() Range {
	var sizes []float64
	for _, r := range m.step.Runs[m.target] {
		bytes, ok := account.Counter(r.Step.Counters, "device.write_bytes")
		n, found := account.Counter(r.Step.Counters, "device.writes")
		if ok && found && n > 0 {
			sizes = append(sizes, bytes/n)
		}
	}
	switch {
	case m.need.WrittenBytes.Value == 0:
		return Range{}
	case len(sizes) == 0:
		m.missing(metric.WriteKB, "in how many requests was not counted")
		return Range{}
	}
	return m.need.WrittenBytes.times(1 / stat.Median(sizes))
}

// measured are the numbers of a target in a step.
type measured struct {
	step   *compare.Step
	target *compare.Target
	need   *Need
}

func rangeOf(n compare.Number) Range { return Range{n.Value, n.Low, n.High} }

// about returns a number of the step and its problem: a gap that has a value is a lower bound.
func (m measured) about(name string) (r Range, reason string) {
	k, _ := m.step.About(name)
	if own, ok := compare.Undisturbed(m.step, k, m.target); ok {
		k = own
	}
	n := m.step.Number(m.target, k)
	switch {
	case n.Missing != "":
		return r, n.Missing
	case n.Disturbed():
		return r, "other programs took part in it"
	case n.AtLeast():
		return rangeOf(n), "a lower bound, as the step was too short for writes to recur"
	}
	return rangeOf(n), ""
}

func (m measured) missing(name, reason string) {
	m.need.Missing = append(m.need.Missing, Gap{name, reason})
}

// whole returns a number of the step.
func (m measured) whole(name string) Range {
	r, reason := m.about(name)
	if reason != "" {
		m.missing(name, reason)
	}
	k, _ := m.step.About(name)
	if own, ok := compare.Undisturbed(m.step, k, m.target); ok && reason == "" && own.Metric != name {
		m.need.Remarks = append(m.need.Remarks, metric.Label(name)+
			": of the engine's processes, without the file system's journal, as other programs used the device")
	}
	return r
}

// perSecond returns a cost per second at the requested rate. It was measured per unit of the
// primary operation or, for writes, of the writing operation.
func (m measured) perSecond(name string) Range {
	k, _ := m.step.About(name)
	r := m.whole(name)
	rate := m.need.Rate
	if r.High > 0 && !k.PerOf(m.need.Unit) {
		key, ok := m.step.Find(metric.RowsPerS, func(key compare.Key) bool { return k.PerOf(key.Op) })
		n := m.step.Number(m.target, key)
		if !ok || n.Missing != "" {
			m.missing(name, "it is not measured per "+m.need.Unit)
			return Range{}
		}
		rate *= n.Value / m.need.Most.Value
	}
	return r.times(rate)
}

// Price returns the monthly price of a need.
func (c *Card) Price(n *Need) Bill {
	b := c.Store(n.Storage())
	b.Parts = append(b.Parts, Part{"processors", n.Cores.Value * c.Core},
		Part{"memory", n.Memory.Value / (1 << 30) * c.Memory})
	return b
}

// Unpriced returns the costs missing from a price.
func (c *Card) Unpriced(n *Need) []Gap {
	io := c.IOPS.Price + c.MBps.Price + c.Device.Price
	priced := map[string]float64{
		metric.ServerCPUUS: c.Core, metric.ServerMemoryBytes: c.Memory, metric.DBBytes: c.GB + c.Device.Price,
		metric.DeviceReads: c.IOPS.Price + c.Device.Price, metric.ReadKB: c.MBps.Price + c.Device.Price, metric.WriteKB: io,
	}
	return slices.DeleteFunc(slices.Clone(n.Missing), func(g Gap) bool { return priced[g.Metric] == 0 })
}

// Span is a range of rates in which a target is the cheapest.
type Span struct {
	Target   *compare.Target
	From, To float64
}

// Cheapest returns the cheapest target at each rate, from a tenth of the greatest that any
// reached, and the targets that are left out because part of their price is unknown or they
// are refused. The rate of the demand is not used.
func Cheapest(s *compare.Step, targets []*compare.Target, ask Ask, c *Card) (spans []Span, out []*compare.Target) {
	limit := 0.0
	var in []*compare.Target
	for _, t := range targets {
		n := Of(s, t, Ask{Rows: ask.Rows, P99: ask.P99})
		if n.Refused != "" || len(c.Unpriced(&n)) > 0 {
			out = append(out, t)
			continue
		}
		in, limit = append(in, t), max(limit, n.Most.Value)
	}
	const steps, decades = 300, 1
	for i := range steps + 1 {
		rate := limit * math.Pow(10, decades*(float64(i)/steps-1))
		var best *compare.Target
		price := math.Inf(1)
		for _, t := range in {
			if n := Of(s, t, Ask{Rate: rate, Rows: ask.Rows}); n.Refused == "" && c.Price(&n).Sum() < price {
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
	return spans, out
}
