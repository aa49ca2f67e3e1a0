package report

import (
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// counted returns a trial with counters: name=growth, of 1,000 queries.
func counted(target, engineName string, n int, counters string) Trial {
	s := result.Step{Name: "q", Status: result.Complete, Primary: "query", Seconds: 10, Rows: []metric.Row{{Target: target, Trial: n, Step: "q", Op: "query", Metric: "rows", Value: 1000, Unit: "count"}}}
	for f := range strings.FieldsSeq(counters) {
		name, value, _ := strings.Cut(f, "=")
		c := result.CounterChange{Name: name, Kind: engine.Counter, Unit: "count"}
		if _, err := fmt.Sscan(value, &c.Value); err != nil {
			panic(err)
		}
		switch {
		case strings.HasSuffix(name, "_bytes"):
			c.Unit = "bytes"
		case strings.HasSuffix(name, "_gauge"):
			c.Kind = engine.Gauge
		case strings.HasSuffix(name, "_reset"):
			c.Reset = true
		}
		s.Counters = append(s.Counters, c)
	}
	return Trial{Trial: &result.Trial{Target: target, Engine: engineName, Trial: n, Status: result.Complete, Steps: []result.Step{s}}}
}

func changedOf(trials ...Trial) page.Table {
	c := newCampaign(trials)
	var all []map[string]growth
	for _, t := range c.Targets {
		all = append(all, growthsOf(c.steps[0], t))
	}
	return changedTable(c.steps[0], all)
}

func TestChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		trials []Trial
		want   []string
	}{
		{"the greatest ratio first, in either direction", []Trial{
			counted("a", "e", 1, "x.up=1000 x.down=9000 x.more=1000 x.level=1000"), counted("b", "e", 1, "x.up=4000 x.down=1000 x.more=2000 x.level=1050")},
			[]string{"x.down 9.00 1.00 0.111×", "x.up 1.00 4.00 4.00×", "x.more 1.00 2.00 2.00×"}},
		{"tiny ones say nothing", []Trial{
			counted("a", "e", 1, "x.few=1 x.small_bytes=5000 x.big_bytes=5e6"), counted("b", "e", 1, "x.few=99 x.small_bytes=500000 x.big_bytes=1e7")},
			[]string{"x.big_bytes 4.88 KiB 9.77 KiB 2.00×"}},
		{"what did not grow on one side", []Trial{
			counted("a", "e", 1, "x.stalls=0 x.small=100"), counted("b", "e", 1, "x.stalls=5000 x.small=120")},
			[]string{"x.stalls 0 5.00 from 0", "x.small 0.100 0.120 1.20×"}},
		{"new and gone, of the same engine only", []Trial{
			counted("a", "e", 1, "x.gone=1000"), counted("b", "e", 1, "x.new=5000"), counted("c", "other", 1, "y.own=1e9")},
			[]string{"x.new – 5.00 new –", "x.gone 1.00 – –"}},
		{"gauges, clocks and resets are not compared", []Trial{
			counted("a", "e", 1, "x_gauge=1 host.cpu.idle_ns=1 x.uptime=1 x_reset=1e6"), counted("b", "e", 1, "x_gauge=1e9 host.cpu.idle_ns=1e12 x.uptime=1e6 x_reset=1e9")}, nil},
		{"trials that reach into each other", []Trial{
			counted("a", "e", 1, "x.noise=1000 x.sure=1000"), counted("a", "e", 2, "x.noise=5000 x.sure=1100"),
			counted("b", "e", 1, "x.noise=4000 x.sure=3000"), counted("b", "e", 2, "x.noise=9000 x.sure=3300")},
			[]string{"x.sure 1.05 3.15 3.00×"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, g := range changedOf(c.trials...).Groups {
				for _, r := range g.Rows {
					line := r.Head
					for _, cell := range r.Cells {
						line += strings.TrimRight(" "+cell.Text+" "+cell.Ratio, " ")
					}
					got = append(got, line)
				}
			}
			expect.Same(t, c.want, got)
		})
	}
}

// The list is short, and empty if the work done is unknown.
func TestChangedIsShort(t *testing.T) {
	var a, b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&a, "x.c%d=1000 ", i)
		fmt.Fprintf(&b, "x.c%d=%d ", i, 2000+i)
	}
	rows := changedOf(counted("a", "e", 1, a.String()), counted("b", "e", 1, b.String())).Groups[0].Rows
	expect.True(t, len(rows) == mostChanged && rows[0].Head == "x.c49", "rows, the first", len(rows), rows[0].Head)
	idle := counted("b", "e", 1, b.String())
	idle.Steps[0].Rows = nil
	table := changedOf(idle, idle)
	expect.True(t, table.Empty(), "per what?")
}

// A long list of counters keeps those that changed most.
func TestCountersAreCut(t *testing.T) {
	var a, b strings.Builder
	for i := range 2 * maxCounters {
		fmt.Fprintf(&a, "x.c%03d=1000 ", i)
		fmt.Fprintf(&b, "x.c%03d=%d ", i, 1000+100*(i%5))
	}
	in := Input{Trials: []Trial{counted("a", "e", 1, a.String()), counted("b", "e", 1, b.String())}}
	c := newCampaign(in.Trials)
	s := c.steps[0]
	table := countersTable(s, []map[string]growth{growthsOf(s, c.Targets[0]), growthsOf(s, c.Targets[1])})
	rows := table.Groups[0].Rows
	expect.Equal(t, len(rows), maxCounters, "rows")
	expect.Contains(t, table.Note, fmt.Sprintf("The %d of %d", maxCounters, 2*maxCounters), "rows")
	for i, r := range rows {
		expect.Must(t, r.Cells[0].Text != r.Cells[1].Text && (i <= 0 || rows[i-1].Head < r.Head), "row", i, "is", r)
	}
}
