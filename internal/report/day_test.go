package report

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// A line over time never has more points than a screen can show, and folding loses nothing
// that was counted: of a day, at intervals of a second.
func TestTrackIsBounded(t *testing.T) {
	const seconds = 24 * 60 * 60
	trial := fixture(1).Trials[0]
	trial.Steps = trial.Steps[4:5]
	trial.Steps[0].Seconds = seconds
	c := newCampaign([]Trial{trial})
	tr := readSeries(c)[c.steps[0]][0]
	expect.True(t, len(tr.Points) <= maxPoints && len(tr.Points) >= maxPoints/2 &&
		cap(tr.Points) <= 2*maxPoints, len(tr.Points), cap(tr.Points))
	var got, want struct{ rows, time, highest float64 }
	for _, p := range tr.Points {
		got.rows, got.time, got.highest = got.rows+p.Rows, got.time+p.OpsTime, max(got.highest, p.Max)
	}
	want.time = seconds
	expect.NoError(t, trial.Series(func(l result.Line) error {
		if l.Group == "query" {
			want.rows, want.highest = want.rows+float64(l.Rows), max(want.highest, l.Max)
		}
		return nil
	}))
	expect.Equal(t, got, want)
}
