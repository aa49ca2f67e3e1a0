package campaign

import (
	"context"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/quantity"
)

// timers returns which jobs of the system are due while the campaign is expected to run.
func timers(c Config, f *forecast.Forecast) []string {
	entries, err := remaining(c)
	if err != nil {
		return nil // Describe has reported it
	}
	now, length := time.Now(), f.Campaign(entries)
	end := now.Add(length.Least)
	if length.Bounded() {
		end = now.Add(length.Most)
	}
	due, _ := observe.Timers(context.Background(), end)
	return dueText(due, length)
}

func dueText(due []observe.Timer, length forecast.Span) []string {
	return quantity.Texts(due, func(t observe.Timer) string {
		return remark.Before(remark.TimerDue,
			metric.Values{"timer": t.Name, "at": t.At.Format("Mon 15:04"), "length": length})
	})
}
