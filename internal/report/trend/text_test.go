package trend

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/compare/history"
	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

var update = flag.Bool("update", false, "write golden files anew")

// golden compares a text with a file, in which the store's directory is /store.
func golden(t *testing.T, s *historytest.Store, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, s.Dir, "/store")
	path := filepath.Join("testdata", name+".golden")
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := expect.Value(os.ReadFile(path))(t)
	expect.Same(t, string(want), got, path)
}

// The text of a store with everything in it: a release that is faster and one
// that writes more, other parameters, another machine, trials that do not count.
func TestText(t *testing.T) {
	release := func(version string) func(*result.Campaign, []*result.Trial) {
		return historytest.Each(func(t *result.Trial) { t.Versions[2].Value = version })
	}
	s := historytest.New(t)
	s.Nights(0, 14)
	s.Nights(14, 26, release("v2.1.8"), historytest.Scale("rows_per_s", 1.23), historytest.Scale("service_p99_us", 0.8), historytest.Scale("space_amplification", 1.002))
	s.Nights(26, 40, release("v2.1.9"), historytest.Scale("rows_per_s", 1.23), historytest.Scale("service_p99_us", 0.8), historytest.Scale("space_amplification", 1.002), historytest.Scale("write_kb", 2.5))
	s.Nights(40, 41, func(c *result.Campaign, trials []*result.Trial) {
		c.Trials[1].Status, trials[1].Status = result.Invalid, result.Invalid
		historytest.BreakPromise(trials[0])
		trials[0].Steps[0].Rows[7].Disturbed = true
	})
	s.Nights(41, 43, historytest.Each(func(t *result.Trial) { t.Params["rows"], t.Params["loops"] = 1e6, 2.0 }))
	s.Nights(43, 44, historytest.Each(func(t *result.Trial) { t.Host = nil; t.Status = result.Failed }))
	for name, v := range map[string]View{"changes": {Least: 1}, "all": {All: true}} {
		var b strings.Builder
		text(&b, s, v)
		golden(t, s, name, b.String())
	}
}

// With few runs it says how few they are, and how many are needed.
func TestTextOfFewRuns(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 10)
	var b strings.Builder
	text(&b, s, View{})
	expect.NoError(t, os.RemoveAll(s.Path("night-05")))
	text(&b, s, View{})
	golden(t, s, "few", b.String())
}

// Series of other rates say what keeps them apart.
func TestOffers(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 12, historytest.Offer(500, 10))
	s.Nights(12, 24, historytest.Offer(4000, 10))
	var b strings.Builder
	text(&b, s, View{All: true})
	expect.All(t, b.String(), "only runs with offered insert: clients 1, rate 500/s, arrivals poisson for all clients together, queue 100, ramp none\n", "rate 4000/s")
}

// Warnings that differ in their figures only are written once, with their number.
func TestWarningsText(t *testing.T) {
	shed := func(n float64) metric.Warning {
		return metric.Warn(remark.ShedUntimed, metric.Values{"offered": 100.0, "shed": n})
	}
	other := metric.Untyped("b")
	s := &history.Series{Points: []history.Point{{Remarks: []metric.Warning{other, shed(12)}}, {Remarks: []metric.Warning{shed(3), shed(4)}}, {}, {Remarks: []metric.Warning{other}}}}
	expect.Same(t, []string{"2 runs: b", "2 runs: of 100 operations that arrived 12 were shed: these are in no response time (the largest of 3)"}, warnings(s))
}

func TestSparkline(t *testing.T) {
	long := make([]float64, 600)
	for i := range long {
		long[i] = float64(i / 300)
	}
	for name, c := range map[string]struct {
		values []float64
		want   string
	}{
		"one":        {[]float64{5}, "▅"},
		"zeros":      {[]float64{0, 0, 0}, "▅▅▅"},
		"rising":     {[]float64{1, 2, 3, 4, 5, 6, 7, 8}, "▁▂▃▄▅▆▇█"},
		"flat noise": {[]float64{100, 101, 99, 100}, "▅▅▄▅"},
		"a step":     {[]float64{100, 101, 130, 131}, "▁▁██"},
		"from zero":  {[]float64{0, 0, 3}, "▁▁█"},
		"negative":   {[]float64{-1, 0, 1}, "▁▅█"},
		"long":       {long, strings.Repeat("▁", 30) + strings.Repeat("█", 30)},
	} {
		expect.Equal(t, sparkline(c.values), c.want, name)
	}
}

// text writes the history of a store, with what is acknowledged there.
func text(w io.Writer, s *historytest.Store, v View) {
	s.Helper()
	runs := expect.Value(history.Find(s.Dir))(s)
	judged := expect.Value(history.ReadJudged(s.Dir))(s)
	f := history.Families(runs, history.Pick{})
	tested := history.Detect(f)
	expect.NoError(s, Text(w, f, history.Findings(f, judged), tested, v))
}
