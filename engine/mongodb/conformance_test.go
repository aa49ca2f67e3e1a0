package mongodb

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine: Engine{}, StandIn: program(t) == ferretDB,
		Config: engine.Config{Durability: model.DurabilityOS, Server: engine.ServerConfig{Binary: program(t)}},
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityProcess}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 4096}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
			{Knob: "options.dbpath", Config: engine.Config{Options: map[string]any{"dbpath": "/tmp"}}},
		},
	})
}
