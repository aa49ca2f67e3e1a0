package report

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// The table of clients has the rate of each group, its course if it changes, and the
// shares of its operations.
func TestGroups(t *testing.T) {
	in := fixture(1)
	in.Trials[0].Steps[2].Groups = []result.Group{
		{Name: "mixed", Clients: 2, Ops: []string{"take", "look"}, Shares: map[string]float64{"take": 0.9, "look": 0.1}},
		{Name: "paced", Clients: 3, Ops: []string{"put"}, Rate: 1000, Pace: "even"},
		{Name: "daily", Clients: 4, Ops: []string{"put"}, Rate: 100, Pace: "poisson", Ramp: []result.Ramp{{Seconds: 1, From: 50, To: 150}, {Seconds: 1, From: 150, To: 50}}},
		{Name: "unknown", Clients: 1, Ops: []string{"a", "b"}, Ramp: []result.Ramp{}},
	}
	want := map[string][]string{
		"mixed": {"2", "none: closed loop", "–", "take 90 %, look 10 %"},
		"paced": {"3", "1,000/s", "even", "put"},
		"daily": {"4", "100/s on average, 50.0 to 150/s", "poisson", "put"}, "unknown": {"1", "none: closed loop", "–", "a, b"},
	}
	rows := groupsTable(in.campaign().steps[2]).Groups[0].Rows
	expect.Must(t, len(rows) == len(want), len(rows), "groups")
	for _, row := range rows {
		var got []string
		for _, c := range row.Cells {
			got = append(got, c.Text)
		}
		expect.List(t, got, want[row.Head], row.Head)
	}
}
