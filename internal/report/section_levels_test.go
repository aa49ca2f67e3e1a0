package report

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// Targets that differ in a number only are drawn over it, each group as a line of its own; texts, and
// two levels, are not.
func TestOverLevels(t *testing.T) {
	sections := func(knob string, values ...string) []page.Section {
		in := atLevels(knob, values...)
		return overLevels(in.campaign())
	}
	got := sections("memory", "1GiB", "256MiB", "512MiB")
	expect.Must(t, len(got) == 1 && got[0].Title == "By memory", len(got), "sections")
	keys := got[0].Blocks[1].(page.Legend).Keys
	expect.True(t, len(keys) == 2 && keys[0].Name == "pebble" && keys[1].Name == "bbolt", keys)
	plot := got[0].Blocks[2].(page.Plots).Plots[0]
	expect.Must(t, len(plot.Lines) == 2 && len(plot.Lines[0].Points) == 3, plot.Lines)
	for i, x := range []float64{256 << 20, 512 << 20, 1 << 30} {
		p := plot.Lines[1].Points[i]
		expect.True(t, p.X == x && p.Y > 0, i, p)
	}
	expect.Contains(t, plot.X.Ticks[0].Text, "256 MiB", "tick")
	for _, none := range [][]page.Section{sections("memory", "1GiB", "256MiB"), sections("compression", "none", "lz4", "zstd")} {
		expect.True(t, len(none) == 0, none)
	}
}

// Each target is compared with itself from level to level, and the targets at each level.
func TestByLevel(t *testing.T) {
	in := atLevels("memory", "256MiB", "1GiB")
	c := in.campaign()
	story, _ := c.story()
	text := strings.Join(story.Sentences(), " ")
	expect.All(t, text, "pebble ", " with 256MiB of memory, 2.00× with 1GiB.", "bbolt ÷ pebble: 1.00× with 256MiB and 1.00× with 1GiB.")
	expect.Lacks(t, text, "256MiB’s", "targets of different levels are compared")
}

// atLevels returns a campaign of two engines at levels of a knob; each level is as many times as fast as its
// number says.
func atLevels(knob string, values ...string) (in Input) {
	for i, value := range values {
		for _, engine := range []string{"pebble", "bbolt"} {
			trial := fixtureTrial(0, 1)
			trial.Rename(engine + "-" + value)
			trial.Engine, trial.Knobs = engine, map[string]string{knob: value}
			in.Trials = append(in.Trials, Trial{Trial: trial})
			changeRows(in.Trials[len(in.Trials)-1:], func(r *metric.Row) { r.Value *= float64(1 + i) })
		}
	}
	return in
}
