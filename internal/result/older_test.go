package result

import (
	"fmt"
	"slices"
	"testing"
)

// Results of builds that knew no cpu_us have it when they are read: of a server
// the sum of its parts, of an embedded engine its process, and where a part is
// unknown none.
func TestCPUOfOlderBuilds(t *testing.T) {
	row := func(metric, per, source string, v float64) Row {
		return Row{Step: "q", Metric: metric, Unit: "µs", Per: per, Source: source, Value: v, N: 10}
	}
	for _, c := range []struct {
		name    string
		rows    []Row
		hosting Hosting
		want    []string
	}{
		{"server", []Row{row("server_cpu_us", "query", OfServer, 40), row("server_cpu_us", "insert row", OfServer, 400),
			row("client_cpu_us", "query", OfClient, 10), row("client_cpu_us", "insert row", OfClient, 100)}, Server,
			[]string{"50 query " + OfAll, "500 insert row " + OfAll}},
		{"embedded", []Row{row("server_cpu_us", "query", OfProcess, 40), row("client_cpu_us", "query", "null engine", 10)}, Embedded,
			[]string{"40 query " + OfProcess}},
		{"without the client", []Row{row("server_cpu_us", "query", OfServer, 40)}, Server, nil},
		{"imported", []Row{row("client_cpu_us", "query", "/usr/bin/time of the client", 10)}, "", nil},
		{"newer", []Row{row("cpu_us", "query", OfAll, 55), row("server_cpu_us", "query", OfServer, 40), row("client_cpu_us", "query", OfClient, 10)}, Server,
			[]string{"55 query " + OfAll}},
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
