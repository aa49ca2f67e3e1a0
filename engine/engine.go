// Package engine is the contract of a database engine: its duties, and the
// guarantees that it may rely on. The packages below it are the engines, and
// enginetest is the conformance suite that every engine passes.
//
// It holds no engine and no measurement: engines execute operations as fast as
// they can, and are timed from outside.
package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Engine opens databases of one kind. It holds no state.
type Engine interface {
	Info() Info
	// Check returns an error if Open could not honour the configuration, without
	// opening or touching anything. It does not run a server's program whose
	// details are known, see internal/server. For a knob that the engine does not
	// have, or cannot set to that value, it is a *KnobError.
	Check(Config) error
	// Open opens the database in Config.Dir, which it creates if the directory is
	// empty; a server is started there, or attached to. It calls Check first.
	Open(ctx context.Context, c Config) (DB, error)
}

// Info describes an engine to people and to the planner, which is why it has many fields.
type Info struct {
	Name         string // as plans call it
	Structure    string // the kind of index structure, such as "LSM tree"
	Doc          string // one sentence
	Version      string // of the library; servers report theirs in Settings
	Capabilities []model.Capability
	Options      []Option // valid keys of Config.Options
	// Variables are settings of a server, also keys of Config.Options, whose effects
	// are known. It has others.
	Variables []Option
	// Enabling are the settings that enable capabilities which a configuration
	// may lack, such as "options.transactions: locks".
	Enabling map[model.Capability]string
	// Aliases are other common names of the engine, in lower case. Plans call it by
	// Name only.
	Aliases []string
	// Storages are the storage engines that it is known to have, if there are several.
	Storages []string
	// Servers are the kinds of servers that it can start, the default first;
	// none: it runs in rumbench's own process.
	Servers []string
	// Joins: processes on other machines can join its database, through several servers.
	Joins bool
	// Native engines are written in C or C++: only rumbench-native can open them,
	// see package engine/native. Every rumbench checks plans for them.
	Native bool
	// SpaceFactor is a generous estimate of peak bytes on disk per live user
	// byte, used only to refuse runs that would fill the disk. 0: it stores
	// nothing on disk.
	SpaceFactor float64
	// SpaceBase is the size of an empty database in bytes: preallocated logs, the
	// server's own tables.
	SpaceBase int64
	// DirectIO are the releases that bypass the page cache unless the knob direct_io is false; "":
	// they use it unless that is true.
	DirectIO string
	// Forgets is why committed rows are lost when it is closed; "": they are kept, or it stores
	// nothing on disk at all.
	Forgets string
	Files   FileUses
	// Promises replace model.Durability.Promise at the levels that promise more,
	// or less.
	Promises map[model.Durability]string
}

// Configurable is an engine whose structure and capabilities depend on its
// configuration.
type Configurable interface {
	// InfoOf returns Info for a configuration.
	InfoOf(Config) Info
}

// InfoOf returns the description of an engine with a configuration.
func InfoOf(e Engine, c Config) Info {
	if v, ok := e.(Configurable); ok {
		return v.InfoOf(c)
	}
	return e.Info()
}

// PromiseOf returns the promise for commits on an engine with a configuration.
func PromiseOf(e Engine, c Config) string {
	return cmp.Or(InfoOf(e, c).Promises[c.Durability], c.Durability.Promise())
}

// UnsyncedPromises are the Promises of engines that sync nothing below level os,
// neither at commit nor in the background.
var UnsyncedPromises = map[model.Durability]string{
	model.DurabilityNone: "nothing is promised; a crash of the operating system may lose the whole database, as " +
		"nothing is synced",
	model.DurabilityProcess: "commits survive kill -9 of the engine; a crash of the operating system may lose the " +
		"whole database, as nothing is synced",
}

// Option documents a key of Config.Options.
type Option struct {
	Name, Type, Doc string
	Affects         Aspect // "" if it is none of the aspects
	Effect          Effect // "" if it has none that the kernel shows
}

// Config is the configuration that a database is opened with: the knobs that
// all engines share, and the engine's own options. The zero value of a knob
// means the engine's default.
type Config struct {
	Dir         string            // the private data directory; not used with Server.DSN
	Storage     string            // the storage engine, if there are several: "innodb"; "" is the default
	Server      ServerConfig      // only for engines that are servers
	Cache       int64             // total bytes of the engine's own cache
	Durability  model.Durability  // never empty
	Compression model.Compression // of data on disk
	Page        int64             // bytes of a page or block
	DirectIO    *bool             // bypass the page cache
	// Isolation is the level of every session's transactions, set at connect and
	// read back.
	Isolation model.Isolation
	// Protocol is how statements are sent, if the engine has a choice; "" is Prepared.
	Protocol Protocol
	Options  map[string]any // engine-specific, verbatim
	Schema   model.Schema   // the tables of all operations
}

// Compresses reports whether compression is asked for.
func (c Config) Compresses() bool {
	return c.Compression != "" && c.Compression != model.CompressionNone
}

// Direct reports whether direct I/O is asked for.
func (c Config) Direct() bool { return c.DirectIO != nil && *c.DirectIO }

// CheckOptions returns an error for an option that the engine does not have.
func (c Config) CheckOptions(options []Option) error {
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Name == name }) {
			return &KnobError{Knob: "options." + name, Reason: "the engine has no such option", Known: options}
		}
	}
	return nil
}

// KnobError reports that an engine cannot honour a knob.
type KnobError struct {
	Knob   string // such as "compression" or "options.mem_table_size"
	Value  string // as requested; may be empty
	Reason string // the reason, and the possible values
	Known  []Option
	Values []string // that the engine accepts, if they are names
	Err    error    // the cause, if any; its hint is the error's
}

// Hint returns the accepted value that was probably meant, or the hint of the cause.
func (e *KnobError) Hint() string { return hint.Meant(e.Value, e.Values, hint.Of(e.Err)) }

// Choose returns the KnobError of a value that is none of the accepted ones, else nil.
func Choose(knob string, value any, accepted ...string) error {
	text, ok := value.(string)
	if ok && slices.Contains(accepted, text) {
		return nil
	}
	return &KnobError{Knob: knob, Value: fmt.Sprint(value), Values: accepted,
		Reason: "it must be " + strings.Join(accepted, " or ")}
}

// Refuse returns the KnobError of a knob's value. A nil value is not shown. The
// reason is formatted.
func Refuse(knob string, value any, reason string, args ...any) error {
	e := &KnobError{Knob: knob, Reason: fmt.Sprintf(reason, args...)}
	if value != nil {
		e.Value = fmt.Sprint(value)
	}
	return e
}

// RefuseIf returns Refuse on a condition, else nil. A list of checks is cmp.Or of
// them.
func RefuseIf(refused bool, knob string, value any, reason string, args ...any) error {
	if !refused {
		return nil
	}
	return Refuse(knob, value, reason, args...)
}

func (e *KnobError) Unwrap() error { return e.Err }

func (e *KnobError) Error() string {
	if e.Value != "" {
		return fmt.Sprintf("%s: %s: %s", e.Knob, e.Value, e.Reason)
	}
	return e.Knob + ": " + e.Reason
}

// DB is an open database.
//
// Session, Sizes, Counters and ClearTable may be called concurrently, also while
// sessions execute operations. CreateIndexes may be called concurrently for different
// tables, while no session writes to them. The others are called from one
// goroutine while all sessions are idle.
type DB interface {
	// Settings returns the effective settings, read back from the engine where
	// possible.
	Settings(ctx context.Context) ([]Setting, error)
	// CreateTables creates the schema's tables, without secondary indexes. It
	// fails, and changes nothing, if one exists.
	CreateTables(ctx context.Context) error
	// CreateIndexes builds the named secondary indexes of a table that may hold
	// rows, in one statement or pass if the engine can.
	CreateIndexes(ctx context.Context, table string, indexes ...string) error
	// DropIndex removes a secondary index.
	DropIndex(ctx context.Context, table, index string) error
	// ClearTable removes all rows of a table as fast as the engine can; its indexes
	// stay. Sessions may concurrently write to other tables, and none uses this one.
	ClearTable(ctx context.Context, table string) error
	// Session opens a session for one client goroutine.
	Session(ctx context.Context) (Session, error)
	// Sizes returns the bytes of each table and index, where known, and of the
	// whole database.
	Sizes(ctx context.Context) ([]Size, error)
	// Counters adds the engine's counters to the sample. It must be cheap: it is
	// called every second during measurement, while the sessions work.
	Counters(ctx context.Context, s *Sample) error
	// Settle brings the database to rest after a load: it flushes, checkpoints,
	// compacts, vacuums or analyzes, and returns the actions done.
	Settle(ctx context.Context) ([]SettleAction, error)
	// Close ends the sessions that are still open and closes the database. Data
	// committed at any level but none is there after the next Open. Closing
	// again does nothing.
	Close() error
}

// Session executes operations for one client, one at a time.
type Session interface {
	// Prepare prepares an operation that has been validated against the schema. A
	// secondary index that it names must exist.
	Prepare(ctx context.Context, op *model.Op) (Stmt, error)
	Close() error
}

// Speaker is a DB that executes Own statements.
type Speaker interface {
	// Speaks returns the name of the SQL that it understands, which is one of Spoken.
	Speaks() string
}

// Spoken are the names of the SQL that engines understand.
var Spoken = []string{"mysql", "postgres", "sqlite"}

// Loader is a Session that completes bulk loads: until EndLoad has returned,
// rows inserted with model.Op.Load need neither be visible to other sessions
// nor survive a crash.
type Loader interface {
	EndLoad(ctx context.Context) error
}

// Connected is a Session with a connection that others can end.
type Connected interface {
	// Ended reports whether the connection was ended while the session was idle. It asks no server.
	Ended() bool
}

// Stmt is a prepared operation.
type Stmt interface {
	// Exec executes the operation. Arguments are laid out as in model.Op.Args; they
	// and the rows passed to Result.Each are valid only during the call. Outside a
	// transaction an operation is atomic and, when Exec returns nil, durable as
	// configured. A failed operation changes nothing and returns an error that ClassOf
	// classifies. Within a transaction an engine that cannot undo a single operation
	// may instead fail all that follow, Commit included, so that everything is undone.
	Exec(ctx context.Context, args []model.Value, r *Result) error
}

// Result is the result of an operation. Exec overwrites all but Each.
type Result struct {
	Rows  int64       // rows inserted, deleted, changed, or returned
	Bytes int64       // user bytes of the values returned
	Value model.Value // of an aggregate; for an insert with ReturnNumber, the number of its last row, if known
	// Each, if set, is called with every row returned, in order. The row and its
	// values are valid only during the call.
	Each func(row []model.Value)
}

// Reset clears the result before an execution.
func (r *Result) Reset() { r.Rows, r.Bytes, r.Value = 0, 0, model.Value{} }

// Row counts a row returned and passes it to Each.
func (r *Result) Row(row []model.Value) {
	r.Rows++
	for _, v := range row {
		r.Bytes += int64(v.Size())
	}
	if r.Each != nil {
		r.Each(row)
	}
}

// CloneRow returns a copy of a row that owns its memory.
func CloneRow(row []model.Value) []model.Value {
	row = slices.Clone(row)
	for i, v := range row {
		row[i] = v.Clone()
	}
	return row
}

// Size is the space that an object takes.
type Size struct {
	Object string `json:"object"` // "table", "table.index", or "" for the whole database
	Bytes  int64  `json:"bytes"`  // allocated
	// Kind is Exact or Estimate.
	Kind string `json:"kind"`
}

// The kinds of a Size.
const (
	Exact    = "exact"
	Estimate = "estimate"
)

// Structure is how a database keeps tables and indexes. A zero field is unknown, or
// does not apply to the structure.
type Structure struct {
	Shape    Shape `json:"shape"`
	Page     int64 `json:"page_bytes,omitempty"`     // of a B-tree
	Commit   int64 `json:"commit_bytes,omitempty"`   // of CopyOnWrite: written by each commit besides pages of data
	LogRoom  int64 `json:"log_room_bytes,omitempty"` // how far the log may grow before pages have to be written
	Memtable int64 `json:"memtable_bytes,omitempty"` // how large memtables grow before they are flushed
	Block    int64 `json:"block_bytes,omitempty"`    // of an LSM tree whose blocks are not compressed
	Filters  bool  `json:"filters,omitempty"`        // of an LSM tree: a look-up by key reads one block
}

// Shape is the kind of a structure.
type Shape string

// The shapes that are known.
const (
	InPlace     Shape = "in place"      // a B-tree whose pages are updated where they are
	CopyOnWrite Shape = "copy on write" // a B-tree whose pages are copied when they change
	Leveled     Shape = "leveled"       // an LSM tree whose tables are merged into levels
)

// Structured is a DB that knows its structure. The zero Structure is an unknown one.
type Structured interface {
	Structure(ctx context.Context) (Structure, error)
}
