package engine

import "context"

// Activity is a DB that can tell what its sessions are doing at this moment. A
// database in rumbench's own process cannot: nobody stands beside it and looks.
type Activity interface {
	DB
	// Activity opens a sampler on a connection of its own.
	Activity(ctx context.Context) (ActivitySampler, error)
}

// ActivitySampler looks at the sessions of a database from outside. It is used
// by one goroutine at a time.
type ActivitySampler interface {
	// Source names where it looks: "pg_stat_activity".
	Source() string
	// Sample tells what the sessions are doing now, with how many of them do
	// the same: those that were opened for this database, but for the sampler's
	// own and that of Counters. Connections for definitions are among them. What
	// cannot be told of a session is left out.
	Sample(ctx context.Context, add func(d Doing, sessions int)) error
	Close() error
}

// Doing is what a session is doing at a moment.
type Doing struct {
	State SessionState
	Role  Role
	Event string // as the server calls it: "Lock:transactionid"; "" where it says nothing
}

// SessionState tells whose turn it is.
type SessionState string

// The states of a session.
const (
	Running SessionState = "running" // the server works for it, or does not tell that it waits
	Waiting SessionState = "waiting" // the server waits, for something of its own or for another session
	Client  SessionState = "client"  // the server waits for the client: between statements, in a transaction or not
)

// Role is what an event of a server is about, whatever its version calls it.
// Only times by role can be compared from one server to another.
type Role string

// The roles.
const (
	RoleCPU       Role = "cpu"           // it runs, or stands in line for a processor
	RoleExecuting Role = "executing"     // it is in a statement, and the server does not tell more: it runs, or waits for something small
	RoleRow       Role = "row lock"      // another transaction has changed or locked a row
	RoleMetadata  Role = "metadata lock" // tables and their definitions, and the lock manager itself
	RoleSnapshot  Role = "snapshot"      // which transactions there are: read views, transaction numbers and states
	RoleIndex     Role = "index tree"    // the inner pages of an index
	RoleBuffer    Role = "buffer"        // pages in the cache, and finding them there
	RoleIO        Role = "io"            // files of tables and indexes
	RoleLog       Role = "log"           // the redo or write-ahead log, and the binary log: its buffer, its writes, its syncs
	RoleCommit    Role = "commit"        // to be committed, in a group or after a replica
	RoleNetwork   Role = "network"       // sending to the client
	RoleOther     Role = "other"         // anything else, and events that are not known here
	RoleClient    Role = "client"        // the client has the turn
)

// Roles are all roles in the order in which they are shown.
func Roles() []Role {
	return []Role{RoleCPU, RoleExecuting, RoleRow, RoleMetadata, RoleSnapshot, RoleIndex, RoleBuffer, RoleIO, RoleLog, RoleCommit, RoleNetwork, RoleOther, RoleClient}
}

// The counters of waits that a server times itself, of clients' sessions only,
// each with the labels event and role. Times that enclose one another are not
// both among them.
const (
	WaitTime = "engine.wait_ns" // counter: for how long sessions waited
	Waits    = "engine.waits"   // counter: how often; for latches every acquisition counts, contended or not
)
