package badger_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/badger"
	"rumbench/engine/enginetest"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine:   badger.Engine{},
		Config:   engine.Config{Durability: model.DurabilityProcess, Cache: 8 << 20, Compression: model.CompressionSnappy, Page: 4096},
		Switches: []map[string]any{{"indexes": "blind"}, {"indexes": "blind", "cleanup": "read"}, {"indexes": "blind", "cleanup": "settle"}},
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "cache", Config: engine.Config{Cache: 1000}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 100}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.memtable_size", Config: engine.Config{Options: map[string]any{"memtable_size": "big"}}},
			{Knob: "options.value_threshold", Config: engine.Config{Options: map[string]any{"value_threshold": "2MiB"}}},
			{Knob: "options.compactors", Config: engine.Config{Options: map[string]any{"compactors": int64(1)}}},
		},
	})
}

// A commit fails if a row that it has read has changed.
func TestSkew(t *testing.T) {
	if n := enginetest.Skew(t, enginetest.Suite{Engine: badger.Engine{}, Config: engine.Config{Durability: model.DurabilityProcess}}); n != 1 {
		t.Errorf("%d of 2 transactions commit", n)
	}
}
