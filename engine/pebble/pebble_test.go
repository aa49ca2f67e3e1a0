package pebble_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/pebble"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine: pebble.Engine{},
		Config: engine.Config{Durability: model.DurabilityProcess, Cache: 8 << 20, Compression: model.CompressionSnappy, Page: 4096},
		Switches: []map[string]any{
			{"updates": "merge"}, {"upserts": "merge"}, {"indexes": "blind"}, {"deletes": "single"}, {"unique": "filter"},
			{"indexes": "blind", "cleanup": "read"}, {"updates": "merge", "upserts": "merge", "indexes": "blind", "cleanup": "settle"},
		},
		Refused: []enginetest.Refusal{
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionZlib}},
			{Knob: "page", Config: engine.Config{Page: 100}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.cleanup", Config: engine.Config{Options: map[string]any{"cleanup": "settle"}}},
			{Knob: "options.indexes", Config: engine.Config{Options: map[string]any{"indexes": "never"}}},
			{Knob: "options.deletes", Config: engine.Config{Options: map[string]any{"deletes": "single", "indexes": "blind"}}},
			{Knob: "options.bloom_bits", Config: engine.Config{Options: map[string]any{"unique": "filter", "bloom_bits": int64(0)}}},
			{Knob: "options.memtable_size", Config: engine.Config{Options: map[string]any{"memtable_size": "big"}}},
		},
	})
}
