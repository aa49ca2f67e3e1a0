package price

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// trial returns a trial of one step, of queries beside inserts.
func trial(target string, n int, queries float64) *result.Trial {
	row := func(group, op, name string, value float64, per string) metric.Row {
		return metric.Row{Target: target, Trial: n, Step: "mix", Group: group, Op: op, Metric: name, Value: value, Unit: metric.ByName(name).Unit, Per: per}
	}
	return &result.Trial{
		Target: target, Trial: n, Workload: "w", Status: result.Complete, Host: observe.Facts{{Name: "cpus usable", Value: "4"}},
		Steps: []result.Step{{Name: "mix", Status: result.Complete, Primary: "query", WritesPer: "insert", Counters: []observe.Change{
			{Name: "device.write_bytes", Kind: engine.Counter, Value: 4096}, {Name: "device.writes", Kind: engine.Counter, Value: 1},
		}, Rows: []metric.Row{
			row("readers", "query", "rows_per_s", queries, ""), row("writers", "insert", "rows_per_s", queries/4, ""),
			row("", "", "cpu_us", 400, "query"), row("", "", "server_cpu_us", 300, "query"), row("", "", "read_kb", 10, "query"), row("", "", "device_reads", 0.5, "query"), row("", "", "write_kb", 8, "insert row"),
			row("", "", "db_bytes", 13e9, ""), row("", "", "data_bytes", 12e9, ""), row("", "", "live_bytes", 8e9, ""), row("", "", "live_rows", 1e6, ""), row("", "", "space_amplification", 1.5, ""),
			row("", "", "server_memory_bytes", 2<<30, ""), row("", "", "write_amplification", 4, ""),
		}}},
	}
}

// A demand is a rate times costs: those of writes, which are measured per insert, at the rate
// that inserts had beside the queries. Files grow with the rows, and logs do not.
func TestNeeds(t *testing.T) {
	c := compare.New([]*result.Trial{trial("a", 1, 4000), trial("a", 2, 5000), trial("a", 3, 4500)})
	n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 1000, Rows: 3e6})
	expect.Must(t, n.Refused == "" && len(n.Missing) == 0, n.Refused, n.Missing)
	for _, entry := range []struct {
		subject   string
		got, want float64
	}{
		{"cores", n.Cores.Value, 0.3}, {"read", n.ReadBytes.Value, 10 * 1024 * 1000}, {"requests", n.ReadsPerS.Value, 500},
		{"written", n.WrittenBytes.Value, 8 * 1024 * 250}, {"a year", n.TBPerYear.Value, 8 * 1024 * 250 * 31536000 / 1e12},
		{"disk", n.Disk.Value, 3*12e9 + 1e9}, {"memory", n.Memory.Value, 2 << 30}, {"busy", n.Busy, 0.45}, {"user bytes", n.UserBytes(), 2 * 1024 * 250},
		{"most", n.Most.Value, 4500}, {"greatest", n.Most.High, 5000},
	} {
		near(t, entry.subject, entry.got, entry.want, 1e-9*entry.want)
	}
	if n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 4501}); !strings.Contains(n.Refused, "only up to") {
		t.Errorf("more than was measured is computed: %+v", n)
	}
	if n := Of(c.Steps[0], c.Targets[0], Ask{}); n.Rate != 4500 || n.Rows != 1e6 || n.Disk.Value != 13e9 {
		t.Errorf("without a demand it is %+v", n)
	}
}

// Rows that were in memory only say nothing about the space that more of them take in files.
func TestUnwrittenRows(t *testing.T) {
	for _, c := range []struct {
		shape       engine.Shape
		data, dirty float64 // data 0: not known apart from logs
		known       bool
	}{{engine.InPlace, 12e9, 3e9, true}, {engine.Leveled, 12e9, 3e9, false}, {engine.InPlace, 7e9, 1e9, false},
		{"", 7e9, 1e8, true}, {"", 7e9, 1e9, false}, {"", 1e6, 8e9, false}, {"", 0, 8e9, false}, {"", 0, 1e8, true}} {
		a := trial("a", 1, 4000)
		a.Steps[0].Structure.Shape = c.shape
		for i := range a.Steps[0].Rows {
			if r := &a.Steps[0].Rows[i]; r.Metric == "data_bytes" {
				r.Value = c.data
				if c.data == 0 {
					r.Metric = "log_bytes"
				}
			}
		}
		dirty := a.Steps[0].Rows[len(a.Steps[0].Rows)-1]
		dirty.Metric, dirty.Unit, dirty.Value = "dirty_bytes", "B", c.dirty
		a.Steps[0].Rows = append(a.Steps[0].Rows, dirty)
		camp := compare.New([]*result.Trial{a})
		n := Of(camp.Steps[0], camp.Targets[0], Ask{Rows: 3e6})
		expect.True(t, (len(n.Missing) == 0) == c.known && (n.Disk.Value > 0) == c.known, c, n.Disk, n.Missing)
	}
}

// Write requests are as large as those of the step were, and a target that is too late is
// refused.
func TestWritesAndLateness(t *testing.T) {
	a := trial("a", 1, 4000)
	s := &a.Steps[0]
	s.Counters = []observe.Change{{Name: "device.write_bytes", Kind: engine.Counter, Value: 64e6}, {Name: "device.writes", Kind: engine.Counter, Value: 1000}}
	s.Rows = append(s.Rows, metric.Row{Target: "a", Trial: 1, Step: "mix", Group: "readers", Op: "query", Metric: "service_p99_us", Value: 3000, Unit: "µs"})
	c := compare.New([]*result.Trial{a})
	n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 1000, P99: 3000})
	s.Counters = nil
	if unknown := Of(c.Steps[0], c.Targets[0], Ask{}); len((&Card{IOPS: Tier{Price: 1}}).Unpriced(&unknown)) != 1 {
		t.Errorf("requests that nobody counted have a price: %q", unknown.Missing)
	}
	near(t, "write requests", n.WritesPerS.Value, 8*1024*250/64e3, 1e-9)
	expect.Equal(t, n.Refused, "")
	expect.Contains(t, Of(c.Steps[0], c.Targets[0], Ask{P99: 2000}).Refused, "3.00 ms")
}

// An engine that read nothing needs no requests, however many others did.
func TestReadsNothing(t *testing.T) {
	value := func(kb float64) Need {
		a := trial("a", 1, 4000)
		for i := range a.Steps[0].Rows {
			switch r := &a.Steps[0].Rows[i]; r.Metric {
			case "read_kb":
				r.Value = kb
			case "device_reads":
				r.Disturbed = true
			}
		}
		c := compare.New([]*result.Trial{a})
		return Of(c.Steps[0], c.Targets[0], Ask{})
	}
	if n := value(0); len(n.Missing) > 0 || n.ReadsPerS != (Range{}) {
		t.Errorf("%+v", n)
	}
	if n := value(10); len(n.Missing) != 1 {
		t.Errorf("%q", n.Missing)
	}
}

// What other programs took part in is missing, and says so.
func TestDisturbed(t *testing.T) {
	a := trial("a", 1, 4000)
	for i := range a.Steps[0].Rows {
		if r := &a.Steps[0].Rows[i]; r.Metric == "write_kb" {
			r.Disturbed = true
		}
	}
	c := compare.New([]*result.Trial{a})
	n := Of(c.Steps[0], c.Targets[0], Ask{})
	expect.True(t, len(n.Missing) == 1 && n.WrittenBytes.Value == 0, n.Missing)
	if _, out := Cheapest(c.Steps[0], c.Targets, Ask{}, &Card{GB: 1, MBps: Tier{Price: 1}}); len(out) != 1 {
		t.Error("a target whose writes have a price and are not known is compared")
	}
	if spans, out := Cheapest(c.Steps[0], c.Targets, Ask{}, &Card{GB: 1}); len(out) != 0 || len(spans) != 1 {
		t.Error("what has no price is missing in the price")
	}
}

// Without files of tables and indexes, what the engine says of each grows, and without that
// all, and it says so.
func TestSpaceByObject(t *testing.T) {
	for _, entry := range []struct {
		sizes  []engine.Size
		disk   float64
		remark string
	}{
		{[]engine.Size{{Object: "t", Bytes: 7e9, Kind: engine.Exact}, {Object: "t.i", Bytes: 2e9, Kind: engine.Exact}, {Bytes: 9e9}}, 3*9e9 + 4e9, ""},
		{[]engine.Size{{Object: "t", Bytes: 9e9, Kind: engine.Estimate}}, 3*9e9 + 4e9, "estimate"},
		{[]engine.Size{{Bytes: 13e9, Kind: engine.Exact}}, 3 * 13e9, "logs as well"},
	} {
		a := trial("a", 1, 4000)
		step := &a.Steps[0]
		step.Rows = slices.DeleteFunc(step.Rows, func(r metric.Row) bool { return r.Metric == "data_bytes" })
		var b account.Builder
		for _, z := range entry.sizes {
			b.ObjectSize(z)
		}
		step.Rows = append(step.Rows, b.Rows...)
		c := compare.New([]*result.Trial{a})
		n := Of(c.Steps[0], c.Targets[0], Ask{Rows: 3e6})
		near(t, "disk", n.Disk.Value, entry.disk, 1)
		got := strings.Join(n.Remarks, "")
		expect.True(t, strings.Contains(got, entry.remark) && !(entry.remark == "" && got != ""), got)
	}
}

// Space is not held against writes where one of the amplifications is not that of a steady
// state, and a lower bound of what is written makes the price one.
func TestUnlike(t *testing.T) {
	change := func(name string, end func(*metric.Row)) Need {
		a := trial("a", 1, 4000)
		for i := range a.Steps[0].Rows {
			if r := &a.Steps[0].Rows[i]; r.Metric == name {
				end(r)
			}
		}
		c := compare.New([]*result.Trial{a})
		return Of(c.Steps[0], c.Targets[0], Ask{})
	}
	same := change("", nil)
	few := change("write_amplification", func(r *metric.Row) { r.Value = 0.6 })
	small := change("space_amplification", func(r *metric.Row) { r.Value = 0.9 })
	lowest := change("write_amplification", func(r *metric.Row) { r.AtLeast = true })
	if same.Unlike != "" || !strings.Contains(few.Unlike, "fewer bytes") || !strings.Contains(small.Unlike, "less space") || !strings.Contains(lowest.Unlike, "lower bound") {
		t.Errorf("%q, %q, %q, %q", same.Unlike, few.Unlike, small.Unlike, lowest.Unlike)
	}
	bound := change("write_kb", func(r *metric.Row) { r.AtLeast = true })
	if c := (&Card{MBps: Tier{Price: 1}}); bound.WrittenBytes.Value == 0 || len(c.Unpriced(&bound)) != 1 || len(c.Unpriced(&same)) != 0 {
		t.Errorf("a lower bound of writes: %+v", bound)
	}
}

// The cheapest target changes where space and writes change places, and above its own limit
// a target is out.
func TestCheapest(t *testing.T) {
	small, fast := trial("small", 1, 4000), trial("fast", 1, 9000)
	for i := range small.Steps[0].Rows {
		if r := &small.Steps[0].Rows[i]; r.Metric == "write_kb" {
			r.Value = 800
		} else if r.Metric == "db_bytes" {
			r.Value = 1e9
		}
	}
	c := compare.New([]*result.Trial{small, fast})
	spans, out := Cheapest(c.Steps[0], c.Targets, Ask{}, &Card{GB: 1, IOPS: Tier{Price: 1e-4}, IOKB: 4})
	expect.Must(t, len(out) == 0 && len(spans) == 2 && spans[0].Target.Name == "small" && spans[1].Target.Name == "fast" && spans[1].To >= 8999, spans)
	// Space is 12 dearer, and 792 KB per insert are 198 requests: 12 = 1e-4 · 198 · rate/4.
	at := spans[1].From
	expect.True(t, at >= 2420 && at <= 2450, "it changes at a second", at)
}

// Devices are bought whole, as many as the scarcest of space, requests, throughput and
// endurance needs.
func TestDevices(t *testing.T) {
	c := &Card{Device: Device{Price: 360, GB: 1000, IOPS: 10_000, MBps: 400, TB: 1000}}
	for _, entry := range []struct {
		s     Storage
		count float64
		limit string
	}{
		{Storage{Bytes: 1500e9}, 2, "space"}, {Storage{ReadsPerS: 35_000}, 4, "IOPS"}, {Storage{ReadBytes: 900 << 20}, 3, "throughput"},
		{Storage{Bytes: 500e9, WrittenBytes: 30e6}, 3, "endurance"}, // 30 MB/s for 36 months are 2838 TB
		{Storage{Bytes: 60e9, WrittenBytes: 3e6}, 1, "endurance"},   // 28 % of it, and 6 % of the space
	} {
		b := c.Store(entry.s)
		expect.True(t, b.Count == entry.count && b.Limit == entry.limit && b.Sum() == entry.count*10 && len(b.Parts) == 1, entry.s, b)
	}
}

// The cards that come with rumbench can be read, and mistakes in others have a place.
func TestCards(t *testing.T) {
	cards := Shipped()
	expect.True(t, len(cards) == 2 && cards[0].IOPS.Free == 3000 && cards[1].GB == 0.125, cards)
	expect.Refused(Read("both.yaml", []byte("name: both\ncurrency: EUR\ndate: \"2026\"\ngb: 1\ndevice: {price: 1}\n")))(t, "bought whole", "a device and a price of space")
	_, err := Read("mine.yaml", []byte("name: mine\ncurrency: EUR\ngb: -1\niops: {prise: 1}\n"))
	for _, want := range []string{"a price card has no date", "mine.yaml:3:5", "mine.yaml:4:8", "did you mean price?"} {
		expect.Error(t, err, want, "does not say")
	}
}

// What moves a price is what it is made of.
func TestMoves(t *testing.T) {
	n := &Need{Rate: 1, Most: Range{Value: 2}, Cores: Range{Value: 2}, WrittenBytes: Range{Value: 10 * mb}, ReadsPerS: Range{Value: 0}, Disk: Range{Value: 100e9}}
	c := &Card{GB: 0.1, IOPS: Tier{Price: 0.01}, IOKB: 4, Core: 10} // space 10, I/O 25.6, processors 20
	price := c.Price(n).Sum()
	near(t, "price", price, 55.6, 1e-9)
	want := map[string][2]float64{
		"operations per second":    {-0.5 * 45.6, 45.6},
		"writes per operation":     {-0.5 * 25.6, 25.6},
		"KB that count as one I/O": {25.6, -0.5 * 25.6},
		"CPU per operation":        {-10, 20},
		"space":                    {-5, 10},
	}
	moves := c.Moves(n)
	expect.True(t, len(moves) == len(want) && moves[0].What == "operations per second", moves)
	n.Most.Value = 1.9
	if moves := c.Moves(n); !math.IsNaN(moves[slices.IndexFunc(moves, func(m Move) bool { return m.What == rateMove })].Doubled) {
		t.Error("twice the rate is more than was measured, and has a price")
	}
	for _, m := range moves {
		near(t, m.What+" halved", m.Halved*price, want[m.What][0], 1e-9)
		near(t, m.What+" doubled", m.Doubled*price, want[m.What][1], 1e-9)
	}
}

// An LSM tree shows how many memtables large it is, and other structures nothing.
func TestFanout(t *testing.T) {
	made := func(target string, as engine.Structure) *result.Trial {
		subject := trial(target, 1, 4000)
		subject.Steps[0].Structure = as
		return subject
	}
	c := compare.New([]*result.Trial{made("a", engine.Structure{Shape: engine.InPlace, Page: 4096}),
		made("b", engine.Structure{Shape: engine.Leveled, Memtable: 12e6})})
	for i, want := range []float64{0, 1000} {
		near(t, "memtables", Of(c.Steps[0], c.Targets[i], Ask{}).Fanout, want, 1e-9)
	}
}
