package result

import (
	"fmt"
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
