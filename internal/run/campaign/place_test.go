package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
)

// places is a Progress that remembers where trials begin.
type places struct {
	*recorder
	at map[string]forecast.Place
}

func (p *places) Begin(e result.Entry, at forecast.Place) { p.at[e.Dir] = at }

// How much is left is known as soon as a trial of each target has ended.
func TestLeft(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := start.Add(11 * time.Second)
	b, err := json.Marshal(&result.Trial{Format: result.Format, Target: "TARGET", Status: result.Complete, Started: start, Ended: &end,
		Steps: []result.Step{{Name: "l.i0", Status: result.Complete, Started: start.Add(time.Second)}}})
	expect.NoError(t, err)
	for order, want := range map[string]map[string]string{
		"interleaved": {"pebble.1": "an unknown time", "bbolt.1": "at least 11 s", "bbolt.2": "about 22 s", "pebble.2": "about 11 s"},
		"duet":        {"pebble.1": "an unknown time", "bbolt.1": "an unknown time", "bbolt.2": "about 11 s", "pebble.2": "about 11 s"},
	} {
		t.Run(order, func(t *testing.T) {
			config := func(dir, script string) (Config, *recorder) { return config(dir, script, "order="+order) }
			if order == "duet" {
				config = func(dir, script string) (Config, *recorder) { return duets(t, dir, script, script) }
			}
			c, p := config(t.TempDir(), fmt.Sprintf(`echo '%s' | sed "s/TARGET/${2%%.*}/" > $1/trials/$2/trial.json`, b))
			seen := &places{p, map[string]forecast.Place{}}
			c.Progress = seen
			if _, err := Run(context.Background(), c); err != nil {
				t.Fatal(err)
			}
			for name, left := range want {
				at := seen.at[name]
				expect.Equal(t, at.Left(-1, 0).String(), left, name)
			}
			if at := seen.at["bbolt.2"]; at.Number != 3 || at.Of != 4 || at.Duet {
				t.Errorf("%+v", at)
			}
			if at := seen.at["pebble.2"]; at.Number != 4 || at.Duet != (order == "duet") {
				t.Errorf("%+v", at)
			}
		})
	}
}
