// Package engine is the contract of a database engine: what rumbench asks of
// one, and what it may rely on. The folders below it hold the engines, and
// enginetest the conformance suite that every engine passes.
//
// It holds no engine and no measurement: engines do what they are asked, as
// fast as they can, and are timed from outside.
package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"rumbench/model"
)

// Engine makes databases of one kind. It holds no state.
type Engine interface {
	Info() Info
	// Check reports whether Open could honour the configuration, without opening
	// or touching anything. A server's program is not run if it has been looked
	// at, see internal/server. A knob that the engine does not have, or cannot
	// set to the value asked for, is an error that names the knob.
	Check(Config) error
	// Open opens the database in Config.Dir and creates an empty one if the
	// directory is empty; a server it starts there, or attaches to. It has
	// called Check.
	Open(ctx context.Context, c Config) (DB, error)
}

// Info describes an engine to people and to the planner.
type Info struct {
	Name         string // as plans call it
	Structure    string // the kind of index structure, such as "LSM tree"
	Doc          string // one sentence
	Version      string // of the library; servers tell theirs in Settings
	Capabilities []model.Capability
	Options      []Option // what Config.Options may hold
	// Servers are the kinds of servers that it can start, the usual one first;
	// none: it runs in rumbench's own process.
	Servers []string
	// SpaceFactor is a generous estimate of the peak bytes on disk per live
	// user byte, used only to refuse runs that would fill the disk. 0: it
	// stores nothing on disk.
	SpaceFactor float64
	// SpaceBase is what an empty database takes: logs that are made in full
	// size at once, the server's own tables.
	SpaceBase int64
}

// Various is an engine that is one thing or another by its configuration.
type Various interface {
	// InfoOf is Info with the structure and the capabilities that the
	// configuration gives.
	InfoOf(Config) Info
}

// InfoOf describes an engine that is configured so.
func InfoOf(e Engine, c Config) Info {
	if v, ok := e.(Various); ok {
		return v.InfoOf(c)
	}
	return e.Info()
}

// Promiser is an Engine at whose levels a crash loses more, or less, than the
// level's own words say.
type Promiser interface {
	// Promise returns what a commit survives with the configuration, in a
	// reader's words; "" leaves it to the level's.
	Promise(Config) string
}

// PromiseOf returns what a commit survives on an engine that is configured so.
func PromiseOf(e Engine, c Config) string {
	if p, ok := e.(Promiser); ok {
		if text := p.Promise(c); text != "" {
			return text
		}
	}
	return c.Durability.Promise()
}

// UnsyncedPromise is Promise of an engine that syncs nothing below level os,
// neither at a commit nor in the background.
func UnsyncedPromise(c Config) string {
	const whole = "a crash of the operating system may lose the whole database, as nothing is synced"
	switch c.Durability {
	case model.DurabilityNone:
		return "nothing is promised; " + whole
	case model.DurabilityProcess:
		return "commits survive kill -9 of the engine; " + whole
	}
	return ""
}

// Option documents a key of Config.Options.
type Option struct {
	Name, Type, Doc string
}

// Config is what a database is opened with: the knobs that all engines share,
// and the engine's own options. A knob's zero value leaves it to the engine.
type Config struct {
	Dir         string            // the private data directory; not used with Server.DSN
	Storage     string            // the kind of storage, where the engine has several: "innodb"; "" is the usual one
	Server      ServerConfig      // only for engines that are servers
	Cache       int64             // bytes of the engine's own cache, all of it together
	Durability  model.Durability  // never empty
	Compression model.Compression //
	Page        int64             // bytes of a page or block
	DirectIO    *bool             // bypass the page cache
	// Isolation is the level of every session's transactions, set when it has
	// connected and read back; DefaultIsolation leaves it to the engine.
	Isolation model.Isolation
	// Protocol is how statements are sent, to engines that have a choice; "" is
	// Prepared.
	Protocol Protocol
	Options  map[string]any // engine-specific, verbatim
	Schema   model.Schema   // the tables that operations will name
}

// CheckOptions returns an error for an option that the engine does not have.
func (c Config) CheckOptions(known []Option) error {
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if !slices.ContainsFunc(known, func(o Option) bool { return o.Name == name }) {
			return &KnobError{Knob: "options." + name, Reason: "the engine has no such option", Known: known}
		}
	}
	return nil
}

// KnobError says that an engine cannot honour a knob.
type KnobError struct {
	Knob   string // such as "compression" or "options.mem_table_size"
	Value  string // as asked for; may be empty
	Reason string // why not, and what would be possible
	Known  []Option
	Err    error // the cause, if any; its hint is the knob's
}

// Unwrap is the cause.
func (e *KnobError) Unwrap() error { return e.Err }

// Error is the message.
func (e *KnobError) Error() string {
	if e.Value != "" {
		return fmt.Sprintf("%s: %s: %s", e.Knob, e.Value, e.Reason)
	}
	return e.Knob + ": " + e.Reason
}

// DB is an open database.
//
// Session, Sizes and Counters may be called from several goroutines, also while
// sessions work. CreateIndexes may be called for several tables at the same
// time, while no session writes to them. The others are called from one
// goroutine while no session works.
type DB interface {
	// Settings are the effective settings, read back from the engine where it
	// can be asked.
	Settings(ctx context.Context) ([]Setting, error)
	// CreateTables creates the schema's tables, without secondary indexes. It
	// fails, and changes nothing, if one exists.
	CreateTables(ctx context.Context) error
	// CreateIndexes builds the named secondary indexes of a table that may
	// hold rows, in one statement or pass where the engine can.
	CreateIndexes(ctx context.Context, table string, indexes ...string) error
	// DropIndex removes a secondary index.
	DropIndex(ctx context.Context, table, index string) error
	// Session opens a session for one client goroutine.
	Session(ctx context.Context) (Session, error)
	// Sizes reports the bytes that each table and index takes, and the total
	// of the database, where the engine can tell.
	Sizes(ctx context.Context) ([]Size, error)
	// Counters adds the engine's counters to the sample. It must be cheap: it
	// is called every second during measurement.
	Counters(ctx context.Context, s *Sample) error
	// Settle brings the database to rest after a load: flushes, checkpoints,
	// compacts, vacuums or analyzes, and reports what it did.
	Settle(ctx context.Context) ([]SettleAction, error)
	// Close ends the sessions that are still open and closes the database.
	// What was committed at any level but none is there after the next Open.
	// Closing again does nothing.
	Close() error
}

// Session executes operations for one client, one at a time.
type Session interface {
	// Prepare readies a shape that has been validated against the schema. A
	// secondary index that it names must exist.
	Prepare(ctx context.Context, op *model.Op) (Stmt, error)
	Close() error
}

// Loader is a Session that has something to do when a load has ended: until
// EndLoad has returned, rows inserted with model.Op.Load need not be seen by
// others, nor survive a crash.
type Loader interface {
	EndLoad(ctx context.Context) error
}

// Stmt is a prepared operation.
type Stmt interface {
	// Exec executes the operation. Arguments are laid out as model.Op.Args
	// says; they and the rows handed to Result.Each are valid during the call
	// only. Outside a transaction an operation is atomic and, when Exec
	// returns nil, durable as configured. A failed operation changes nothing
	// and returns an error whose class ClassOf tells. Within a transaction an
	// engine that cannot undo one operation may instead fail all that follow,
	// Commit too, so that everything is undone.
	Exec(ctx context.Context, args []model.Value, r *Result) error
}

// Result is what an operation did. Exec fills it anew; Each stays.
type Result struct {
	Rows  int64       // rows inserted, deleted, changed, or returned
	Bytes int64       // user bytes of the values returned
	Value model.Value // of an aggregate; for an insert with ReturnNumber, the number of its last row where the engine knows it
	// Each, if set, sees every row returned, in order. The row and its values
	// are valid only during the call.
	Each func(row []model.Value)
}

// Reset empties the result before an execution.
func (r *Result) Reset() { r.Rows, r.Bytes, r.Value = 0, 0, model.Value{} }

// Row counts a row returned and hands it to Each.
func (r *Result) Row(row []model.Value) {
	r.Rows++
	for _, v := range row {
		r.Bytes += int64(v.Size())
	}
	if r.Each != nil {
		r.Each(row)
	}
}

// Setting is an effective setting of a database.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Source says how the value is known: "read back" from the engine, or
	// "as set" where the engine cannot be asked.
	Source string `json:"source"`
}

// ReadBack and AsSet are the sources of a Setting.
const (
	ReadBack = "read back"
	AsSet    = "as set"
)

// Size is the space that an object takes.
type Size struct {
	Object string `json:"object"` // "table", "table.index", or "" for the whole database
	Bytes  int64  `json:"bytes"`  // allocated
	// Kind says how the number is known: "exact" or "estimate".
	Kind string `json:"kind"`
}

// The kinds of a Size.
const (
	Exact    = "exact"
	Estimate = "estimate"
)

// SettleAction is one thing that Settle did.
type SettleAction struct {
	Name     string        `json:"name"`
	Duration time.Duration `json:"ns"`
	Detail   string        `json:"detail,omitempty"` // what changed, such as debt before and after
}
