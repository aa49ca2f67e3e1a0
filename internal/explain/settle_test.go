package explain_test

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/result"
)

// having returns targets by names: “a”, and an “a” followed by the settings that each has.
// A function says what these do.
func having(names []string, do func(s *state, has func(setting string) bool)) map[string]state {
	out := map[string]state{}
	for _, name := range names {
		s := usual()
		s.knobs = map[string]string{}
		_, settings, _ := strings.Cut(name, "-")
		for _, setting := range strings.Split(settings, "-") {
			if setting != "" {
				s.knobs[setting] = "on"
			}
		}
		do(&s, func(setting string) bool { return s.knobs[setting] != "" })
		out[name] = s
	}
	return out
}

// settled runs trials of targets, but for those that are missing, and reads the experiment.
func settled(targets map[string]state, missing ...result.Trial) []explain.Settled {
	var trials []*result.Trial
	for n := 1; n <= 4; n++ {
	targets:
		for name, s := range targets {
			for i := range missing {
				if missing[i].Target == name && missing[i].Trial == n {
					continue targets
				}
			}
			s.idle += float64(n) / 10
			s.server *= 1 + float64(n*n%5)/500
			s.pages *= 1 + float64(n*n%3)/100
			trials = append(trials, s.trial(name, n))
		}
	}
	c := compare.New(trials)
	base := c.Target("a")
	var list []*explain.Explanation
	for _, t := range c.Targets {
		if t != base {
			list = append(list, explain.Explain(c, c.Judge(base, t)))
		}
	}
	return explain.Settle(list)
}

// partOf returns what a setting does to a number.
func partOf(t *testing.T, list []explain.Settled, number, setting string) explain.Part {
	t.Helper()
	for _, s := range list {
		for _, p := range s.Parts {
			if s.Metric == number && p.Setting.What == setting {
				return p
			}
		}
	}
	t.Fatalf("nothing is settled of %s and %s", number, setting)
	return explain.Part{}
}

// An experiment says which setting makes which difference.
func TestSettle(t *testing.T) {
	all := having([]string{"a", "a-cache", "a-twice", "a-cache-twice"}, func(s *state, has func(string) bool) {
		if has("cache") {
			s.server = 150
		}
		if has("twice") {
			s.twice = 0
		}
	})
	found := settled(all)
	for _, want := range []struct {
		number, setting string
		share           float64
	}{{"cpu_us", "cache", 1}, {"cpu_us", "twice", 0}, {"write_kb", "twice", 1}} {
		p := partOf(t, found, want.number, want.setting)
		expect.True(t, math.Abs(p.Share-want.share) <= 0.02 &&
			p.Alone.Sure() == (want.share == 1), "of the difference, proven", want.number, want.setting, p.Share, p.Alone.Sure())
	}
	var records []explain.Record
	for _, s := range found {
		records = append(records, s.Records()...)
	}
	expect.True(t, len(records) >= 4 && !(records[0].Item != "setting cache" && records[0].Item != "setting twice") &&
		records[0].Share != nil && records[0].New == "a-cache-twice", records)
	delete(all, "a-cache-twice")
	expect.Equal(t, len(settled(all)), 0, "without a target that has both settings")
}

// Of settings that depend on each other each has what it does alone; the rest is said.
func TestSettleTogether(t *testing.T) {
	const client = 5
	all := having([]string{"a", "a-x", "a-y", "a-z", "a-x-y-z"}, func(s *state, has func(string) bool) {
		log := 0.0
		for setting, does := range map[string]float64{"x": 0.2, "y": 0.1, "z": 0.3} {
			if has(setting) {
				log += does
			}
		}
		if has("x") && has("y") {
			log += 0.4
		}
		s.server = (s.server+client)*math.Exp(log) - client
	})
	found := settled(all)
	for setting, log := range map[string]float64{"x": 0.2, "y": 0.1, "z": 0.3} {
		p := partOf(t, found, "cpu_us", setting)
		expect.Near(t, math.Log(p.Alone.Ratio), log, 0.01, setting)
		expect.Near(t, p.Share, log, 0.01, setting)
	}
	text := found[0].String()
	expect.True(t, strings.Contains(text, "by no setting alone: 4") || strings.Contains(text, "by no setting alone: 3"), text)
	delete(all, "a-z") // was never tried alone
	expect.Equal(t, len(settled(all)), 0, "a setting was not tried")
}
