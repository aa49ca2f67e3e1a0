package engine

// Series with the same meaning on every engine. An engine that knows one adds it
// beside its own counters, and whoever reads them needs no engine's names.
const (
	Queries         = "engine.queries"          // statements executed for clients
	Commits         = "engine.commits"          // transactions committed, read-only ones and single statements included; see ExplicitOnly
	Sessions        = "engine.sessions"         // client sessions, but for the one that samples
	SessionsActive  = "engine.sessions_active"  // those of them that execute a statement
	SessionsBlocked = "engine.sessions_blocked" // those that wait for a lock of another transaction
	LockWaits       = "engine.lock_waits"       // waits for locks of other transactions

	RowLookups     = "engine.row_lookups"      // rows and index entries that operations read by their key, in a key-value store
	CacheLookups   = "engine.cache_lookups"    // lookups of blocks or pages in the engine's own cache; some engines count those of compactions, too
	CacheMisses    = "engine.cache_misses"     // those of them that missed
	BytesRead      = "engine.bytes_read"       // bytes read as reported by the engine, for operations and background work
	BytesWritten   = "engine.bytes_written"    // bytes written as reported by the engine, data and logs
	LogBytes       = "engine.log_bytes"        // bytes written to the redo or write-ahead log
	BytesTaken     = "engine.bytes_taken"      // key and value bytes put into the storage, index entries included: what an LSM tree divides by
	DirtyBytes     = "engine.dirty_bytes"      // dirty pages, still to be written
	CompactionDebt = "engine.compaction_debt"  // bytes that compactions still have to rewrite
	CheckpointAge  = "engine.checkpoint_bytes" // log written since the last checkpoint, which recovery would have to read
	StallTime      = "engine.stall_ns"         // time in which writes were stalled
	Stalls         = "engine.stalls"           // write stalls
)

// ExplicitOnly is the label of Commits on a server that counts only COMMIT
// statements, and not the transactions of single statements.
const ExplicitOnly = "explicit_only"

// Meaning describes a series that means the same on every engine.
type Meaning struct {
	Name  string
	Kind  CounterKind
	Unit  string
	Title string // for people: "bytes read"
}

// Means reports whether the point is a series of the meaning.
func (p Point) Means(m Meaning) bool { return p.Name == m.Name && p.Kind == m.Kind && p.Unit == m.Unit }

// Meanings lists the series that mean the same on every engine in display order:
// what matters most first.
func Meanings() []Meaning {
	return []Meaning{
		{Queries, Counter, "count", "queries"},
		{Commits, Counter, "count", "commits"},
		{Sessions, Gauge, "count", "sessions"},
		{SessionsActive, Gauge, "count", "active sessions"},
		{SessionsBlocked, Gauge, "count", "blocked sessions"},
		{LockWaits, Counter, "count", "lock waits"},
		{BytesRead, Counter, "bytes", "bytes read"},
		{BytesWritten, Counter, "bytes", "bytes written"},
		{LogBytes, Counter, "bytes", "log bytes"},
		{CacheLookups, Counter, "count", "cache lookups"},
		{RowLookups, Counter, "count", "row look-ups"},
		{CacheMisses, Counter, "count", "cache misses"},
		{DirtyBytes, Gauge, "bytes", "dirty bytes"},
		{CheckpointAge, Gauge, "bytes", "log since the last checkpoint"},
		{CompactionDebt, Gauge, "bytes", "compaction debt"},
		{Stalls, Counter, "count", "write stalls"},
		{StallTime, Counter, "ns", "time in write stalls"},
		{BytesTaken, Counter, "bytes", "bytes put into the storage"},
		{Waits, Counter, "count", "waits"},
		{WaitTime, Counter, "ns", "time in waits"},
	}
}
