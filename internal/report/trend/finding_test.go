package trend

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// change changes a campaign.
type change = func(*result.Campaign, []*result.Trial)

func durability(level string) change {
	return historytest.Each(func(t *result.Trial) { t.Durability, t.Knobs["durability"] = level, level })
}

func version(v string) change {
	return historytest.Each(func(t *result.Trial) { t.Versions[2].Value = v })
}

func canary(compute float64) change {
	return historytest.Each(func(t *result.Trial) { t.Canary = &observe.Canary{Compute: compute, Memory: 90} })
}

func rows(n float64) change {
	return historytest.Each(func(t *result.Trial) { t.Params["rows"] = n })
}

// lines returns the first lines of a store's history, with /store as its directory.
func lines(s *historytest.Store, n int, v View) []string {
	s.Helper()
	var b strings.Builder
	text(&b, s, v)
	all := strings.Split(strings.ReplaceAll(b.String(), s.Dir, "/store"), "\n")
	return all[:min(n, len(all))]
}

// The first line has the difference that separates runs and the rate that moved with it, with
// many runs or few.
func TestFirstLines(t *testing.T) {
	slow := historytest.Scale("rows_per_s", 0.128)
	quiet := "nightly (ibench): %d runs, 2026-10-01 02:00 to 2026-10-%02d 02:00"
	for name, c := range map[string]struct {
		before, since int
		old, now      []change
		want          []string
	}{
		"durability": {10, 10, []change{durability("process")}, []change{durability("os"), slow}, []string{
			"/store/night-10: durability process → os; insert rate in l.i1 61.0k/s → 7,855/s; not compared further",
			"  rumbench compare /store/night-09 /store/night-10 --across-durability"}},
		"durability, six runs": {3, 3, []change{durability("process")}, []change{durability("os"), slow}, []string{
			"/store/night-03: durability process → os; insert rate in l.i1 61.0k/s → 7,868/s; not compared further",
			"  rumbench compare /store/night-02 /store/night-03 --across-durability"}},
		"durability, two runs": {1, 1, []change{durability("process")}, []change{durability("os"), slow}, []string{
			"/store/night-01: durability process → os; insert rate in l.i1 61.2k/s → 7,807/s; not compared further"}},
		"a parameter": {10, 10, []change{rows(2e6)}, []change{rows(1e6), slow}, []string{
			"/store/night-10: rows 2000000 → 1000000; insert rate in l.i1 61.0k/s → 7,855/s; not compared further",
			"  rumbench compare /store/night-09 /store/night-10 --anyway"}},
		"a parameter and the version": {3, 3, nil, []change{rows(1e6), version("v3"), slow}, []string{
			"/store/night-03: rows 2000000 → 1000000, version pebble v2.1.7 → v3; insert rate in l.i1 61.0k/s → 7,868/s; not compared further"}},
		"the rate that was offered": {3, 3, []change{historytest.Offer(500, 10)}, []change{historytest.Offer(4000, 10)}, []string{
			"/store/night-03: rate of insert 500/s → 4000/s; highest rate of insert in l.i1 500/s → 4,000/s; not compared further",
			"  rumbench compare /store/night-02 /store/night-03 --anyway"}},
		"the machine": {3, 3, nil, []change{slow, historytest.Each(func(t *result.Trial) {
			t.Host = append(observe.Facts{{Name: "cpus usable", Value: "1"}}, t.Host...)
		})}, []string{
			"/store/night-03: cpus usable – → 1; insert rate in l.i1 61.0k/s → 7,868/s; not compared further",
			"  rumbench compare /store/night-02 /store/night-03"}},
		"the source of a number": {3, 3, nil, []change{historytest.Each(func(t *result.Trial) { t.Steps[0].Rows[7].Source = "process" })}, []string{
			"/store/night-03: source write_kb device → process; write_kb per insert row in l.i1 0.817 KB → 0.824 KB; not compared further"}},
		"the steps": {3, 3, nil, []change{historytest.Each(func(t *result.Trial) {
			t.Params["steps"] = []any{"l.x"}
			for i := range t.Steps {
				t.Steps[i].Name += "x"
			}
		})}, []string{
			"/store/night-03: steps – → [\"l.x\"]; no number in common with the runs before; not compared further"}},
		"the version": {10, 10, nil, []change{version("v3"), slow}, []string{
			"/store/night-10: version pebble v2.1.7 → v3; insert rate in l.i1 61.0k/s → 7,855/s, worse",
			"  rumbench compare /store/night-09 /store/night-10"}},
		"the version, six runs": {3, 3, nil, []change{version("v3"), slow}, []string{
			"/store/night-03: version pebble v2.1.7 → v3; insert rate in l.i1 61.0k/s → 7,868/s, not proven",
			"  rumbench compare /store/night-02 /store/night-03"}},
		"the version, in the last of many runs": {19, 1, nil, []change{version("v3"), slow}, []string{
			"/store/night-19: version pebble v2.1.7 → v3; insert rate in l.i1 61.2k/s → 7,834/s, not proven"}},
		"the machine's own speed": {10, 10, []change{canary(1)}, []change{canary(1.07), historytest.Scale("rows_per_s", 0.94)}, []string{
			"/store/night-10: insert rate in l.i1 61.0k/s → 57.7k/s, as the machine's own speed",
			"  rumbench compare /store/night-09 /store/night-10",
			"  between /store/night-09 (2026-10-10 02:00) and /store/night-10 (2026-10-11 02:00); numbers are medians of the runs before and since",
			"  the machine's own speed changed at the same time: computing took 1.07× as long before the trials since"}},
		"a version that changes nothing": {3, 3, nil, []change{version("v3")}, []string{fmt.Sprintf(quiet, 6, 6)}},
		"many of them":                   {10, 10, nil, []change{version("v3")}, []string{fmt.Sprintf(quiet, 20, 20)}},
		"nothing":                        {10, 10, nil, nil, []string{fmt.Sprintf(quiet, 20, 20)}},
		"a change that nothing explains": {10, 10, nil, []change{slow}, []string{
			"/store/night-10: insert rate in l.i1 61.0k/s → 7,855/s, worse"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := historytest.New(t)
			s.Nights(0, c.before, c.old...)
			s.Nights(c.before, c.before+c.since, c.now...)
			expect.Same(t, c.want, lines(s, len(c.want), View{Least: 1}))
		})
	}
}

// With few runs the best guess stands above their number.
func TestOdd(t *testing.T) {
	for name, c := range map[string]struct {
		by   float64
		end  int
		more change
		want string // the line above; "" for none
	}{
		"slower": {0.26, 5, nil, "  /store/night-02 is slower than the other 4 of its kind: insert rate in l.i1 0.259× their median; one run may be chance"},
		"faster": {3, 4, nil, "  /store/night-02 is faster than the other 3 of its kind: insert rate in l.i1 2.99× their median; one run may be chance"},
		"alike":  {1, 5, nil, ""},
		"several targets": {0.26, 5, func(c *result.Campaign, trials []*result.Trial) {
			c.Trials[2].Target = "other"
			trials[2].Rename("other")
		}, "  /store/night-02, db, is slower than the other 4 of its kind: insert rate in l.i1 0.259×"},
	} {
		s := historytest.New(t)
		for i := range c.end {
			var changes []change
			if c.more != nil {
				changes = append(changes, c.more)
			}
			if i == 2 {
				changes = append(changes, historytest.Each(func(t *result.Trial) {
					if t.Target == "db" {
						historytest.Scale("rows_per_s", c.by)(nil, []*result.Trial{t})
					}
				}))
			}
			s.Nights(i, i+1, changes...)
		}
		all := lines(s, 100, View{Least: 1})
		few := slices.IndexFunc(all, func(l string) bool { return strings.Contains(l, "with too few runs") })
		if guess := strings.Contains(all[few-1], "of its kind"); guess != (c.want != "") || guess && !strings.HasPrefix(all[few-1], c.want) {
			t.Errorf("%s: %s, want %s", name, all[few-1], c.want)
		}
	}
}

// Numbers that would be the same but for chance make no finding, whatever changes in the
// recorded facts from night to night.
func TestNoFindings(t *testing.T) {
	for _, n := range []int{2, 6, 9, 20, 40} {
		s := historytest.New(t)
		for i := range n {
			s.Nights(i, i+1, version(fmt.Sprint("build ", i)))
		}
		got := lines(s, 1, View{Least: 1})[0]
		expect.True(t, strings.HasPrefix(got, fmt.Sprintf("nightly (ibench): %d runs", n)), n, got)
	}
}

// A plan that is run with two parameters in turn was split once.
func TestInTurns(t *testing.T) {
	s := historytest.New(t)
	for i := range 12 {
		s.Nights(i, i+1, rows(float64(1+i%2)))
	}
	all := strings.Join(lines(s, 1000, View{Least: 1}), "\n")
	expect.Equal(t, strings.Count(all, "not compared further"), 1, all)
	expect.True(t, strings.HasPrefix(all, "/store/night-01: rows 1 → 2;"), all)
}

// Of a sweep over a parameter the last step is shown.
func TestSweep(t *testing.T) {
	s := historytest.New(t)
	for i := range 9 {
		s.Nights(i, i+1, rows(float64(1+i)))
	}
	all := strings.Join(lines(s, 1000, View{Least: 1}), "\n")
	expect.Equal(t, strings.Count(all, "not compared further"), 1, all)
	expect.True(t, strings.HasPrefix(all, "/store/night-08: rows 8 → 9;"), all)
}

// The last run comes first, but after those that split the history; a run's throughput comes
// before its latency and costs. A finding is about one target.
func TestOrderOfFindings(t *testing.T) {
	second := func(c *result.Campaign, trials []*result.Trial) {
		for n := range trials {
			c.Trials[n].Target = []string{"db", "other", "db"}[n]
			trials[n].Rename(c.Trials[n].Target)
		}
	}
	p99 := historytest.Scale("service_p99_us", 9)
	writes := func(_ *result.Campaign, trials []*result.Trial) {
		historytest.Scale("write_kb", 3)(nil, []*result.Trial{trials[0], trials[2]})
	}
	slow := historytest.Scale("rows_per_s", 0.5)
	s := historytest.New(t)
	s.Nights(0, 12, durability("none"), second)
	s.Nights(12, 24, second)
	s.Nights(24, 36, second, p99, slow)
	s.Nights(36, 48, second, p99, slow, writes)
	var got []string
	for _, line := range lines(s, 1000, View{Least: 1}) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "/store/") || strings.HasPrefix(line, "  db (pebble) · l.i1 · ") {
			got = append(got, strings.Trim(strings.Join(words[:min(6, len(words))], " "), ":;"))
		}
	}
	want := []string{
		"/store/night-12, db: durability none → os",
		"db (pebble) · l.i1 · rows_per_s",
		"/store/night-12, other: durability none → os",
		"/store/night-36, db: write_kb per insert row",
		"db (pebble) · l.i1 · write_kb",
		"/store/night-24, db: insert rate in l.i1",
		"db (pebble) · l.i1 · rows_per_s",
		"db (pebble) · l.i1 · service_p99_us",
		"/store/night-24, other: insert rate in l.i1",
	}
	expect.Same(t, want, got)
}

// Acknowledged findings are a line each, after the others; a note on some numbers leaves the
// others.
func TestAcknowledged(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 12, durability("process"))
	s.Nights(12, 24, historytest.Scale("rows_per_s", 0.5))
	s.Nights(24, 36, historytest.Scale("rows_per_s", 0.25), historytest.Scale("write_kb", 3))
	s.Text("judged.yaml", "acknowledged:\n- {run: night-12, note: as production}\n- {run: ./night-24/, metrics: throughput, note: known}\n")
	var got []string
	for _, line := range lines(s, 1000, View{Least: 1}) {
		if strings.HasPrefix(line, "/store/") || strings.HasPrefix(line, "acknowledged") || strings.HasPrefix(line, "  /store/") {
			got = append(got, line)
		}
	}
	want := []string{
		"/store/night-24: write_kb per insert row in l.i1 0.820 KB → 2.46 KB, worse",
		"acknowledged in judged.yaml: 2 findings (--all shows them)",
		"  /store/night-12: durability process → os; insert rate in l.i1 61.1k/s → 30.6k/s; not compared further: as production",
		"  /store/night-24: insert rate in l.i1 30.6k/s → 15.3k/s, worse: known",
	}
	expect.Same(t, want, got)
}

// A directory of any name can be pasted into a shell.
func TestCommand(t *testing.T) {
	s := historytest.New(t)
	for i := range 2 {
		c, trials := historytest.Night(i, rows(float64(i)))
		s.Add(fmt.Sprintf("it's %d", i), c, trials)
	}
	expect.Equal(t, lines(s, 2, View{})[1], `  rumbench compare '/store/it'\''s 0' '/store/it'\''s 1' --anyway`)
}
