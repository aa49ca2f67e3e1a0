package observe

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// at makes a snapshot by hand, of one source "engine".
func at(seconds float64, points ...engine.Point) Snapshot {
	when := time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	return Snapshot{Time: when, Sources: []Source{{Name: "engine", Time: when, Points: points}}}
}

func counter(key string, value float64) engine.Point {
	return engine.Point{Name: key, Kind: engine.Counter, Unit: "count", Value: value}
}

func gauge(key string, value float64) engine.Point {
	return engine.Point{Name: key, Kind: engine.Gauge, Unit: "count", Value: value}
}

func TestDiff(t *testing.T) {
	for _, test := range []struct {
		name string
		a, b Snapshot
		want []string
	}{
		{"growth", at(0, counter("c", 5)), at(1, counter("c", 12)), []string{"c 7"}},
		{"no growth is zero", at(0, counter("c", 5)), at(1, counter("c", 5)), []string{"c 0"}},
		{"gauge is the later", at(0, gauge("g", 5)), at(1, gauge("g", 3)), []string{"g 3"}},
		{"reset counts from zero", at(0, counter("c", 100)), at(1, counter("c", 4)), []string{"c 4 reset"}},
		{"counter appears", at(0, counter("c", 1)), at(1, counter("new", 9), counter("c", 2)), []string{"c 1"}},
		{"gauge appears", at(0), at(1, gauge("g", 9)), []string{"g 9"}},
		{"series vanishes", at(0, counter("c", 1), counter("d", 1)), at(1, counter("d", 3)), []string{"d 2"}},
		{"order changes", at(0, counter("c", 1), counter("d", 10)), at(1, counter("d", 12), counter("c", 4)), []string{"d 2", "c 3"}},
		{"not a number", at(0, counter("c", 1), counter("d", 1)), at(1, counter("c", math.NaN()), counter("d", math.Inf(1)), gauge("g", math.NaN())), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Diff(test.a, test.b)
			expect.Must(t, len(got) == 1 && got[0].Err == nil && got[0].Elapsed == time.Second, "intervals", got)
			var changes []string
			for _, c := range got[0].Changes {
				text := fmt.Sprint(c.Series, " ", c.Value)
				if c.Reset {
					text += " reset"
				}
				changes = append(changes, text)
			}
			expect.Same(t, test.want, changes)
		})
	}
}

func TestDiffKeepsLabelsApart(t *testing.T) {
	var a, b engine.Sample
	a.Counter("engine.rows", "count", 1, "table", "x")
	a.Counter("engine.rows", "count", 10, "table", "y")
	b.Counter("engine.rows", "count", 13, "table", "y")
	b.Counter("engine.rows", "count", 3, "table", "x")
	got := Diff(at(0, a.Points...), at(1, b.Points...))[0].Changes
	expect.True(t, len(got) == 2 && got[0].Series == `engine.rows{table="y"}` && got[0].Value == 3 && got[1].Value == 2,
		"changes", got)
}

func TestDiffWithoutStart(t *testing.T) {
	failed := at(0)
	failed.Sources[0].Err = errBroken
	for name, a := range map[string]Snapshot{"source is new": {}, "first sample failed": failed} {
		t.Run(name, func(t *testing.T) {
			got := Diff(a, at(1, counter("c", 5), gauge("g", 7)))[0]
			expect.True(t, errors.Is(got.Err, errNoStart), got.Err)
			expect.True(t, len(got.Changes) == 1 && got.Changes[0].Value == 7, "changes", got.Changes)
		})
	}
}

func TestDiffFindsSourcesByName(t *testing.T) {
	a, b := at(0, counter("c", 1)), at(1, counter("c", 3))
	a.Sources = append([]Source{{Name: "host"}}, a.Sources...)
	got := Diff(a, b)[0]
	expect.True(t, got.Err == nil && got.Changes[0].Value == 2, "interval", got)
}

// Whatever appears, vanishes and moves: the growth over a series' intervals
// adds up to what it grew by while it was there, and no growth is negative.
func TestDiffAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := []string{"a", "b", "c", "d"}
		value := map[string]float64{}
		expected, got := map[string]float64{}, map[string]float64{}
		var known *layout
		var prev Snapshot
		present := map[string]bool{}
		for step := range rapid.IntRange(2, 12).Draw(t, "samples") {
			now := map[string]bool{}
			var points []engine.Point
			for _, key := range rapid.Permutation(keys).Draw(t, "order") {
				grow := float64(rapid.IntRange(0, 5).Draw(t, "growth"))
				value[key] += grow
				if rapid.Bool().Draw(t, "there") {
					points = append(points, counter(key, value[key]))
					now[key] = true
				}
			}
			cur := at(float64(step), points...)
			var err error
			if known, err = known.matching(points); err != nil {
				t.Fatal(err)
			}
			cur.Sources[0].layout = known
			last := map[string]float64{}
			if step > 0 {
				for _, p := range prev.Sources[0].Points {
					last[p.Name] = p.Value
				}
				for _, c := range Diff(prev, cur)[0].Changes {
					expect.True(t, c.Value >= 0 && !c.Reset, "growth of is", c.Series, c.Value)
					got[c.Series] += c.Value
				}
			}
			for key := range now {
				if present[key] {
					expected[key] += value[key] - last[key]
				}
			}
			prev, present = cur, now
		}
		for _, key := range keys {
			expect.Equal(t, got[key], expected[key], "grew by", key)
		}
	})
}
