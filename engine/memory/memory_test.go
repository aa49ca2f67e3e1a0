package memory_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/memory"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine:   memory.Engine{},
		Config:   engine.Config{Durability: model.DurabilityNone},
		Volatile: true,
		Refused: []enginetest.Refusal{
			{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityProcess}},
			{Knob: "cache", Config: engine.Config{Cache: 1 << 20}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionZstd}},
			{Knob: "page", Config: engine.Config{Page: 4096}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
		},
	})
}
