package trial

import (
	"context"
	"path/filepath"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// checkEffects records which effects of settings the kernel shows of the server. That one which the plan asks for is
// not there is an error; without being asked for it is a warning.
func checkEffects(t *trial) error {
	if t.hosted == nil {
		return nil
	}
	seen := observe.EffectsOf("/proc", t.pids)
	for _, o := range engine.InfoOf(t.Engine, t.Target.Config).Variables {
		for _, s := range t.res.Settings {
			if s.Name != o.Name || s.Aside || !o.Wants(s.Value) || seen.Value(string(o.Effect)) != "none" {
				continue
			}
			if _, asked := t.Target.Knobs[engine.OptionKnob+o.Name]; asked {
				return hint.Errorf("the server's log may say why; ready the host for it, or leave the option out",
					"%s is %s, and the server has no %s: it ignores what it cannot have", o.Name, s.Value, o.Effect)
			}
			t.warn(remark.NoEffect, metric.Values{"setting": o.Name, "value": s.Value, "effect": string(o.Effect)})
		}
	}
	for _, f := range seen {
		t.res.Settings = append(t.res.Settings, engine.Setting{Name: f.Name, Value: f.Value, Source: engine.Seen})
	}
	return nil
}

// noteServerWarnings records what a private server has warned of.
func noteServerWarnings(t *trial) {
	if t.hosted != nil && t.Target.Config.Server.DSN == "" {
		t.res.ServerWarnings = server.WarningsIn(filepath.Join(t.Dir, result.ServerLogFile))
	}
}

// noteRoundTrip measures the way to a server that has no load yet.
func noteRoundTrip(ctx context.Context, t *trial) error {
	p, ok := t.db.(engine.Pinger)
	if !ok {
		return nil
	}
	took, err := p.RoundTrip(ctx)
	t.res.RoundTrip = float64(took) / float64(time.Microsecond)
	return err
}
