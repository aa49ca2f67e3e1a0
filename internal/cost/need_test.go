package cost

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
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
		Steps: []result.Step{{Name: "mix", Status: result.Complete, Primary: "query", WritesPer: "insert", Rows: []metric.Row{
			row("readers", "query", "rows_per_s", queries, ""), row("writers", "insert", "rows_per_s", queries/4, ""),
			row("", "", "cpu_us", 400, "query"), row("", "", "read_kb", 10, "query"), row("", "", "device_reads", 0.5, "query"), row("", "", "write_kb", 8, "insert row"),
			row("", "", "db_bytes", 13e9, ""), row("", "", "live_bytes", 8e9, ""), row("", "", "live_rows", 1e6, ""), row("", "", "space_amplification", 1.5, ""),
			row("", "", "server_memory_bytes", 2<<30, ""), row("", "", "write_amplification", 4, ""),
		}}},
	}
}

// A demand is a rate times costs: those of writes, which are measured per insert, at the rate
// that inserts had beside the queries. Files grow with the rows, and logs do not.
func TestNeeds(t *testing.T) {
	c := compare.New([]*result.Trial{trial("a", 1, 4000), trial("a", 2, 5000), trial("a", 3, 4500)})
	n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 1000, Rows: 3e6})
	if n.Refused != "" || len(n.Missing) > 0 {
		t.Fatal(n.Refused, n.Missing)
	}
	for _, of := range []struct {
		what      string
		got, want float64
	}{
		{"cores", n.Cores.Value, 0.4}, {"read", n.ReadBytes.Value, 10 * 1024 * 1000}, {"requests", n.ReadsPerS.Value, 500},
		{"written", n.WrittenBytes.Value, 8 * 1024 * 250}, {"a year", n.TBPerYear().Value, 8 * 1024 * 250 * 31536000 / 1e12},
		{"disk", n.Disk.Value, 3*12e9 + 1e9}, {"memory", n.Memory.Value, 2 << 30}, {"busy", n.Busy, 0.45}, {"user bytes", n.UserBytes(), 2 * 1024 * 250},
		{"most", n.Most.Value, 4500}, {"greatest", n.Most.High, 5000},
	} {
		near(t, of.what, of.got, of.want, 1e-9*of.want)
	}
	if n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 5001}); !strings.Contains(n.Refused, "did not reach") {
		t.Errorf("more than was measured is computed: %+v", n)
	}
	if n := Of(c.Steps[0], c.Targets[0], Ask{}); n.Rate != 4500 || n.Rows != 1e6 || n.Disk.Value != 13e9 {
		t.Errorf("without a demand it is %+v", n)
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
	if n := Of(c.Steps[0], c.Targets[0], Ask{}); len(n.Missing) != 1 || n.WrittenBytes.Value != 0 {
		t.Errorf("missing: %q", n.Missing)
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
	spans := Cheapest(c.Steps[0], c.Targets, 0, &Card{GB: 1, IOPS: Tier{Price: 0.01}})
	if len(spans) != 2 || spans[0].Target.Name != "small" || spans[1].Target.Name != "fast" || spans[1].To < 8999 {
		t.Fatalf("%+v", spans)
	}
	// Space is 12 dearer, and 792 KB per insert are 198 requests: 12 = 0.01 · 198 · rate/4.
	if at := spans[1].From; at < 24.2 || at > 25.2 {
		t.Errorf("it changes at %v a second", at)
	}
}

// Devices are bought whole, as many as the scarcest of space, requests, throughput and
// endurance needs.
func TestDevices(t *testing.T) {
	c := &Card{Device: Device{Price: 360, GB: 1000, IOPS: 10_000, MBps: 400, TB: 1000}}
	for _, of := range []struct {
		s     Storage
		count float64
		limit string
	}{
		{Storage{Bytes: 1500e9}, 2, "space"}, {Storage{ReadsPerS: 35_000}, 4, "IOPS"}, {Storage{ReadBytes: 900 << 20}, 3, "throughput"},
		{Storage{Bytes: 500e9, WrittenBytes: 30e6}, 3, "endurance"}, // 30 MB/s for 36 months are 2838 TB
	} {
		b := c.Store(of.s)
		if b.Count != of.count || b.Limit != of.limit || b.Devices != of.count*10 || b.Sum() != b.Devices {
			t.Errorf("%+v: %+v", of.s, b)
		}
	}
}

// The cards that come with rumbench can be read, and mistakes in others have a place.
func TestCards(t *testing.T) {
	if cards := Shipped(); len(cards) != 2 || cards[0].IOPS.Free != 3000 || cards[1].GB != 0.125 {
		t.Errorf("%+v", cards)
	}
	_, err := Read("mine.yaml", []byte("name: mine\ncurrency: EUR\ngb: -1\niops: {prise: 1}\n"))
	for _, want := range []string{"a price card has no date", "mine.yaml:3:5", "mine.yaml:4:8", "did you mean price?"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
