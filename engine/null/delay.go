package null

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
)

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
	return engine.Between(o, name, def, low, greatest, "it must be a duration such as 20us", func(v any) (time.Duration, bool) {
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
