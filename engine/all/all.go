// Package all lists the engines that this binary has. It is the only place that
// imports them.
package all

import (
	"slices"

	"rumbench/engine"
	"rumbench/engine/badger"
	"rumbench/engine/bbolt"
	"rumbench/engine/lmdb"
	"rumbench/engine/memory"
	"rumbench/engine/null"
	"rumbench/engine/pebble"
	"rumbench/engine/rocksdb"
	"rumbench/engine/sqlite"
	"rumbench/engine/wiredtiger"
)

// Idle returns the engine that does nothing: the cost of operations on it is
// the client's own cost.
func Idle() engine.Engine { return null.Engine{} }

// Engines lists the engines in display order.
func Engines() []engine.Engine {
	return slices.Concat([]engine.Engine{
		pebble.Engine{},
		rocksdb.Engine{},
		badger.Engine{},
		wiredtiger.Engine{},
		lmdb.Engine{},
		bbolt.Engine{},
		sqlite.Engine{},
	}, servers, []engine.Engine{
		memory.Engine{},
		null.Engine{},
	})
}
