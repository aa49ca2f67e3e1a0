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
		Refused: []enginetest.Refusal{
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionZlib}},
			{Knob: "page", Config: engine.Config{Page: 100}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.memtable_size", Config: engine.Config{Options: map[string]any{"memtable_size": "big"}}},
		},
	})
}
