package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// With few runs the one whose rates are farthest from those of the others is named.
func TestOdd(t *testing.T) {
	type change = func(*result.Campaign, []*result.Trial)
	rates := func(by ...float64) func(*historytest.Store) { // by which the rates of each run are multiplied
		return func(s *historytest.Store) {
			for i, r := range by {
				s.Nights(i, i+1, historytest.Scale("rows_per_s", r))
			}
		}
	}
	// A second step, whose rate is multiplied too.
	second := func(by float64) change {
		return historytest.Each(func(t *result.Trial) {
			step := t.Steps[0]
			step.Name, step.Rows = "l.x", append(step.Rows[:0:0], step.Rows...)
			for i := range step.Rows {
				step.Rows[i].Step = step.Name
				if step.Rows[i].Metric == "rows_per_s" {
					step.Rows[i].Value *= by
				}
			}
			t.Steps = append(t.Steps, step)
		})
	}
	slow := historytest.Scale("rows_per_s", 0.26)
	version := historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v3" })
	durability := historytest.Each(func(t *result.Trial) { t.Durability = "none" })
	for name, c := range map[string]struct {
		make   func(*historytest.Store)
		judged string
		want   string // run, others, ratio of the mean, and the far rates
	}{
		"slower":                {rates(1, 1, 0.26, 1, 1), "", "night-02 4 0.26 l.i1 0.26"},
		"faster":                {rates(1, 1, 1, 3.9), "", "night-03 3 3.9 l.i1 3.9"},
		"two, the farther":      {rates(1, 0.4, 1, 1, 1, 0.2), "", "night-05 5 0.2 l.i1 0.2"},
		"by less than a third":  {rates(1, 1, 0.7, 1, 1.3), "", ""},
		"by more than a third":  {rates(1, 1, 0.63, 1, 1), "", "night-02 4 0.63 l.i1 0.63"},
		"two runs":              {rates(1, 0.26), "", ""},
		"three runs":            {rates(1, 0.26, 1), "", "night-01 2 0.26 l.i1 0.26"},
		"two kinds of runs":     {rates(1, 0.26, 1, 0.26, 1, 0.26), "", ""},
		"two of each":           {rates(1, 0.26, 1, 0.26), "", ""},
		"enough runs":           {rates(1, 1, 1, 1, 0.26, 1, 1, 1, 1, 1), "", "night-04 9 0.26 l.i1 0.26"},
		"one of twelve":         {rates(1, 1, 1, 1, 1, 1, 1, 0.5, 1, 1, 1, 1), "", "night-07 11 0.5 l.i1 0.5"},
		"twenty that vary":      {rates(1, 2, 1.3, 1, 1.6, 0.9, 1, 2, 1.3, 1, 0.6, 1, 1.9, 1.4, 1, 1.6, 1.1, 0.8, 2, 1), "", ""},
		"after a change":        {rates(1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 1.4, 3, 3), "", "night-10 6 0.47 l.i1 0.47"},
		"not quite enough runs": {rates(1, 1, 1, 1, 0.26, 1, 1, 1, 1), "", "night-04 8 0.26 l.i1 0.26"},
		"a run without a rate":  {rates(1, 1, 0, 1, 1), "", ""},
		"acknowledged":          {rates(1, 1, 0.26, 1, 1), "{run: night-02, note: known}", ""},
		"another acknowledged":  {rates(1, 1, 0.26, 1, 1), "{run: night-01, note: known}", "night-02 4 0.26 l.i1 0.26"},
		"explained by a finding": {func(s *historytest.Store) {
			s.Nights(0, 5)
			s.Nights(5, 6, version, slow)
		}, "", ""},
		"of another kind": {func(s *historytest.Store) {
			s.Nights(0, 3)
			s.Nights(3, 4, durability, slow)
			s.Nights(4, 6)
		}, "", ""},
		"the first of its kind": {func(s *historytest.Store) {
			s.Nights(0, 3)
			s.Nights(3, 4, durability, slow)
			s.Nights(4, 7, durability)
		}, "", "night-03 3 0.26 l.i1 0.26"},
		"over two steps": {func(s *historytest.Store) {
			s.Nights(0, 4, second(1))
			s.Nights(4, 5, slow, second(0.5))
		}, "", "night-04 4 0.19 l.x 0.13 l.i1 0.26"},
		"over two steps, one unchanged": {func(s *historytest.Store) {
			s.Nights(0, 4, second(1))
			s.Nights(4, 5, slow, second(1/0.26))
		}, "", "night-04 4 0.52 l.i1 0.26"},
		"over two steps that make up for each other": {func(s *historytest.Store) {
			s.Nights(0, 4, second(1))
			s.Nights(4, 5, slow, second(1/0.26/0.26))
		}, "", ""},
		"latency only": {func(s *historytest.Store) {
			s.Nights(0, 4)
			s.Nights(4, 5, historytest.Scale("service_p99_us", 9))
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := historytest.New(t)
			c.make(s)
			if c.judged != "" {
				s.Text("judged.yaml", "acknowledged: ["+c.judged+"]\n")
			}
			list, _ := families(s, Pick{})
			judged := expect.Value(ReadJudged(s.Dir))(t)
			Findings(list, judged)
			got := ""
			if o := list[0].Odd; o != nil {
				got = fmt.Sprintf("%s %d %.2g", filepath.Base(o.Dir), o.Others, o.Ratio)
				for _, r := range o.Far() {
					got += fmt.Sprintf(" %s %.2g", r.Step, r.Ratio)
				}
			}
			expect.Equal(t, got, c.want)
		})
	}
}

// Each line of JSON has the odd run of its family.
func TestOddJSON(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 2)
	s.Nights(2, 3, historytest.Scale("rows_per_s", 0.26))
	list, _ := families(s, Pick{})
	Findings(list, nil)
	var b bytes.Buffer
	expect.NoError(t, JSON(&b, list))
	for _, text := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var line struct{ Odd *Odd }
		if err := json.Unmarshal([]byte(text), &line); err != nil || line.Odd == nil {
			t.Fatalf("%v: %s", err, text)
		}
		o := line.Odd
		r := o.Rates[0]
		if o.Dir != s.Path("night-02") || o.Target != "db" || o.Others != 2 || len(o.Rates) != 1 || r.Step != "l.i1" || r.Op != "insert" ||
			math.Abs(r.Value/r.Median-r.Ratio) > 1e-9 || math.Abs(o.Ratio-r.Ratio) > 1e-9 || math.Abs(r.Ratio-0.26) > 0.01 {
			t.Errorf("%+v", o)
		}
	}
}
