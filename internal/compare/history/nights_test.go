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

// An acknowledged change of one night covers that night's size: what the next one adds is another change, though
// nothing that is recorded differs.
func TestNextNight(t *testing.T) {
	s := historytest.New(t)
	pages := historytest.Each(func(t *result.Trial) { t.Settings[0].Value = "536870912" })
	s.Nights(0, 12)
	s.Nights(12, 13, historytest.Scale("rows_per_s", 0.6), pages)
	s.Nights(13, 23, historytest.Scale("rows_per_s", 0.3), pages)
	s.Text("judged.yaml", "acknowledged: [{run: night-12, note: known}]\n")
	list, _ := families(s, Pick{Metrics: []string{"rows_per_s"}})
	var got []string
	for _, f := range Findings(list, expect.Value(ReadJudged(s.Dir))(t)) {
		got = append(got, fmt.Sprintf("%s %.2f %s", filepath.Base(f.Run.Dir), *f.Moves[0].Ratio, f.Note))
	}
	slices.Sort(got)
	expect.Same(t, []string{"night-12 0.60 known", "night-13 0.50 "}, got)
}

// A setting that changed in the last runs is named with the first of them, not with a run that is farther by chance.
func TestLastRuns(t *testing.T) {
	bloom := historytest.Each(func(t *result.Trial) { t.Knobs["options.bloom"] = "10" })
	for last := 1; last <= 4; last++ {
		s := historytest.New(t)
		for i := range 16 {
			noise := 1 + 0.02*float64((7*i)%5-2)
			if i < 16-last {
				s.Nights(i, i+1, historytest.Scale("rows_per_s", noise))
			} else {
				s.Nights(i, i+1, historytest.Scale("rows_per_s", 0.5*noise), bloom)
			}
		}
		list, _ := families(s, Pick{Metrics: []string{"rows_per_s"}})
		var got []string
		for _, f := range Findings(list, nil) {
			got = append(got, filepath.Base(f.Run.Dir))
		}
		expect.Same(t, []string{fmt.Sprintf("night-%02d", 16-last)}, got, last)
	}
}
