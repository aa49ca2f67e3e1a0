//go:build !native || !cgo || !linux

package rocksdb

import (
	"rumbench/engine"
	"rumbench/engine/native"
)

func open(engine.Config, settings) (engine.DB, error) { return nil, native.Missing("rocksdb") }
