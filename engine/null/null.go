// Package null is an engine that does nothing. It measures the client: the cost
// of an operation without a database. With options it keeps the CPU busy for a
// known time, to test whether rumbench finds a known difference.
package null

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "null",
		Structure:    "none",
		Doc:          "Does nothing and stores nothing: measures the client.",
		Options:      options,
		Version:      "1",
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique},
	}
}

// Check refuses every knob but the options of the delay.
func (Engine) Check(c engine.Config) error {
	_, err := check(c)
	return err
}

func check(c engine.Config) (*delay, error) {
	knobs := c
	knobs.Options = nil // checked below
	if err := knobs.CheckDiskless(); err != nil {
		return nil, err
	}
	if err := c.CheckOptions(options); err != nil {
		return nil, err
	}
	return newDelay(c)
}

// Open opens nothing.
func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	d, err := check(c)
	if err != nil {
		return nil, err
	}
	return db{c.Schema, d}, nil
}

type db struct {
	schema model.Schema
	delay  *delay // nil: none
}

func (d db) Settings(context.Context) ([]engine.Setting, error)   { return d.delay.settings(), nil }
func (db) CreateTables(context.Context) error                     { return nil }
func (db) CreateIndexes(context.Context, string, ...string) error { return nil }
func (db) DropIndex(context.Context, string, string) error        { return nil }
func (db) ClearTable(context.Context, string) error               { return nil }
func (d db) Session(context.Context) (engine.Session, error)      { return session(d), nil }
func (db) Sizes(context.Context) ([]engine.Size, error)           { return nil, nil }
func (db) Counters(context.Context, *engine.Sample) error         { return nil }
func (db) Settle(context.Context) ([]engine.SettleAction, error)  { return nil, nil }
func (db) Close() error                                           { return nil }

type session db

func (session) Close() error { return nil }

func (s session) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Table != "" {
		t, err := s.schema.Table(op.Table)
		if err != nil {
			return nil, err
		}
		if err := op.Validate(t); err != nil {
			return nil, err
		}
	}
	if s.delay != nil {
		return busy{rows: int64(op.Rows), delay: s.delay}, nil
	}
	return stmt{rows: int64(op.Rows)}, nil
}

// stmt reports all requested rows as inserted or deleted, so that clients
// proceed as with a real database.
type stmt struct{ rows int64 }

func (s stmt) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	r.Rows = s.rows
	return nil
}

// busy is a stmt with a delay, a separate type so that stmt stays as fast as
// possible.
type busy struct {
	rows  int64
	delay *delay
}

func (s busy) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	s.delay.spin()
	r.Reset()
	r.Rows = s.rows
	return nil
}

var options = []engine.Option{
	{Name: "delay", Type: "duration", Doc: "CPU time of every operation, such as 20us; to test rumbench itself"},
	{Name: "noise", Type: "number",
		Doc: "relative standard deviation of a factor on delay that is drawn once per trial: 0.02 is 2 %"},
	{Name: "noise_seed", Type: "int",
		Doc: "seed of noise, 0 by default: the same trial of the same plan draws the same factor"},
	{Name: "drift", Type: "number",
		Doc: "amplitude of a sine over the time of day on delay: a machine that slows down and recovers"},
	{Name: "drift_period", Type: "duration", Doc: "period of drift, 10m by default"},
}

// delay is the CPU time of operations.
type delay struct {
	each   float64 // in nanoseconds, with this trial's factor
	factor float64
	drift  float64 // amplitude of the factor that changes with time
	period float64 // of the drift, in nanoseconds
}

// newDelay reads the options; without a delay it returns nil.
func newDelay(c engine.Config) (*delay, error) {
	o := c.ReadOptions()
	each := duration(o, "delay", 0, 0, time.Second)
	noise, drift := share(o, "noise", 1), share(o, "drift", 0.9)
	period := duration(o, "drift_period", 10*time.Minute, time.Second, 24*time.Hour)
	seed := o.Int("noise_seed", 0, 0, math.MaxInt64)
	if o.Err != nil {
		return nil, o.Err
	}
	if each == 0 {
		for _, name := range []string{"noise", "noise_seed", "drift", "drift_period"} {
			if v, ok := c.Options[name]; ok {
				return nil, engine.Refuse("options."+name, v,
					"there is no delay for it to change; set option delay, for example to 20us")
			}
		}
		return nil, nil
	}
	factor := draw(noise, uint64(seed), c.Dir)
	return &delay{each: float64(each) * factor, factor: factor, drift: drift, period: float64(period)}, nil
}

// draw returns the factor of a trial: lognormal with mean 1 and the given
// relative standard deviation (its logarithm has variance ln(1+noise²)). The
// trial is identified by the names of its directory and its data directory,
// wherever the campaign is.
func draw(noise float64, seed uint64, dir string) float64 {
	variance := math.Log1p(noise * noise)
	trial := fnv.New64a()
	fmt.Fprint(trial, filepath.Base(filepath.Dir(dir)), "/", filepath.Base(dir))
	normal := rand.New(rand.NewPCG(seed, trial.Sum64())).NormFloat64()
	return math.Exp(math.Sqrt(variance)*normal - variance/2)
}

// spin keeps the CPU busy, as a working engine does; sleeping would release it.
func (d *delay) spin() {
	start := time.Now()
	each := d.each
	if d.drift > 0 {
		each *= 1 + d.drift*math.Sin(2*math.Pi*float64(start.UnixNano())/d.period)
	}
	for time.Since(start) < time.Duration(each) {
	}
}

// settings returns the options and the factor drawn.
func (d *delay) settings() []engine.Setting {
	if d == nil {
		return nil
	}
	out := []engine.Setting{
		{Name: "delay", Value: time.Duration(d.each / d.factor).Round(time.Nanosecond).String(), Source: engine.AsSet},
		{Name: "noise_factor", Value: fmt.Sprintf("%.6f", d.factor), Source: engine.AsSet},
	}
	if d.drift > 0 {
		out = append(out, engine.Setting{Name: "drift",
			Value: fmt.Sprintf("±%g %% in %v", 100*d.drift, time.Duration(d.period)), Source: engine.AsSet})
	}
	return out
}

func duration(o *engine.OptionReader, name string, def, low, greatest time.Duration) time.Duration {
	const expected = "it must be a duration such as 20us"
	return engine.Between(o, name, def, low, greatest, expected, func(v any) (time.Duration, bool) {
		text, _ := v.(string)
		d, err := quantity.ParseDuration(text)
		return d, err == nil
	})
}

func share(o *engine.OptionReader, name string, greatest float64) float64 {
	expected := fmt.Sprintf("it must be a number from 0 to %g", greatest)
	return engine.Read(o, name, 0, expected, func(v any) (share float64, ok bool) {
		switch v := v.(type) {
		case nil:
		case int64:
			share = float64(v)
		case float64:
			share = v
		default:
			return 0, false
		}
		return share, share >= 0 && share <= greatest
	})
}
