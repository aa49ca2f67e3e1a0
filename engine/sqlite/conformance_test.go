package sqlite_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/sqlite"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine: sqlite.Engine{},
		Config: engine.Config{Durability: model.DurabilityProcess},
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 1000}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.temp_store", Config: engine.Config{Options: map[string]any{"temp_store": 2}}},
		},
	})
}
