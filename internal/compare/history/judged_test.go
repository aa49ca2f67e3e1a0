package history

import (
	"errors"
	"strings"
	"testing"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

func TestJudged(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 1)
	s.Text(JudgedFile, "acknowledged:\n  - run: night-00\n    steps: [l.i1, settle]\n    metrics: p99\n    note: >-\n      one\n      line\n  - {run: deep/../night-00, targets: other, note: all of it}\n")
	j := expect.Value(ReadJudged(s.Dir))(t)
	dir := s.Path("night-00")
	for _, c := range []struct {
		run  string
		name Name
		want string
	}{
		{dir, Name{Target: "db", Step: "l.i1", Metric: "service_p99_us"}, "one line"},
		{dir, Name{Target: "db", Step: "l.i1", Metric: "response_p99_us"}, "one line"},
		{dir, Name{Target: "db", Step: "l.x", Metric: "service_p99_us"}, ""},
		{dir, Name{Target: "db", Step: "l.i1", Metric: "rows_per_s"}, ""},
		{dir, Name{Target: "other", Step: "l.i1", Metric: "rows_per_s"}, "all of it"},
		{dir, Name{Target: "other"}, "all of it"},
		{dir, Name{Target: "db"}, ""},
		{s.Path("night-01"), Name{Target: "other", Step: "l.i1", Metric: "rows_per_s"}, ""},
	} {
		expect.Equal(t, j.note(c.run, c.name), c.want, c.run, c.name)
	}
	if j, err := ReadJudged(t.TempDir()); err != nil || j != nil {
		t.Errorf("without a file: %v, %v", j, err)
	}
}

// What is wrong in the file is named with its place and a hint; a run that is gone is a remark.
func TestJudgedWrong(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 1)
	for text, want := range map[string][]string{
		"":                                    {":1:1: the file of acknowledged changes is empty", "hint: the least file of acknowledged changes is: acknowledged:"},
		"acknowledge: []":                     {`:1:1: unknown key "acknowledge" in the file`, "did you mean acknowledged?"},
		"acknowledged: {run: night-00}":       {":1:15: acknowledged must be a list"},
		"acknowledged:\n- night-00":           {":2:3: an acknowledged change must be a map of keys", "its keys: run, note, targets, steps, metrics"},
		"acknowledged:\n- {run: night-00}":    {":2:3: an acknowledged change has no note"},
		"acknowledged:\n- {run: a, note: ''}": {":2:18: note: the text is empty"},
		"acknowledged:\n- {run: a, nota: b}":  {`:2:12: unknown key "nota"`, "did you mean note?", "has no note"},
		"acknowledged:\n- {run: a, metrics: troughput, note: b}": {`:2:21: metrics: there is no metric "troughput"`, "did you mean throughput?"},
	} {
		s.Text(JudgedFile, text)
		_, err := ReadJudged(s.Dir)
		if _, ok := errors.AsType[hint.Problems](err); !ok {
			t.Errorf("%q: %v", text, err)
			continue
		}
		for _, part := range want {
			expect.Contains(t, err.Error(), part, text, err)
		}
	}
	s.Text(JudgedFile, "acknowledged:\n- {run: night-00, note: a}\n- {run: nigth-00, note: a}\n- {run: gone, note: a}\n")
	j := expect.Value(ReadJudged(s.Dir))(t)
	want := "judged.yaml:3:9: there is no run \"nigth-00\"\n    - {run: nigth-00, note: a}\n            ^\nhint: did you mean night-00?\n" +
		"judged.yaml:4:9: there is no run \"gone\"\n    - {run: gone, note: a}\n            ^\nhint: remove the entry if the run was removed"
	expect.Same(t, want, strings.ReplaceAll(j.Unknown(s.Dir, runsOf(s)).Error(), s.Dir+"/", ""))
}
