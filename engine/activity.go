package engine

import "context"

// Activity is a DB that can report the current activity of its sessions. A
// database in rumbench's own process cannot: there is no outside observer.
type Activity interface {
	DB
	// Activity opens a sampler on a separate connection.
	Activity(ctx context.Context) (ActivitySampler, error)
}

// ActivitySampler samples the sessions of a database from outside. It is used by
// one goroutine at a time.
type ActivitySampler interface {
	// Source names the view that is sampled: "pg_stat_activity".
	Source() string
	// Sample calls add with each current activity and the number of sessions
	// that share it. It covers all sessions of this database, connections for
	// DDL included, but not the sampler's own nor that of Counters. Sessions
	// whose activity is unknown are omitted.
	Sample(ctx context.Context, add func(d SessionActivity, sessions int)) error
	Close() error
}

// ThreadLister is an ActivitySampler that knows which threads of the operating system
// serve the sessions that it samples: a thread or a process each.
type ThreadLister interface {
	// Threads returns their numbers; none if the server does not report them.
	Threads(ctx context.Context) ([]int, error)
}

// SessionActivity is the activity of a session at one moment.
type SessionActivity struct {
	State SessionState
	Role  Role
	Event string // as the server calls it: "Lock:transactionid"; "" if it reports none
}

// SessionState is the state of a session: running, or waiting, and for whom.
type SessionState string

// The states of a session.
const (
	Running SessionState = "running" // it runs, or the server reports no wait
	Waiting SessionState = "waiting" // it waits inside the server, possibly for another session
	Client  SessionState = "client"  // it waits for the client: between statements, in a transaction or not
)

// Role is the class of a server's wait event, whatever the server or version
// calls it. Across servers only times by role can be compared.
type Role string

// The roles.
const (
	RoleCPU       Role = "cpu"           // it runs, or waits for a CPU
	RoleExecuting Role = "executing"     // it is in a statement, and the server reports no more: it runs, or waits briefly
	RoleRow       Role = "row lock"      // another transaction has changed or locked a row
	RoleMetadata  Role = "metadata lock" // tables and their definitions, and the lock manager itself
	RoleSnapshot  Role = "snapshot"      // read views, transaction numbers and states
	RoleIndex     Role = "index tree"    // the inner pages of an index
	RoleBuffer    Role = "buffer"        // pages in the cache, and their lookup
	RoleIO        Role = "io"            // files of tables and indexes
	// the redo or write-ahead log, and the binary log: its buffer, its writes, its syncs
	RoleLog     Role = "log"
	RoleCommit  Role = "commit"  // group commit, or a replica's acknowledgement
	RoleNetwork Role = "network" // sending to the client
	RoleOther   Role = "other"   // anything else, and unknown events
	RoleClient  Role = "client"  // it waits for the client
)

// Roles lists the roles in display order.
func Roles() []Role {
	return []Role{
		RoleCPU, RoleExecuting, RoleRow, RoleMetadata, RoleSnapshot, RoleIndex, RoleBuffer,
		RoleIO, RoleLog, RoleCommit, RoleNetwork, RoleOther, RoleClient,
	}
}

// Doc returns a description of the role: the work or the wait of a session.
func (r Role) Doc() string { return roleDocs[r] }

var roleDocs = map[Role]string{
	RoleCPU:       "running, or waiting for CPU",
	RoleExecuting: "in a statement; the server does not report whether it works or waits",
	RoleRow:       "waiting for a row that another transaction has changed or locked",
	RoleMetadata:  "waiting for locks on tables or their definitions, or for the lock manager",
	RoleSnapshot:  "waiting for the list of transactions: snapshots, transaction numbers and states",
	RoleIndex:     "waiting for the upper pages of an index",
	RoleBuffer:    "waiting for pages in the cache",
	RoleIO:        "waiting for files of tables and indexes",
	RoleLog:       "waiting for the log to be written or synced, or for room in its buffer",
	RoleCommit:    "in a commit, alone or in a group",
	RoleNetwork:   "sending to the client",
	RoleOther:     "waiting for something else, or for something not known here",
	RoleClient:    "waiting for the client, between statements",
}

// The counters of waits that a server times itself, of client sessions only,
// labelled by event and role. Nested waits are counted once.
const (
	WaitTime = "engine.wait_ns" // counter: time that sessions waited
	Waits    = "engine.waits"   // counter: number of waits; for latches every acquisition counts, contended or not
)
