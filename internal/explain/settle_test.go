package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/result"
)

// An experiment says which setting makes which difference.
func TestSettle(t *testing.T) {
	cold, single, both := usual(), usual(), usual()
	cold.server, cold.knobs = 150, map[string]string{"cache": "16MiB"}
	single.twice, single.knobs = 0, map[string]string{"innodb_doublewrite": "OFF"}
	both.server, both.twice, both.knobs = 150, 0, map[string]string{"cache": "16MiB", "innodb_doublewrite": "OFF"}
	var trials []*result.Trial
	for n := 1; n <= 4; n++ {
		for name, s := range map[string]state{"a": usual(), "a-cache": cold, "a-innodb_doublewrite": single, "b": both} {
			s.idle += float64(n) / 10
			s.server *= 1 + float64(n*n%5)/500
			s.pages *= 1 + float64(n*n%3)/100
			trials = append(trials, s.trial(name, n))
		}
	}
	c := compare.New(trials)
	target := func(name string) *compare.Target {
		for _, of := range c.Targets {
			if of.Name == name {
				return of
			}
		}
		return nil
	}
	of := func(name string) *explain.Explanation {
		return explain.Explain(c, c.Judge(target("a"), target(name)))
	}
	var found []string
	for _, s := range explain.Settle([]*explain.Explanation{of("a-cache"), of("b"), of("a-innodb_doublewrite")}) {
		if len(s.Alone) > 0 {
			found = append(found, fmt.Sprintf("%s %s %.1f", s.Metric, s.Alone[0].Setting.What, s.Alone[0].Share))
		}
	}
	for _, want := range []string{"cpu_us cache 1.0", "write_kb innodb_doublewrite 1.0"} {
		if !strings.Contains(strings.Join(found, ", "), want) {
			t.Errorf("%q has no %q", found, want)
		}
	}
	if list := explain.Settle([]*explain.Explanation{of("a-cache"), of("a-innodb_doublewrite")}); len(list) != 0 {
		t.Errorf("without a target that has both settings: %v", list)
	}
}
