// Package kvkit turns an ordered key-value store into an engine: tables become
// ranges of ordered keys, secondary indexes become keys of their own, and the
// operations of the model become gets, puts, deletes and iterations.
//
// It knows no particular store. A store that wants to be an engine implements
// Store and is passed to Open.
//
// Layout. Every table and index has a two-byte prefix, its space. A row is
// stored under space + primary key, its other columns in the value. An index
// entry is stored under space + index columns + primary key; its value holds
// the included columns, if any. Inserting a row therefore reads nothing unless
// a key or unique index has to be checked; deleting one reads the row first.
package kvkit

import (
	"context"

	"rumbench/engine"
)

// Mode is what a transaction is going to do.
type Mode uint8

// The transaction modes.
const (
	Read      Mode = iota // only reads; each Get and Iter sees some committed state
	Snapshot              // only reads; all see the same committed state
	Write                 // puts and deletes; reads need not see the transaction's own writes
	ReadWrite             // puts and deletes; reads see the transaction's own writes
)

// Writes tells whether a transaction of the mode may put and delete.
func (m Mode) Writes() bool { return m >= Write }

// Store is an ordered key-value store. Keys are compared byte by byte and never
// empty. Begin, Sizes and Counters may be called from several goroutines.
type Store interface {
	Begin(mode Mode) (Tx, error)
	// SingleWriter: from Begin to Commit or Rollback a transaction that writes
	// excludes all others that write, and Begin waits for its turn. A store
	// that is not so gives atomic but not isolated transactions: the kit then
	// locks the rows that it reads before writing, and offers no transactions
	// of several operations.
	SingleWriter() bool
	Settings() []engine.Setting
	// Sizes fills in the allocated bytes of each range.
	Sizes(ranges []Range) error
	// TotalSize is the allocated size of everything, logs included.
	TotalSize() (int64, error)
	Counters(s *engine.Sample) error
	Settle(ctx context.Context) ([]engine.SettleAction, error)
	Close() error
}

// Tx is a transaction of a Store, used by one goroutine.
type Tx interface {
	// Get returns the value, nil if there is none; it is valid until the next
	// call on the transaction.
	Get(key []byte) ([]byte, error)
	// Put and Delete do not keep key and value.
	Put(key, value []byte) error
	Delete(key []byte) error
	// Iter iterates over the keys from lower, inclusive, to upper, exclusive.
	// Nothing is written while an iterator is open.
	Iter(lower, upper []byte) (Iter, error)
	// Commit ends the transaction; what it wrote is durable as configured.
	Commit() error
	// Rollback ends the transaction without effect. After Commit it does nothing.
	Rollback()
}

// Applier is a Tx of a store with several writers that can be seen by others
// before it is durable.
type Applier interface {
	// Apply makes what the transaction wrote visible; Commit then waits until it
	// is durable. A transaction that is applied later is durable no earlier, so
	// that what a crash leaves never builds on what it took.
	Apply() error
}

// Iter is a position in a range of keys. First and Last move to the ends; all
// moves tell whether there is an entry. Key and Value are valid until the next move.
type Iter interface {
	First() bool
	Last() bool
	Next() bool
	Prev() bool
	Key() []byte
	Value() ([]byte, error)
	Close() error // tells the error that ended the iteration, if one did
}

// Range is a range of keys whose size is asked for.
type Range struct {
	Object       string
	Lower, Upper []byte
	Bytes        int64
	Kind         string // engine.Exact or engine.Estimate
}
