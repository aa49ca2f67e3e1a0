package campaign

import (
	"testing"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/run/forecast"
)

func TestDueText(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	got := dueText([]observe.Timer{{Name: "fstrim.timer", At: now.Add(2 * time.Hour)}}, forecast.Exactly(3*time.Hour))
	want := []string{"fstrim.timer is due on Fri 14:00 and reads or writes much; the campaign is expected to take about 3 h"}
	same(t, want, got)
}
