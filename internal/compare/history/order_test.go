package history

import (
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// Runs are sorted by what names their revision, whenever they were made.
func TestInOrder(t *testing.T) {
	version := func(v string) func(*result.Trial) { return func(t *result.Trial) { t.Versions[2].Value = v } }
	binary := func(path string) func(*result.Trial) { return func(t *result.Trial) { t.Knobs["binary"] = path } }
	const first, second = "1f2e3d4c5b6a79880123456789abcdef01234567", "ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12"
	type run struct {
		dir string
		set func(*result.Trial)
	}
	for name, c := range map[string]struct {
		runs  []run
		order string
		want  string
	}{
		"versions":               {[]run{{"a", version("v2.1.10")}, {"b", version("v2.1.1")}, {"c", version("2.1.9")}}, "2.1.1 v2.1.9 v2.1.10", "b c a"},
		"not a part of one":      {[]run{{"a", version("v2.1.10")}, {"b", version("v12.1.1")}}, "2.1.1 2.1", " left out a b"},
		"a release":              {[]run{{"a", version("11.4.2-MariaDB-log")}, {"b", version("10.11.6-MariaDB")}}, "10.11.6 11.4.2", "b a"},
		"as printed":             {[]run{{"a", version("11.4.2-MariaDB")}, {"b", version("10.11.6-MariaDB")}}, "10.11.6-MariaDB 11.4.2-MariaDB", "b a"},
		"commits in directories": {[]run{{"x-ab12cd3", version("v1")}, {"x-1f2e3d4c5b", version("v1")}}, first + " " + second, "x-1f2e3d4c5b x-ab12cd3"},
		"abbreviated commits":    {[]run{{"x-" + second, version("v1")}, {"x-" + first, version("v1")}}, "1f2e3d4 ab12cd3", "x-" + first + " x-" + second},
		"too short":              {[]run{{"x-ab12cd", version("v1")}}, second, " left out x-ab12cd"},
		"of binaries":            {[]run{{"a", binary("/builds/ab12cd34/bin/mysqld")}, {"b", binary("/builds/1f2e3d4c/bin/mysqld")}}, first + " " + second, "b a"},
		"the directory first":    {[]run{{"v2", version("v1")}, {"v1", version("v2")}}, "v1 v2", "v1 v2"},
		"of one revision by age": {[]run{{"c", version("v2")}, {"b", version("v1")}, {"a", version("v1")}}, "v1 v2", "b a c"},
		"of rumbench":            {[]run{{"a", func(t *result.Trial) { t.Versions[0].Value = "0.4.0" }}, {"b", version("v9")}}, "0.3.0 0.4.0", "b a"},
		"without a revision":     {[]run{{"a", version("v3")}, {"b", version("v1")}}, "v1 v2", "b left out a"},
	} {
		s := historytest.New(t)
		for i, r := range c.runs {
			campaign, trials := historytest.Night(i, historytest.Each(r.set))
			s.Add(r.dir, campaign, trials)
		}
		sorted, rest := InOrder(runsOf(s), strings.Fields(c.order))
		names := func(runs []*Run) (out string) {
			for _, r := range runs {
				out += " " + filepath.Base(r.Dir)
			}
			return out
		}
		got := strings.TrimPrefix(names(sorted), " ")
		if len(rest) > 0 {
			got += " left out" + names(rest)
		}
		expect.Equal(t, got, c.want, name)
	}
}

// A change between revisions is found however the runs were ordered in time.
func TestChangeInOrder(t *testing.T) {
	s := historytest.New(t)
	for i := range 20 {
		revision := i * 7 % 20
		change := historytest.Scale("rows_per_s", map[bool]float64{true: 0.5, false: 1}[revision >= 12])
		campaign, trials := historytest.Night(i, change)
		s.Add("build-"+commit(revision), campaign, trials)
	}
	var order []string
	for i := range 20 {
		order = append(order, commit(i))
	}
	runs, rest := InOrder(runsOf(s), order)
	f := Families(runs, Pick{})
	Detect(f)
	found := Findings(f, nil)
	expect.True(t, len(rest) == 0 && len(found) == 1 && found[0].Run.Dir == s.Path("build-"+commit(12)) &&
		found[0].Before.Dir == s.Path("build-"+commit(11)), "left out, findings", len(rest), found)
}

func commit(i int) string { return "c0ffee" + string(rune('a'+i/10)) + string(rune('0'+i%10)) }
