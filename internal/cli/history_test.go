package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

func durability(level string) func(*result.Campaign, []*result.Trial) {
	return historytest.Each(func(t *result.Trial) { t.Durability = level })
}

// The exit status of history is that of a gate: numbers that are not compared or not proven must
// not pass, acknowledged changes do.
func TestHistoryGate(t *testing.T) {
	slow := historytest.Scale("rows_per_s", 0.5)
	const sure = "rows_per_s < 0.95 && sure"
	for _, c := range []struct {
		name, condition string
		make            func(s *historytest.Store)
		judged          string
		code            int
		stderr          string // a pattern
	}{
		{"nothing changed", sure, func(s *historytest.Store) { s.Nights(0, 24) }, "", 0, `^$`},
		{"slower", sure, func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "", 3,
			`^rows_per_s < 0.95 && sure: db since night-12 against db before night-12 in l.i1, insert: rows_per_s 0\.\d+× worse\nrumbench: a condition holds in 1 place\n$`},
		{"by a nickname", "throughput < 0.95", func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "", 3, `a condition holds in 1 place`},
		{"not by so much", "rows_per_s < 0.4 && sure", func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "", 0, `^$`},
		{"by its verdict", "verdict.rows_per_s == 'worse' && new.rows_per_s < base.rows_per_s", func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "", 3, `holds in 1 place`},
		{"in another step", sure + " && step == 'settle'", func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "", 2, `there is no step "settle"`},
		{"faster", sure, func(s *historytest.Store) { s.Nights(0, 12, slow); s.Nights(12, 24) }, "", 0, `^$`},
		{"slower, acknowledged", sure, func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow) }, "{run: night-12, note: known}", 0, `^$`},
		{"slower twice, acknowledged once", sure, func(s *historytest.Store) {
			s.Nights(0, 12)
			s.Nights(12, 24, slow)
			s.Nights(24, 36, historytest.Scale("rows_per_s", 0.25))
		}, "{run: night-12, note: known}", 3, `db since night-24 .*\n.*in 1 place`},
		{"not compared", sure, func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow, durability("none")) }, "", 4,
			`in l.i1: rows_per_s cannot be judged: the runs before night-12 are not comparable\nrumbench: a condition cannot be judged in 1 place\n$`},
		{"not compared, acknowledged", sure, func(s *historytest.Store) { s.Nights(0, 12); s.Nights(12, 24, slow, durability("none")) }, "{run: night-12, note: known}", 0, `^$`},
		{"not proven", sure, func(s *historytest.Store) {
			s.Nights(0, 19)
			s.Nights(19, 20, slow, historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v3" }))
		}, "", 4, `rows_per_s cannot be judged: 19 runs before, 1 run since: it may be chance`},
		{"too few", sure, func(s *historytest.Store) { s.Nights(0, 9) }, "", 4, `rows_per_s cannot be judged: 9 of at least 10 runs`},
		{"too few, but ended", sure, func(s *historytest.Store) {
			s.Nights(0, 2, durability("none"))
			s.Nights(2, 14)
		}, "{run: night-02, note: known}", 0, `^$`},
		{"not measured", "response_p99_us > 1.1", func(s *historytest.Store) { s.Nights(0, 12) }, "", 4, `its metrics are not known on both sides`},
		{"no such metric", "velocity < 1", func(s *historytest.Store) { s.Nights(0, 1) }, "", 2, `there is no metric "velocity"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := historytest.New(t)
			c.make(s)
			if c.judged != "" {
				s.Text("judged.yaml", "acknowledged: ["+c.judged+"]\n")
			}
			stdout, stderr, code := rumbench(t, "history", s.Dir, "--fail-if", c.condition)
			expect.True(t, code == c.code && regexp.MustCompile(c.stderr).MatchString(stderr),
				"exit status", code, "want", c.code, "stderr", stderr, "want", c.stderr, stdout)
		})
	}
}

// The command that a finding shows compares its two runs.
func TestHistoryCommand(t *testing.T) {
	slow := historytest.Scale("rows_per_s", 0.128)
	for name, change := range map[string]func(*result.Campaign, []*result.Trial){
		"durability":       durability("none"),
		"a parameter":      historytest.Each(func(t *result.Trial) { t.Params["rows"] = 1.0 }),
		"the work offered": historytest.Each(func(t *result.Trial) { t.Steps[0].Groups[0].Clients = 8 }),
		"the version":      historytest.Each(func(t *result.Trial) { t.Versions[2].Value = "v3" }),
		"the machine":      historytest.Each(func(t *result.Trial) { t.Host[3].Value = "Xeon" }),
		"two of those":     historytest.Each(func(t *result.Trial) { t.Durability, t.Params["rows"] = "none", 1.0 }),
	} {
		s := historytest.New(t)
		s.Nights(0, 3)
		s.Nights(3, 6, change, slow)
		stdout, _, _ := rumbench(t, "history", s.Dir)
		lines := strings.Split(stdout, "\n")
		words := strings.Fields(lines[1])
		if !strings.HasPrefix(lines[0], s.Path("night-03")+": ") || len(words) < 4 || words[0] != "rumbench" {
			t.Errorf("%s:\n%s", name, stdout)
			continue
		}
		if stdout, stderr, code := rumbench(t, words[1:]...); code != 0 || !strings.Contains(stdout, "0.128×") {
			t.Errorf("%s: %v: exit status %d: %s\n%s", name, words, code, stderr, stdout)
		}
	}
}

func TestHistoryFiles(t *testing.T) {
	s := historytest.New(t)
	for i, revision := range []string{"v3", "v1", "v2", "other"} {
		campaign, trials := historytest.Night(i)
		s.Add(fmt.Sprint(revision), campaign, trials)
	}
	s.Text("order", "v1\nv2\n\nv3\n")
	s.Text("nothing", "v7\n")
	stdout, stderr, code := rumbench(t, "history", s.Dir, "--order", s.Path("order"), "--json", "--metric", "throughput")
	var at []int
	for _, v := range []string{"v1", "v2", "v3"} {
		at = append(at, strings.Index(stdout, `"dir":"`+s.Path(v)))
	}
	if code != 0 || at[0] < 0 || at[0] > at[1] || at[1] > at[2] || strings.Contains(stdout, s.Path("other")) ||
		stderr != "left out: "+s.Path("other")+": its revision is not in "+s.Path("order")+"\n" {
		t.Errorf("exit status %d: %s\n%s", code, stderr, stdout)
	}
	calls(t, []call{
		{"", "history " + s.Dir + " --order " + s.Path("nothing"), 2, ``, `has the revision of no run\nhint: a line has a revision or version`},
		{"", "history " + s.Dir + " --order " + s.Path("none"), 1, ``, `read the order of revisions: open `},
	})
	s.Text("judged.yaml", "acknowledged:\n- {run: v9, note: gone}\n")
	calls(t, []call{{"no such run", "history " + s.Dir, 0, ``, `judged.yaml:2:9: there is no run "v9"`}})
	s.Text("judged.yaml", "acknowledged:\n- {run: v1}\n")
	calls(t, []call{{"no note", "history " + s.Dir, 2, ``, `judged.yaml:2:3: an acknowledged change has no note`}})
}
