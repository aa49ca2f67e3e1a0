package history

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
)

// The page size changes in one night and the program a few nights later: two findings, each with its own size and
// facts. An acknowledgement of one leaves the other.
func TestTwoChanges(t *testing.T) {
	for _, apart := range []int{1, 2, 4, 6} {
		s := historytest.New(t)
		first := historytest.Each(func(t *result.Trial) { t.Build = &program.Build{SHA256: strings.Repeat("a", 64)} })
		pages := historytest.Each(func(t *result.Trial) { t.Settings[0].Value = "536870912" })
		binary := historytest.Each(func(t *result.Trial) { t.Build.SHA256 = strings.Repeat("b", 64) })
		s.Nights(0, 12, first)
		s.Nights(12, 12+apart, historytest.Scale("rows_per_s", 0.6), first, pages)
		s.Nights(12+apart, 23, historytest.Scale("rows_per_s", 0.2), first, pages, binary)
		second := fmt.Sprintf("night-%02d", 12+apart)
		for judged, want := range map[string][]string{
			"": {"night-12 0.60 cache", second + " 0.33 program"}, "night-12": {second + " 0.33 program"},
			second: {"night-12 0.60 cache"},
		} {
			s.Text("judged.yaml", "acknowledged: [{run: "+cmp.Or(judged, "night-05")+", note: known}]\n")
			list, _ := families(s, Pick{Metrics: []string{"rows_per_s"}})
			var got []string
			for _, f := range Findings(list, expect.Value(ReadJudged(s.Dir))(t)) {
				if f.Note == "" {
					got = append(got, fmt.Sprintf("%s %.2f %s", filepath.Base(f.Run.Dir), *f.Moves[0].Ratio, f.Facts[0].Name))
				}
			}
			slices.Sort(got)
			expect.Same(t, want, got, apart, judged)
			open := 0
			for _, j := range Judgements(list) {
				for _, i := range j.Items {
					if i.Effect.Verdict == "worse" {
						open++
					}
				}
			}
			expect.Equal(t, open, len(want), "that a gate sees", apart, judged)
		}
	}
}
