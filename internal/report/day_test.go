package report

import (
	"encoding/json"
	"math"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// secondsOfDay is how many intervals a day's run has.
const secondsOfDay = 24 * 60 * 60

// day returns a run of 24 hours on three targets: two groups of clients, six sources.
func day(decoded bool) Input {
	in := fixture(1)
	in.Client = nil
	for i := range in.Trials {
		t := in.Trials[i].Trial
		t.Steps = t.Steps[4:5]
		t.Steps[0].Seconds = secondsOfDay
		in.Trials[i].Series = daySeries(t.Steps[0].Name, decoded)
	}
	return in
}

// daySeries makes up a day's lines. Decoded, every line comes through JSON as
// those of a file do; the lines of one second are then repeated all day.
func daySeries(step string, decoded bool) func(func(result.Line) error) error {
	engine := map[string]float64{}
	for i := range 60 {
		engine["engine.counter_"+string(rune('a'+i%26))+string(rune('a'+i/26))] = float64(i)
	}
	var encoded [][]byte
	for _, l := range dayLines(step, 1, engine) {
		b, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		encoded = append(encoded, b)
	}
	return func(yield func(result.Line) error) error {
		for sec := 1; sec <= secondsOfDay; sec++ {
			lines := make([]result.Line, len(encoded))
			if decoded {
				for i, b := range encoded {
					if err := json.Unmarshal(b, &lines[i]); err != nil {
						return err
					}
					lines[i].T = float64(sec)
				}
			} else {
				lines = dayLines(step, float64(sec), engine)
			}
			for _, l := range lines {
				if err := yield(l); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func dayLines(step string, t float64, engine map[string]float64) []result.Line {
	wave := 1 + 0.3*math.Sin(t/997)
	ops := func(group, op string, rate float64) result.Line {
		return result.Line{Step: step, Source: "ops", T: t, DT: 1, Group: group, Op: op, Ops: int64(rate * wave), Rows: int64(rate * wave), P50: 90, P99: 400 / wave, Max: 9000 / wave, Clients: []int64{1000, 1001}}
	}
	values := func(source string, v map[string]float64) result.Line {
		return result.Line{Step: step, Source: source, T: t, DT: 1, V: v}
	}
	return []result.Line{
		ops("insert", "insert", 100), ops("query", "range market", 9000),
		values("host", map[string]float64{"host.cpu.user_ns": 1e9, "host.cpu.system_ns": 2e8}),
		values("device", map[string]float64{`device.write_bytes{dev="vda"}`: 1e8 * wave, `device.reads{dev="vda"}`: 12}),
		values("process", map[string]float64{"process.cpu_ns": 1.5e9 * wave}),
		values("engine", engine),
		values("client", map[string]float64{"client.cpu_ns": 2e8}),
	}
}

type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// BenchmarkDay renders a day at one-second intervals on three targets. The
// budget of one such run is 10 s and 5 MB. "json" is dominated by the decoder.
func BenchmarkDay(b *testing.B) {
	for _, c := range []struct {
		name    string
		decoded bool
	}{{"lines", false}, {"json", true}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var size counter
			for b.Loop() {
				size = 0
				expect.NoError(b, HTML(&size, day(c.decoded)))
			}
			b.ReportMetric(float64(size), "page-bytes")
		})
	}
}

// A line over time never has more points than a screen can show, and folding
// loses nothing that was counted.
func TestTrackIsBounded(t *testing.T) {
	in := day(false)
	c := newCampaign(in.Trials[:1])
	series := expect.Value(readSeries(c))(t)
	tr := series[c.steps[0]][0]
	if len(tr.points) > maxPoints || len(tr.points) < maxPoints/2 || cap(tr.points) > 2*maxPoints {
		t.Errorf("%d points, capacity %d", len(tr.points), cap(tr.points))
	}
	var rows, time, highest float64
	for _, p := range tr.points {
		rows, time, highest = rows+p.rows, time+p.opsTime, max(highest, p.highest)
	}
	var want float64
	for sec := 1; sec <= secondsOfDay; sec++ {
		want += float64(int64(9000 * (1 + 0.3*math.Sin(float64(sec)/997))))
	}
	if rows != want || time != secondsOfDay || math.Abs(highest-9000/0.7) > 1 {
		t.Errorf("%v rows in %v s, highest %v, want %v rows in %v s, highest %v", rows, time, highest, want, secondsOfDay, 9000/0.7)
	}
}
