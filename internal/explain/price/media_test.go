package price

import (
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// The endurance of drives is counted in what the measured drive wrote to its media, if it is known.
func TestMedia(t *testing.T) {
	card := &Card{Device: Device{Price: 100, GB: 1e6, TB: 1}}
	count := func(media float64) (float64, string) {
		a := trial("a", 1, 4000)
		if media > 0 {
			a.Steps[0].Rows = append(a.Steps[0].Rows, metric.Row{Target: "a", Trial: 1, Step: "mix", Metric: metric.MediaRatio, Value: media, Unit: "ratio"})
		}
		c := compare.New([]*result.Trial{a})
		n := Of(c.Steps[0], c.Targets[0], Ask{Rate: 1000})
		b := card.Store(n.Storage())
		expect.Must(t, b.Limit == "endurance", b)
		return b.Share, strings.Join(n.Remarks, "; ")
	}
	plain, quiet := count(0)
	worn, remark := count(1.8)
	near(t, "devices", worn, 1.8*plain, 1e-9*plain)
	expect.Lacks(t, quiet, "media")
	expect.Contains(t, remark, "the drive wrote 1.8 bytes to its media for each byte")
}
