package bbolt_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/engine/enginetest"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine:   bbolt.Engine{},
		Config:   engine.Config{Durability: model.DurabilityProcess},
		Switches: []map[string]any{{"indexes": "blind"}, {"indexes": "blind", "cleanup": "read"}, {"indexes": "blind", "cleanup": "settle"}},
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "cache", Config: engine.Config{Cache: 1 << 20}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 5000}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.freelist", Config: engine.Config{Options: map[string]any{"freelist": "tree"}}},
			{Knob: "options.updates", Config: engine.Config{Options: map[string]any{"updates": "merge"}}},
			{Knob: "options.cleanup", Config: engine.Config{Options: map[string]any{"cleanup": "read"}}},
			{Knob: "options.fill_percent", Config: engine.Config{Options: map[string]any{"fill_percent": int64(101)}}},
		},
	})
}

// What level process does not sync is lost in a power cut: the test of level os
// would see it.
func TestPowerCutLoses(t *testing.T) {
	t.Parallel()
	s := enginetest.Suite{Engine: bbolt.Engine{}, Config: engine.Config{Durability: model.DurabilityProcess}}
	acked, dir := enginetest.PowerCut(t, s)
	if rows, err := s.Rows(t, dir); err == nil && rows >= acked {
		t.Errorf("%d of %d rows are there after a power cut", rows, acked)
	}
}
