package null

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
)

var schema = model.Schema{Tables: []model.Table{{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}}}

func config(dir string, options map[string]any) engine.Config {
	return engine.Config{Dir: dir, Durability: model.DurabilityNone, Schema: schema, Options: options}
}

func open(t testing.TB, dir string, options map[string]any) db {
	t.Helper()
	d, err := Engine{}.Open(context.Background(), config(dir, options))
	expect.NoError(t, err)
	return d.(db)
}

func begin(t testing.TB, d db) engine.Stmt {
	t.Helper()
	s, err := d.Session(context.Background())
	expect.NoError(t, err)
	st, err := s.Prepare(context.Background(), &model.Op{Kind: model.Begin})
	expect.NoError(t, err)
	return st
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name, knob, reason string
		options            map[string]any
	}{
		{"none", "", "", nil},
		{"delay", "", "", map[string]any{"delay": "20.6us"}},
		{"all", "", "", map[string]any{"delay": "1ms", "noise": 0.02, "noise_seed": int64(7), "drift": 0.1, "drift_period": "90s"}},
		{"no noise", "", "", map[string]any{"delay": "1ms", "noise": int64(0)}},
		{"unknown", "dealy", "no such option", map[string]any{"dealy": "1ms"}},
		{"number", "delay", "a duration such as 20us", map[string]any{"delay": int64(20)}},
		{"negative", "delay", "from 0s to 1s", map[string]any{"delay": "-1us"}},
		{"long", "delay", "from 0s to 1s", map[string]any{"delay": "2s"}},
		{"much noise", "noise", "from 0 to 1", map[string]any{"delay": "1ms", "noise": 1.5}},
		{"text", "noise", "from 0 to 1", map[string]any{"delay": "1ms", "noise": "2%"}},
		{"much drift", "drift", "from 0 to 0.9", map[string]any{"delay": "1ms", "drift": int64(1)}},
		{"period", "drift_period", "from 1s to 24h", map[string]any{"delay": "1ms", "drift_period": "1ms"}},
		{"seed", "noise_seed", "whole number", map[string]any{"delay": "1ms", "noise_seed": "x"}},
		{"noise of nothing", "noise", "there is no delay", map[string]any{"noise": 0.1}},
		{"drift of nothing", "drift_period", "there is no delay", map[string]any{"drift_period": "10s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Engine{}.Check(config("", c.options))
			_, opened := Engine{}.Open(context.Background(), config("", c.options))
			expect.Equal(t, (err == nil), (opened == nil), "Check says", err, "Open", opened)
			var knob *engine.KnobError
			switch {
			case c.knob == "" && err != nil:
				t.Error(err)
			case c.knob != "" && (!errors.As(err, &knob) || knob.Knob != "options."+c.knob || !strings.Contains(knob.Reason, c.reason)):
				t.Errorf("error %v", err)
			}
		})
	}
	expect.Error(t, (Engine{}).Check(engine.Config{Durability: model.DurabilityOS}), "", "durability os is accepted")
}

// An operation allocates nothing, and without options does not spin.
func TestExec(t *testing.T) {
	ctx := context.Background()
	plain, delayed := begin(t, open(t, "", nil)), begin(t, open(t, "", map[string]any{"delay": "1us"}))
	if _, ok := plain.(stmt); !ok {
		t.Errorf("without options the statement is a %T", plain)
	}
	if _, ok := delayed.(busy); !ok {
		t.Errorf("with a delay the statement is a %T", delayed)
	}
	for _, st := range []engine.Stmt{plain, delayed} {
		var r engine.Result
		expect.Equal(t, testing.AllocsPerRun(100, func() { _ = st.Exec(ctx, nil, &r) }), 0, st, "allocates", "times")
	}
}

// An operation takes at least the delay, whatever the time of day.
func TestDelay(t *testing.T) {
	for _, c := range []struct {
		options map[string]any
		lowest  time.Duration
	}{
		{map[string]any{"delay": "2ms"}, 2 * time.Millisecond},
		{map[string]any{"delay": "2ms", "drift": 0.5, "drift_period": "1s"}, time.Millisecond},
	} {
		st := begin(t, open(t, "", c.options))
		var r engine.Result
		for range 20 {
			start := time.Now()
			expect.NoError(t, st.Exec(context.Background(), nil, &r))
			if took := time.Since(start); took < c.lowest {
				t.Errorf("%v: %v", c.options, took)
			}
		}
	}
}

// A trial draws the same factor wherever its campaign is; another trial or seed
// draws another.
func TestNoiseIsOfTheTrial(t *testing.T) {
	factor := func(dir string, seed int64) float64 {
		return open(t, dir, map[string]any{"delay": "1us", "noise": 0.1, "noise_seed": seed}).delay.factor
	}
	first := factor("/a/trials/null.1/data", 0)
	expect.Equal(t, factor("/elsewhere/trials/null.1/data", 0), first, "and then")
	for _, other := range []float64{factor("/a/trials/null.2/data", 0), factor("/a/trials/null-again.1/data", 0), factor("/a/trials/null.1/data", 1)} {
		expect.True(t, other != first, "another trial draws", other, "too")
	}
	expect.Equal(t, open(t, "/a/trials/null.1/data", map[string]any{"delay": "1us"}).delay.factor, 1,
		"without noise the factor is")
}

// The factors of many trials have mean 1 and the given standard deviation.
func TestNoiseDistribution(t *testing.T) {
	const noise, n = 0.2, 20000
	var sum, squares float64
	for i := range n {
		f := draw(noise, 1, filepath.Join("trials", fmt.Sprintf("null.%d", i), "data"))
		sum += f
		squares += (f - 1) * (f - 1)
	}
	if mean := sum / n; math.Abs(mean-1) > 5*noise/math.Sqrt(n) {
		t.Errorf("mean %v", mean)
	}
	if sd := math.Sqrt(squares / n); math.Abs(sd-noise) > 0.05*noise {
		t.Errorf("standard deviation %v", sd)
	}
}

// The settings show the delay and the factor.
func TestSettings(t *testing.T) {
	d := open(t, "trials/null.1/data", map[string]any{"delay": "20.6us", "noise": 0.02, "drift": 0.1})
	got, err := d.Settings(context.Background())
	expect.True(t, err == nil && len(got) == 3 && got[0].Value == "20.6µs" && got[1].Value == fmt.Sprintf("%.6f", d.delay.factor) && got[2].Value == "±10 % in 10m0s", got, err)
	if got, err := open(t, "", nil).Settings(context.Background()); err != nil || len(got) != 0 {
		t.Errorf("without options: %+v, %v", got, err)
	}
}
