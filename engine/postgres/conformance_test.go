package postgres

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	needServer(t)
	yes := true
	suite := enginetest.Suite{
		Engine: Engine{},
		Config: engine.Config{Durability: model.DurabilityProcess, Cache: 32 << 20, Server: engine.ServerConfig{Binary: program()}},
		Refused: []enginetest.Refusal{
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 4096}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "protocol", Config: engine.Config{Protocol: "binary"}},
			{Knob: "options.data_directory", Config: engine.Config{Options: map[string]any{"data_directory": "/tmp"}}},
			{Knob: "options.work_mem", Config: engine.Config{Options: map[string]any{"work_mem": []any{1}}}},
		},
	}
	for _, protocol := range engine.Protocols() {
		t.Run(string(protocol), func(t *testing.T) {
			suite.Config.Protocol, suite.Again = protocol, protocol != engine.Prepared
			enginetest.Run(t, suite)
		})
	}
}
