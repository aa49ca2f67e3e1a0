package report

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// searched returns a campaign in which a rate was searched for: each target's answer,
// and its probes.
func searched(answers map[string]*result.Search, names ...string) Input {
	in := sweepFixture(1, 0, 8)
	in.Trials = in.Trials[:len(names)]
	for i, name := range names {
		t := in.Trials[i].Trial
		base := t.Steps[0]
		base.Name, base.Base, base.Axes, base.Search = "oltp", "", nil, answers[name]
		t.Target = name
		t.Steps = []result.Step{base}
		add := rowAdder(t, &t.Steps[0])
		add("clients", "", "highest_rate", answers[name].Kept, "1/s", "")
		for k, suffix := range []string{"100", "200", "400", "800", "1600"} {
			p := base
			p.Name, p.Base, p.Search, p.Rows = "oltp@"+suffix, "oltp", nil, nil
			p.Axes = []result.Axis{{Name: "rate", Value: float64(int(100) << k)}}
			t.Steps = append(t.Steps, p)
			s := &t.Steps[len(t.Steps)-1]
			add := rowAdder(t, s)
			add("clients", "transaction", "rows_per_s", float64(int(100)<<k), "1/s", "")
			add("clients", "transaction", "response_p99_us", float64(k+1)*4e3, "µs", "")
		}
		for _, s := range t.Steps {
			for r := range s.Rows {
				s.Rows[r].Target, s.Rows[r].Step = name, s.Name
			}
		}
	}
	return in
}

// What a search found is the first thing that is said about its step, and its
// probes are never what a target did at most.
func TestSearch(t *testing.T) {
	answers := map[string]*result.Search{
		"innodb":   {Promise: "p99_ms < 20", Kept: 800, Took: 16, Broke: 1600, Low: 800, High: 1600, Probes: 7, Closed: 900, Why: "p99 313 ms"},
		"postgres": {Promise: "p99_ms < 20", Kept: 400, Took: 12, Broke: 800, Low: 400, High: 800, Probes: 7, Closed: 900, Why: "12 operations were shed"},
		"slow":     {Promise: "p99_ms < 20", Broke: 100, High: 100, Probes: 7, Closed: 900, Why: "p99 40 ms"},
		"fast":     {Promise: "p99_ms < 20", Kept: 1600, Took: 12, Low: 1600, Probes: 7, Closed: 2000},
	}
	for _, c := range []struct {
		targets []string
		want    string
	}{
		{[]string{"innodb"}, "innodb: highest rate with p99 < 20 ms: 800/s (800 to 1,600), 7 probes; closed loop 900/s."},
		{[]string{"slow"}, "slow: no rate that was tried kept p99 < 20 ms in most of its probes (lowest 100/s: p99 40 ms), 7 probes; closed loop 900/s."},
		{[]string{"fast"}, "fast: highest rate with p99 < 20 ms: at least 1,600/s, 7 probes; closed loop 2,000/s."},
		{[]string{"postgres", "slow", "innodb"}, "the highest rate with p99 < 20 ms: 800/s (800 to 1,600) on innodb and 400/s (400 to 800) on postgres; no rate that was tried kept p99 < 20 ms in most of its probes on slow (lowest 100/s: p99 40 ms)."},
		{[]string{"postgres", "fast"}, "the highest rate with p99 < 20 ms: at least 1,600/s on fast and 400/s (400 to 800) on postgres."},
	} {
		in := searched(answers, c.targets...)
		v := verdictOn(newCampaign(in.Trials))
		first := -1
		for i, s := range v {
			expect.Lacks(t, s.Text, "at most")
			if first < 0 && s.Name == "oltp" {
				first = i
			}
		}
		expect.True(t, first >= 0 && v[first].Text == c.want, c.targets, v, c.want)
		text := plainText(t, in, 0)
		for _, name := range c.targets {
			expect.Contains(t, text, "\n  "+name+": "+answers[name].String()+"\n", "the summary does not say")
		}
		expect.Contains(t, text, "p99 of response time, over rate", "the summary does not show the probes' p99")
		expect.Contains(t, text, "16.0 ms", "the summary does not show the probes' p99")
	}
}

// Failed attempts are reported below their step, and beside a throughput that
// they may be the reason of.
func TestFailures(t *testing.T) {
	in := sweepFixture(1, 0, 8)
	in.Trials = in.Trials[1:3]
	for i := range in.Trials {
		tr := in.Trials[i].Trial
		tr.Steps = tr.Steps[:1]
		s := &tr.Steps[0]
		s.Base, s.Axes, s.Rows = "", nil, nil
		add := rowAdder(tr, s)
		add("clients", "transaction", "rows_per_s", float64(1000-700*i), "1/s", "")
		if i == 1 {
			add("clients", "transaction", "attempts", 6000, "count", "")
			add("clients", "transaction", "given_up", 3, "count", "")
			add("clients", "transaction", "errors_lock_timeout", 3, "count", "")
			add("clients", "transaction", "errors_deadlock", 420, "count", "")
		}
	}
	name := in.Trials[1].Target
	text := plainText(t, in, 0)
	expect.Equal(t, strings.Count(text, "attempts failed"), 1, "the summary does not say")
	expect.Contains(t, text, "\n  "+name+": 423 attempts failed (deadlock 420, lock timeout 3), 7 % of all; 3 given up\n", "the summary does not say")
	v := verdictOn(newCampaign(in.Trials))
	expect.Contains(t, v[0].Text, "; "+name+" had 420 deadlocks and 3 lock timeouts.", "does not say", v)
	in.Trials[1].Steps[0].Rows[0].Value = 600 // not so far apart
	expect.Lacks(t, verdictOn(newCampaign(in.Trials))[0].Text, "deadlocks")
}
