//go:build native && cgo && linux

package lmdb_test

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/lmdb"
	"rumbench/internal/expect"
	"rumbench/model"
)

func TestConformance(t *testing.T) {
	yes := true
	enginetest.Run(t, enginetest.Suite{
		Engine:   lmdb.Engine{},
		Config:   engine.Config{Durability: model.DurabilityProcess},
		Switches: []map[string]any{{"indexes": "blind"}, {"indexes": "blind", "cleanup": "read"}, {"indexes": "blind", "cleanup": "settle"}},
		Refused: []enginetest.Refusal{
			{Knob: "durability", Config: engine.Config{Durability: model.DurabilityInterval}},
			{Knob: "isolation", Config: engine.Config{Isolation: model.ReadCommitted}},
			{Knob: "protocol", Config: engine.Config{Protocol: engine.Text}},
			{Knob: "cache", Config: engine.Config{Cache: 1 << 20}},
			{Knob: "compression", Config: engine.Config{Compression: model.CompressionLZ4}},
			{Knob: "page", Config: engine.Config{Page: 8192}},
			{Knob: "direct_io", Config: engine.Config{DirectIO: &yes}},
			{Knob: "options.map_size", Config: engine.Config{Options: map[string]any{"map_size": "1KiB"}}},
			{Knob: "options.writemap", Config: engine.Config{Options: map[string]any{"writemap": "yes"}}},
		},
	})
}

// A schema whose keys do not fit is refused when it is known.
func TestLongKey(t *testing.T) {
	key := func(width int) engine.Config {
		return engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: model.Schema{Tables: []model.Table{{
			Name: "t", Key: []string{"k"}, Columns: []model.Column{{Name: "k", Type: model.String, Width: width}},
		}}}}
	}
	db, err := lmdb.Engine{}.Open(t.Context(), key(250))
	expect.NoError(t, err)
	db.Close()
	for _, width := range []int{260, 0} {
		if _, err := (lmdb.Engine{}).Open(t.Context(), key(width)); err == nil || !strings.Contains(err.Error(), "a key of t can have more bytes than the 511 of an lmdb key") {
			t.Errorf("width %d: %v", width, err)
		}
	}
}

// The version that other binaries name is that of the library.
func TestBundled(t *testing.T) {
	expect.Equal(t, (lmdb.Engine{}).Info().Version, lmdb.BundledVersion, "LMDB is", "and other binaries say")
}
