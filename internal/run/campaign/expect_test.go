package campaign

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/plan"
)

// Who bypasses the page cache is said where others do not, by the knob or by the engine's default.
func TestBypassing(t *testing.T) {
	c, _ := config(t.TempDir(), "")
	direct := map[string]string{}
	c.InfoOf = func(t *plan.Target) engine.Info { return engine.Info{SpaceFactor: 1, DirectIO: direct[t.Engine]} }
	check := func(name string, want ...string) {
		t.Helper()
		expect.Same(t, want, bypassing(c), name)
	}
	check("none bypasses it")
	direct["pebble"] = "of release 2"
	check("a default", "bypassing the page cache: pebble (by default of release 2); with it as a second cache: bbolt")
	no, yes := false, true
	c.Plan.Targets[0].Config.DirectIO = &no
	check("turned off")
	c.Plan.Targets[1].Config.DirectIO = &yes
	check("turned on", "bypassing the page cache: bbolt; with it as a second cache: pebble")
	c.Plan.Targets[0].Config.Options = map[string]any{"use_direct_reads": true}
	check("an option of the engine may say it")
	c.Plan.Targets[0].Config.Options, c.Plan.Targets[0].Config.Server.DSN = nil, "there"
	check("attached")
}
