package explain_test

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/result"
)

// settled runs an experiment of two settings, of which each target has some.
func settled(targets map[string]state) []explain.Settled {
	var trials []*result.Trial
	for n := 1; n <= 4; n++ {
		for name, s := range targets {
			s.idle += float64(n) / 10
			s.server *= 1 + float64(n*n%5)/500
			s.pages *= 1 + float64(n*n%3)/100
			s.knobs = map[string]string{}
			if strings.Contains(name, "cache") || name == "b" {
				s.knobs["cache"] = "16MiB"
			}
			if strings.Contains(name, "doublewrite") || name == "b" {
				s.knobs["innodb_doublewrite"] = "OFF"
			}
			trials = append(trials, s.trial(name, n))
		}
	}
	c := compare.New(trials)
	var base *compare.Target
	for _, t := range c.Targets {
		if t.Name == "a" {
			base = t
		}
	}
	var list []*explain.Explanation
	for _, t := range c.Targets {
		if t != base {
			list = append(list, explain.Explain(c, c.Judge(base, t)))
		}
	}
	return explain.Settle(list)
}

// shareOf returns the share of a setting in a number, and its effect alone.
func shareOf(t *testing.T, of []explain.Settled, number, setting string) (share, alone float64) {
	t.Helper()
	for _, s := range of {
		for _, p := range s.Parts {
			if s.Metric == number && p.Setting.What == setting {
				return p.Share, p.Alone.Ratio
			}
		}
	}
	t.Errorf("nothing is settled of %s and %s", number, setting)
	return 0, 0
}

// An experiment says which setting makes which difference.
func TestSettle(t *testing.T) {
	cold, single, both := usual(), usual(), usual()
	cold.server, single.twice, both.server, both.twice = 150, 0, 150, 0
	all := map[string]state{"a": usual(), "a-cache": cold, "a-doublewrite": single, "b": both}
	found := settled(all)
	for _, want := range []struct {
		number, setting string
		share           float64
	}{{"cpu_us", "cache", 1}, {"cpu_us", "innodb_doublewrite", 0}, {"write_kb", "innodb_doublewrite", 1}} {
		if share, _ := shareOf(t, found, want.number, want.setting); math.Abs(share-want.share) > 0.02 {
			t.Errorf("%s, %s: %.3f of the difference", want.number, want.setting, share)
		}
	}
	delete(all, "b")
	if list := settled(all); len(list) != 0 {
		t.Errorf("without a target that has both settings: %v", list)
	}
}

// Where either of two settings makes all of the difference, each has half of it.
func TestSettleEither(t *testing.T) {
	cold := usual()
	cold.server = 150
	found := settled(map[string]state{"a": usual(), "a-cache": cold, "a-doublewrite": cold, "b": cold})
	for _, setting := range []string{"cache", "innodb_doublewrite"} {
		if share, alone := shareOf(t, found, "cpu_us", setting); math.Abs(share-0.5) > 0.01 || alone < 1.3 {
			t.Errorf("%s: %.3f of the difference, alone %.2f", setting, share, alone)
		}
	}
	found = settled(map[string]state{"a": usual(), "a-cache": cold, "b": cold}) // not all were measured
	if share, _ := shareOf(t, found, "cpu_us", "cache"); math.Abs(share-1) > 0.01 || strings.Contains(found[0].String(), "on average") {
		t.Errorf("%.3f of the difference: %s", share, found[0])
	}
}
