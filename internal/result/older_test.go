package result

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rumbench/internal/metric"
)

// Results of builds that knew no cpu_us have it when they are read: of a server
// the sum of its parts, of an embedded engine its process, and where a part is
// unknown none.
func TestCPUOfOlderBuilds(t *testing.T) {
	row := func(name, per, source string, v float64) metric.Row {
		return metric.Row{Step: "q", Metric: name, Unit: "µs", Per: per, Source: source, Value: v, N: 10}
	}
	for _, c := range []struct {
		name    string
		rows    []metric.Row
		hosting Hosting
		want    []string
	}{
		{"server", []metric.Row{row("server_cpu_us", "query", metric.OfServer, 40), row("server_cpu_us", "insert row", metric.OfServer, 400),
			row("client_cpu_us", "query", metric.OfClient, 10), row("client_cpu_us", "insert row", metric.OfClient, 100)}, Server,
			[]string{"50 query " + metric.OfAll, "500 insert row " + metric.OfAll}},
		{"embedded", []metric.Row{row("server_cpu_us", "query", metric.OfProcess, 40), row("client_cpu_us", "query", "null engine", 10)}, Embedded,
			[]string{"40 query " + metric.OfProcess}},
		{"without the client", []metric.Row{row("server_cpu_us", "query", metric.OfServer, 40)}, Server, nil},
		{"imported", []metric.Row{row("client_cpu_us", "query", "/usr/bin/time of the client", 10)}, "", nil},
		{"newer", []metric.Row{row("cpu_us", "query", metric.OfAll, 55), row("server_cpu_us", "query", metric.OfServer, 40), row("client_cpu_us", "query", metric.OfClient, 10)}, Server,
			[]string{"55 query " + metric.OfAll}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, TrialFile, &Trial{Format: Format, Status: Complete, Steps: []Step{{Name: "q", Rows: c.rows}}})
			tr, err := ReadTrial(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range tr.Steps[0].Rows {
				if r.Metric == "cpu_us" {
					got = append(got, fmt.Sprint(r.Value, " ", r.Per, " ", r.Source))
				}
			}
			if tr.Hosting != c.hosting || !slices.Equal(got, c.want) {
				t.Errorf("hosting %q, %q; want %q, %q", tr.Hosting, got, c.hosting, c.want)
			}
		})
	}
}

// Warnings and notes of builds that wrote texts only have codes when they are
// read, numbers the marks that belong to them, and metrics their names of today.
func TestWarningsOfOlderBuilds(t *testing.T) {
	const trial = `{"format": 1, "status": "complete", "warnings": ["a doubt"], "steps": [{"name": "q", "warnings":
		["group g: get: rows were missing: 1 of 2 were found for each get; what is not there costs less. The step cannot be compared"], "notes":
		["the server waited for its clients in 64 % of the samples: of the 2 processors that it may use rumbench had 1.90, and its threads stood in line for 0.20 more, but other programs had some too"],
		"not_comparable": ["rows missing"], "rows": [
		{"metric": "write_kb", "warnings": ["the device wrote 12.0 MB, of which this process caused 2.0 MB: somebody else used it"]},
		{"metric": "write_kb", "warnings": ["lower bound: 3.0 MB were written, and changes of 1.0 MB were put off beyond the end of the step, which was too short for them to be written as they come"]},
		{"metric": "settled_write_kb", "disturbed": true},
		{"metric": "server_line_us", "value": 7}]}]}`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, TrialFile), []byte(trial), 0o644); err != nil {
		t.Fatal(err)
	}
	tr, err := ReadTrial(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &tr.Steps[0]
	if !metric.Has(s.Warnings, metric.TooFewRows) || !metric.Has(s.Notes, metric.ClientWaitedOthers) || tr.Warnings[0].Text != "a doubt" {
		t.Errorf("%+v, %+v, %+v", s.Warnings, s.Notes, tr.Warnings)
	}
	for i, want := range []struct{ disturbed, atLeast bool }{{true, false}, {false, true}, {true, false}, {}} {
		if r := s.Rows[i]; r.Disturbed != want.disturbed || r.AtLeast != want.atLeast {
			t.Errorf("%+v", r)
		}
	}
	if r := s.Find("server_runqueue_us", "", ""); r == nil || r.Value != 7 {
		t.Errorf("%+v", r)
	}
}
