package account_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/stat/hist"
	"rumbench/model"
	"rumbench/workload"
)

// Of a restart the counts of the device are known, and those of the process if it goes on. The engine's
// own begin again, and a server's end unseen.
func TestRestarted(t *testing.T) {
	for hosted, want := range map[bool]string{
		false: "duration_s 10 stop_s 2 start_s 3 cpu_us 1000000 server_cpu_us 1000000 process_read_kb 500 process_write_kb 800 device_reads 7 read_kb 600 write_kb 900",
		true:  "duration_s 10 stop_s 2 start_s 3 device_reads 7 read_kb 600 write_kb 900",
	} {
		all := counted("device.read_bytes", 600.0*kb, "device.reads", 7.0, "device.write_bytes", 900.0*kb, "process.read_bytes", 500.0*kb,
			"process.write_bytes", 800.0*kb, "process.cpu_ns", 1e9, engine.BytesWritten, 1e6, "pebble.something", 5.0)
		all[len(all)-1].Reset = true
		step := workload.RestartStep("restart.q", workload.CachesDropped)
		s := newStep(&step, nil, &account.Observed{Hosted: hosted, InWindow: all, WithSync: all, Deferred: &[2]float64{0, 9 * mb}})
		account.Restarted(s, 2*time.Second, 3*time.Second)
		var got []string
		for _, r := range s.Rows {
			got = append(got, fmt.Sprintf("%s %.0f", r.Metric, r.Value))
		}
		text := strings.Join(got, " ")
		expect.True(t, text == want && len(s.Warnings) == 0, "hosted", hosted, text, want, s.Warnings)
	}
}

// A restart settles nothing, and what it writes belongs to the rows before it.
func TestSettledOverRestart(t *testing.T) {
	row := func(per string, value float64, n int64) []metric.Row {
		return []metric.Row{{Metric: metric.WriteKB, Per: per, Value: value, N: n}}
	}
	s := newStep(&workload.Step{Name: "settle", Settle: &workload.Settle{}}, nil, &account.Observed{WithSync: counted("device.write_bytes", 500.0*kb)})
	s.Earlier = []account.Earlier{
		{Name: "load", Primary: "insert", WritesPer: "insert", Complete: true, Rows: row("insert row", 2, 500)},
		{Name: "restart.more", Restart: true, Complete: true, Rows: row("step", 300, 1)},
		{Name: "more", Primary: "insert", WritesPer: "insert", Complete: true, Rows: row("insert row", 1, 500)},
	}
	s.Settled()
	r := metric.Find(s.Rows, metric.SettledWriteKB, "", "")
	expect.True(t, r != nil && r.Value == (1000+300+500+500)/1000.0, r)
}

// A step is warm when its rate is on its last level, if that is one.
func TestWarmUp(t *testing.T) {
	ramp := slices.Concat(slices.Repeat([]float64{100}, 5), []float64{300, 800, 970}, slices.Repeat([]float64{1000}, 22))
	for _, c := range []struct {
		name   string
		rates  []float64
		rate   float64
		want   float64 // -1: unknown
		reason string
	}{
		{"level from the beginning", slices.Repeat([]float64{1000}, 30), 0, 0, ""},
		{"after a ramp", ramp, 0, 7, ""},
		{"a lucky interval is not enough", append([]float64{1000}, ramp...), 0, 8, ""},
		{"one outlier does not matter", append(slices.Clone(ramp[:10]), append([]float64{10}, ramp[11:]...)...), 0, 7, ""},
		{"still rising", []float64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200}, 0, -1, "not level"},
		{"too short", []float64{100, 1000, 1000, 1000}, 0, -1, "too few intervals"},
		{"slow operations", slices.Repeat([]float64{1}, 30), 0, -1, "too few intervals"},
		{"with a rate", slices.Repeat([]float64{1000}, 30), 1000, -1, "have a rate"},
	} {
		step := &workload.Step{Name: "q", Primary: "query", Groups: []workload.Group{{Name: "query", Clients: 1, Rate: c.rate, RowsPerOp: 1,
			Ops: []workload.OpKind{{Name: "query", Unit: "query"}}}}}
		g := did(hist.Counts{Ops: 1000, Work: model.Work{Rows: 1000}})
		for i, n := range c.rates {
			g.Rates = append(g.Rates, hist.Rate{From: float64(i), To: float64(i + 1), Units: n, Ops: n})
		}
		g.End = time.Duration(len(c.rates)) * time.Second
		s := newStep(step, []hist.Group{g}, &account.Observed{InWindow: counted("device.read_bytes", 600.0*kb)})
		s.Start = &account.Start{Caches: workload.CachesDropped, Source: "device sda",
			Read: func(seconds float64) (float64, bool) { return seconds * 10 * kb, true }}
		s.Operations()
		r, read := metric.Find(s.Rows, metric.WarmS, "", ""), metric.Find(s.Rows, metric.WarmReadKB, "", "")
		notes := fmt.Sprint(s.Notes)
		switch known := c.want >= 0; {
		case (r != nil) != known || (read != nil) != known:
			t.Errorf("%s: %v, %v", c.name, r, read)
		case known && (r.Value != c.want || read.Value != 10*c.want || read.Source != "device sda"):
			t.Errorf("%s: %+v, %+v", c.name, r, read)
		case !strings.Contains(notes, c.reason) || !strings.Contains(notes, "begun cold"):
			t.Errorf("%s: %s", c.name, notes)
		}
	}
}

// A step that began cold is not a fraction of one that did not.
func TestBeforeRestart(t *testing.T) {
	for _, c := range []struct {
		then, now workload.Caches
		want      bool
	}{{"", "", true}, {workload.CachesDropped, workload.CachesDropped, true}, {"", workload.CachesDropped, false}, {workload.CachesKept, "", false}} {
		step := queryStep()
		step.Before = "p"
		s := newStep(step, queryGroups(), &account.Observed{})
		s.Earlier = []account.Earlier{{Name: "p", Primary: "query", Complete: true, Caches: c.then, Rows: []metric.Row{
			{Metric: metric.RowsPerS, Group: "query", Op: "query", Value: 50, N: 500}}}}
		if c.now != "" {
			s.Start = &account.Start{Caches: c.now}
		}
		s.Operations()
		expect.Equal(t, metric.Find(s.Rows, metric.RelativeToBefore, "", "") != nil, c.want, c.then, c.now)
	}
}
