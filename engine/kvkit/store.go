// Package kvkit turns an ordered key-value store into an engine: tables and
// secondary indexes become ranges of keys, and the operations of the model
// become gets, puts, deletes and iterations.
//
// It knows no particular store: an engine implements Store and passes it to
// Switches.Open.
//
// Layout: every table and index has a two-byte key prefix, its space. A row is
// stored under space + primary key, with its other columns in the value. An
// index entry is stored under space + index columns + primary key, with the
// included columns in the value. An entry of a unique index without NULL is
// stored under space + index columns, with the primary key before the included
// columns in the value: two rows with the same values meet on one key. So an
// insert reads nothing unless a key or a unique index has to be checked; a delete
// reads the row first. Switches avoid more reads.
package kvkit

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// Mode is the permission of a transaction to read and write.
type Mode uint8

// The transaction modes.
const (
	Read      Mode = iota // only read; each Get and Iter sees some committed state
	Snapshot              // only read; all see the same committed state
	Write                 // put and delete; reads need not see the transaction's own writes
	ReadWrite             // put and delete; reads see the transaction's own writes
)

// Writes reports whether a transaction of the mode may put and delete.
func (m Mode) Writes() bool { return m >= Write }

// Concurrency is the interaction of a store's write transactions.
type Concurrency uint8

// The kinds of concurrency.
const (
	// SingleWriter: a write transaction excludes all others from Begin to Commit
	// or Rollback; Begin waits.
	SingleWriter Concurrency = iota
	// Unisolated: transactions are atomic but not isolated. The kit locks the rows
	// that it reads before it writes them, and offers no transactions of several
	// operations.
	Unisolated
	// Isolated: transactions are isolated and may fail because of others. A Tx of
	// mode ReadWrite is an Updater; one of mode Write only writes, and an Updater
	// of a key that it writes conflicts with it.
	Isolated
)

// Isolation returns the level of a store's explicit transactions,
// DefaultIsolation if it has none.
func (c Concurrency) Isolation() model.Isolation {
	switch c {
	case SingleWriter:
		return model.Serializable
	case Isolated:
		return model.RepeatableRead // a snapshot; write skew commits
	}
	return model.DefaultIsolation
}

// Store is an ordered key-value store. Keys are compared byte by byte and never
// empty. Begin, Sizes and Counters may be called from several goroutines.
type Store interface {
	Begin(mode Mode) (Tx, error)
	Concurrency() Concurrency
	Settings() []engine.Setting
	// Sizes sets the allocated bytes of each range.
	Sizes(ranges []Range) error

	Counters(s *engine.Sample) error
	// Settle does the actions of engine.DB.Settle.
	Settle(ctx context.Context, done *engine.Settling)
	Close() error
}

// Tx is a transaction of a Store. The goroutine that began it uses and ends it: a
// store may have tied it to its thread.
type Tx interface {
	// Get returns the value, nil if the key does not exist. It is valid until
	// the next call on the transaction.
	Get(key []byte) ([]byte, error)
	// Put and Delete do not retain key and value.
	Put(key, value []byte) error
	Delete(key []byte) error
	// Iter iterates over the keys from lower, inclusive, to upper, exclusive.
	// Nothing is written while an iterator is open.
	Iter(lower, upper []byte) (Iter, error)
	// Commit ends the transaction; its writes are durable as configured.
	Commit() error
	// Rollback ends the transaction without effect. After Commit it does nothing.
	Rollback()
}

// Updater is a Tx of an Isolated store. Its Get and Iter see its own writes on
// one snapshot. Put, Delete, Commit and GetForUpdate may fail with a class that
// Yields; then it can only be rolled back.
type Updater interface {
	// GetForUpdate is Get; if Commit succeeds, no other transaction has changed or
	// made the key since.
	GetForUpdate(key []byte) ([]byte, error)
}

// Structured is a Store that knows its structure, see [engine.Structured].
type Structured interface {
	Structure() (engine.Structure, error)
}

// Sized is a Store that is not in the files of its data directory.
type Sized interface{ TotalSize() (int64, error) }

// Limited is a Store whose transactions hold a limited number of writes.
type Limited interface{ MaxEntries() int }

// Merger is a Tx of a store that applies operands to values when they are read or
// compacted. It applies them with an Operator of the schema.
//
// If there is no row, the result of operands that need one is not a row, see
// IsRow: the kit hides it.
type Merger interface {
	Merge(key, operand []byte) error
}

// SingleDeleter is a Tx of a store with a cheaper Delete of keys that were put
// once since they were last deleted.
type SingleDeleter interface {
	SingleDelete(key []byte) error
}

// RangeDeleter is a Tx of an Unisolated store that deletes the keys from lower,
// inclusive, to upper, exclusive, by one record.
type RangeDeleter interface {
	DeleteRange(lower, upper []byte) error
}

// Prober is a Tx of a store with filters of whole keys on all its levels. Probe is
// a Get of a key that is expected not to exist.
type Prober interface {
	Probe(key []byte) ([]byte, error)
}

// Applier is a Tx of a store with concurrent writers that can become visible
// before it is durable.
type Applier interface {
	// Apply makes the writes visible; Commit then waits until they are durable.
	// Transactions become durable in the order of Apply, so that data that
	// survives a crash never builds on lost data.
	Apply() error
}

// Iter is a position in a range of keys. First, Last, Next and Prev move it and
// report whether there is an entry. Key and Value are valid until the next move.
type Iter interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	Key() []byte
	Value() ([]byte, error)
	Close() error // returns the error that ended the iteration, if any
}

// Announced is an Iter that reads ahead. Announce passes on, before the first
// move, how many entries are going to be read at most, as a rule.
type Announced interface{ Announce(entries int) }

// Range is a range of keys with its size.
type Range struct {
	Object       string
	Lower, Upper []byte
	Bytes        int64
	Kind         string // engine.Exact or engine.Estimate
}
