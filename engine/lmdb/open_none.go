//go:build !native || !cgo || !linux

package lmdb

import (
	"rumbench/engine"
	"rumbench/engine/native"
)

func version() string { return bundled }

func open(engine.Config, settings) (engine.DB, error) { return nil, native.Missing("lmdb") }
