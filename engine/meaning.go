package engine

// Series with the same meaning on every engine. An engine that knows one adds it
// to its own counters, and readers need no engine's names.
const (
	Queries = "engine.queries" // statements executed for clients
	// transactions committed, read-only ones and single statements included; see ExplicitOnly
	Commits         = "engine.commits"
	Sessions        = "engine.sessions"         // client sessions, except the one that samples
	SessionsActive  = "engine.sessions_active"  // those of them that execute a statement
	SessionsBlocked = "engine.sessions_blocked" // those that wait for a lock of another transaction
	LockWaits       = "engine.lock_waits"       // waits for locks of other transactions

	// rows and index entries that operations read by their key, in a key-value store
	RowLookups = "engine.row_lookups"
	// lookups of blocks or pages in the engine's own cache; some engines count those of compactions,
	// too
	CacheLookups = "engine.cache_lookups"
	CacheMisses  = "engine.cache_misses" // those of them that missed
	CacheHits    = "engine.cache_hits"   // for an engine without CacheLookups, lookups that found their page
	// for such an engine, pages that it read into its cache, and those that tables and indexes
	// grew by
	PagesTaken = "engine.pages_taken"
	// for such an engine, rows inserted, updated and deleted: without them nothing grew
	RowsChanged  = "engine.rows_changed"
	BytesRead    = "engine.bytes_read"     // bytes read as reported by the engine, for operations and background work
	TextLogBytes = "engine.text_log_bytes" // by which the server's logs for people grew
	BytesWritten = "engine.bytes_written"  // bytes written as reported by the engine, data and logs
	LogBytes     = "engine.log_bytes"      // bytes written to the redo or write-ahead log
	LogSyncs     = "engine.log_syncs"      // syncs of that log
	// of LogBytes, pages logged whole: an upper bound, as their free space is left out of the log
	FullPageBytes  = "engine.full_page_bytes"
	PageBytes      = "engine.page_bytes"        // of BytesWritten, pages of tables and indexes in their places
	DoubleBytes    = "engine.doublewrite_bytes" // of BytesWritten, the same pages written before, against torn ones
	FlushBytes     = "engine.flush_bytes"       // of BytesWritten, memtables flushed
	CompactedBytes = "engine.compacted_bytes"   // of BytesWritten, written by compactions and merges
	FilterUseful   = "engine.filter_useful"     // tables that a filter spared a look-up
	RowsExamined   = "engine.rows_examined"     // rows and index entries that the storage handed to statements
	// entries of deleted or replaced rows that reads passed over
	DeadEntries = "engine.dead_entries"
	// versions of rows that were deleted or replaced, and not removed yet: an estimate, or the number
	// of the transactions that left them
	DeadRows = "engine.dead_rows"
	// key and value bytes put into the storage, index entries included: the denominator for an
	// LSM tree
	BytesTaken = "engine.bytes_taken"
	// age of the oldest transaction whose snapshot keeps old versions from being removed
	OldestSnapshot = "engine.oldest_snapshot_s"
	DirtyBytes     = "engine.dirty_bytes"     // dirty pages, still to be written
	CompactionDebt = "engine.compaction_debt" // bytes that compactions still have to rewrite
	// of an LSM tree, runs that a read may have to look into: files that overlap, and levels that hold data
	SortedRuns    = "engine.sorted_runs"
	CheckpointAge = "engine.checkpoint_bytes" // log written since the last checkpoint, which recovery would have to read
	// what recurs while rows are written: a step that sees few of them depends on where in the cycle
	// it began
	Checkpoints = "engine.checkpoints"
	Flushes     = "engine.flushes"     // of memtables
	Compactions = "engine.compactions" // and merges
	Vacuums     = "engine.vacuums"     // removals of old row versions, by the server itself
	// bytes of tables and indexes that its cache holds; for an LSM tree, blocks of filters, too
	CacheHeld = "engine.cache_held_bytes"
	// for a B-tree that copies pages on write, transactions committed that may have written
	WriteCommits = "engine.write_commits"
	PageWrites   = "engine.page_writes"    // pages, or runs of them, that its commits wrote
	TempBytes    = "engine.temp_bytes"     // bytes written to temporary files, of sorts and hash tables
	Spills       = "engine.spills"         // sorts and temporary tables that did not fit into their memory
	Connects     = "engine.connections"    // connections opened
	Prepares     = "engine.prepares"       // statements prepared
	StallTime    = "engine.stall_ns"       // time during which writes were stalled
	WriterWait   = "engine.writer_wait_ns" // for which writers waited for each other, where one may write at a time
	Stalls       = "engine.stalls"         // write stalls
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
// the most important first.
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
		{TextLogBytes, Counter, "bytes", "text log bytes"},
		{LogSyncs, Counter, "count", "log syncs"},
		{FullPageBytes, Counter, "bytes", "full pages in the log"},
		{PageBytes, Counter, "bytes", "pages written"},
		{DoubleBytes, Counter, "bytes", "pages written twice"},
		{FlushBytes, Counter, "bytes", "memtables flushed"},
		{CompactedBytes, Counter, "bytes", "written by compactions"},
		{Checkpoints, Counter, "count", "checkpoints"},
		{Flushes, Counter, "count", "memtable flushes"},
		{Compactions, Counter, "count", "compactions"},
		{Vacuums, Counter, "count", "vacuums"},
		{FilterUseful, Counter, "count", "tables that filters spared"},
		{RowsExamined, Counter, "count", "rows examined"},
		{DeadEntries, Counter, "count", "dead entries passed over"},
		{DeadRows, Gauge, "count", "old row versions"},
		{OldestSnapshot, Gauge, "s", "age of the oldest snapshot"},
		{CacheLookups, Counter, "count", "cache lookups"},
		{RowLookups, Counter, "count", "row look-ups"},
		{CacheMisses, Counter, "count", "cache misses"},
		{CacheHits, Counter, "count", "cache hits"},
		{PagesTaken, Counter, "count", "pages read or added"},
		{RowsChanged, Counter, "count", "rows changed"},
		{DirtyBytes, Gauge, "bytes", "dirty bytes"},
		{CheckpointAge, Gauge, "bytes", "log since the last checkpoint"},
		{CacheHeld, Gauge, "bytes", "pages held in the cache"},
		{WriteCommits, Counter, "count", "commits of writers"},
		{CompactionDebt, Gauge, "bytes", "compaction debt"},
		{SortedRuns, Gauge, "count", "sorted runs"},
		{PageWrites, Counter, "count", "page writes"},
		{TempBytes, Counter, "bytes", "bytes to temporary files"},
		{Spills, Counter, "count", "spills to temporary files"},
		{Connects, Counter, "count", "connections opened"},
		{Prepares, Counter, "count", "statements prepared"},
		{Stalls, Counter, "count", "write stalls"},
		{StallTime, Counter, "ns", "time in write stalls"},
		{WriterWait, Counter, "ns", "writers waiting for each other"},
		{BytesTaken, Counter, "bytes", "bytes put into the storage"},
		{Waits, Counter, "count", "waits"},
		{WaitTime, Counter, "ns", "time in waits"},
	}
}
