package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// A number that the first run after a split lacks belongs to the same finding.
func TestSplitOfLackingNumber(t *testing.T) {
	lacking := historytest.Each(func(t *result.Trial) {
		t.Steps[0].Rows = slices.DeleteFunc(t.Steps[0].Rows, func(r metric.Row) bool { return r.Metric == metric.ServiceP99US })
	})
	none := historytest.Each(func(t *result.Trial) { t.Durability = "none" })
	s := historytest.New(t)
	s.Nights(0, 3)
	s.Nights(3, 4, lacking)
	s.Nights(4, 5, none, lacking)
	s.Nights(5, 8, none)
	f, _ := families(s, Pick{})
	list := Findings(f, nil)
	expect.Must(t, len(list) == 1 && list[0].Run.Dir == s.Path("night-04") && list[0].Before.Dir == s.Path("night-03") && len(list[0].Moves) == 8, list)
	again := Findings(f, nil)
	expect.True(t, len(again) == 1 && len(again[0].Moves) == 8, again)
}

// Of histories of nothing but much noise, in which each night measures another version, few show
// a change that is not proven.
func TestOpenByChance(t *testing.T) {
	const histories = 400
	for _, n := range []int{2, 3, 6, 9, 20} {
		r := rand.New(rand.NewPCG(8, uint64(n)))
		open := 0
		for range histories {
			var values []float64
			for range n {
				values = append(values, 100+2*r.NormFloat64()) // two runs differ by 3 %
			}
			f := series(values)
			for i := range f[0].Series[0].Points {
				p := &f[0].Series[0].Points[i]
				p.place, p.trial.Versions = i, observe.Facts{{Name: "server", Value: fmt.Sprint(i)}}
			}
			findBreaks(f)
			open += len(f[0].Series[0].Breaks)
		}
		expect.True(t, open <= histories/50, n, open, histories)
	}
}
