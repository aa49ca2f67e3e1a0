package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"rumbench/internal/text/hint"
	"rumbench/model"
)

// ServerConfig is the server that holds a database. Its zero value is a private
// server of the engine's default kind.
type ServerConfig struct {
	Kind   string // of the server to start, such as "mariadb"; "": the engine's default
	Binary string // path of its program; "": the one that is installed
	Image  string // of a container that holds its program, such as "mysql:8.4"; "": this host does
	// DSN attaches to a running server, in its driver's syntax. Such a server is
	// never started, stopped, configured or wiped.
	DSN string
	// Gateways are further servers of the same database, as DSN. Sessions are dealt over DSN and these in turn,
	// beginning with number Turn; everything else uses DSN.
	Gateways []string
	Turn     int
	// Observed: others observe the processes of the gateways.
	Observed bool
	// Schema is where the tables are created; "" is DefaultSchema. On an attached
	// server it must not exist, unless Force is set.
	Schema string
	// Force allows an existing schema. CreateTables replaces tables in it that an
	// earlier run has left; others are neither replaced nor used. It also allows options
	// that open a private server to other clients.
	Force bool
	// Listen is the address at which clients on other machines reach a private server, with the password
	// that it makes up; "": only this machine reaches it.
	Listen string
	// Join works in the schema that another process has made on the server of DSN: nothing is made,
	// configured or removed. The settings of a private server are those of the process that has started it.
	Join bool
	// Expected are the servers that a process which joins must reach, see Route; none: any.
	Expected []string
	// Log is the file of the server's own messages; "": one next to its data.
	Log string
	// Started, if set, is called with the process of a private server as soon as it runs. An error ends
	// the server.
	Started func(pid int) error
}

// DSNs returns the data source names of all gateways; none for a private server.
func (c *ServerConfig) DSNs() []string {
	if c.DSN == "" {
		return nil
	}
	return append([]string{c.DSN}, c.Gateways...)
}

// Kinds returns the kinds of servers that may be meant, of those that an engine has.
func (c *ServerConfig) Kinds(all []string) []string {
	if c.Kind != "" {
		return []string{c.Kind}
	}
	return all
}

// ServerVersion is the Setting that holds the version that a server reports.
const ServerVersion = "server_version"

// DefaultSchema is the schema of tables if none is named.
const DefaultSchema = "rumbench"

// CheckEmbedded returns an error for a knob that only servers have, and for an
// option or an isolation level that the engine does not have. Server.Binary names
// no server here, but the rumbench program that runs the trials.
func (c Config) CheckEmbedded(options []Option, has ...model.Isolation) error {
	const reason = "the engine runs in rumbench's own process and has no server"
	return cmp.Or(
		RefuseIf(c.Storage != "", "storage", c.Storage, "the engine has only one storage engine"),
		RefuseIf(c.Server.Kind != "", "server", c.Server.Kind, reason),
		RefuseIf(c.Server.Image != "", "image", c.Server.Image, reason),
		RefuseIf(c.Server.DSN != "", "dsn", nil, reason),
		RefuseIf(c.Server.Schema != "", "schema", c.Server.Schema, reason),
		RefuseIf(c.Protocol != "" && c.Protocol != Prepared, "protocol", c.Protocol, reason),
		c.CheckIsolation(has...), c.CheckOptions(options))
}

// RefuseOpening returns an error for an option that would open a private server
// to other clients, unless Force is set.
func (c Config) RefuseOpening(option string) error {
	if c.Server.Force {
		return nil
	}
	return &KnobError{Knob: "options." + option, Reason: "it would open the benchmark's private server to other clients",
		Err: hint.Errorf("remove the option, or run with --force", "the server would be open to other clients")}
}

// Mark begins the comment of everything that rumbench makes on an attached server: only
// what has it is removed.
const Mark = "made by rumbench"

// ForeignError returns the error of a table that rumbench has not made.
func ForeignError(table string) error {
	return hint.Errorf("choose another schema: NAME", "%s exists, and rumbench did not make it", table)
}

// ExistsError is a schema that exists already on an attached server.
type ExistsError struct {
	Schema  string
	Comment string // its comment, if the server stores one
	Ours    bool   // it holds nothing but what rumbench has made
}

func (e *ExistsError) Error() string {
	comment := ""
	if e.Comment != "" {
		comment = " (" + e.Comment + ")"
	}
	reason := "and rumbench does not touch what it did not create"
	if e.Ours {
		reason = "with nothing in it but what an earlier run has left"
	}
	return fmt.Sprintf("the server has a schema %s already%s, %s", e.Schema, comment, reason)
}

func (e *ExistsError) Hint() string {
	if !e.Ours {
		return "choose another schema: NAME"
	}
	return "choose another schema: NAME, or run with --force, which replaces the tables of the earlier run in it"
}

// Hosted is a DB that runs in server processes, not in this one.
type Hosted interface {
	DB
	// Processes returns the server's processes on this host, which their
	// descendants belong to as well. If there are none, reason explains why.
	Processes() (pids []int, reason string)
	// DataDir returns the server's data directory on this host, "" if it is
	// unknown.
	DataDir() string
	// Died returns how a server that was started by Open ended, with its last
	// messages; nil while it runs, and for an attached server.
	Died() error
}

// Pinger is a DB whose server can be asked for nothing.
type Pinger interface {
	// RoundTrip returns how long a client waits for the answer to a statement without work, while the server has no
	// load: the least of many, as which processors the two ends run on makes a difference of its own.
	RoundTrip(ctx context.Context) (time.Duration, error)
}

// Reachable is a DB on a server that clients on other machines can reach.
type Reachable interface {
	// Reach returns how they join it. An error says why they cannot.
	Reach(ctx context.Context) (Route, error)
	// Refresh looks again at what exists in the schema: processes that have joined it may have made
	// indexes.
	Refresh(ctx context.Context) error
}

// Route is how clients on other machines join a database.
type Route struct {
	DSNs    []string // of its gateways, the first is that of everything but sessions; they may hold passwords
	Servers []string // texts that identify the processes that these reach
}

// Dealer is a DB whose sessions are dealt over several servers.
type Dealer interface {
	// Dealt returns how many sessions each server has been dealt since the database was opened.
	Dealt() []int
}

// StatementLimiter is a DB whose server limits the prepared statements of all sessions
// together.
type StatementLimiter interface {
	// FreeStatements returns how many more can be prepared, and the server's variable that
	// limits them; "" if there is no limit.
	FreeStatements(ctx context.Context) (n int64, variable string, err error)
}

// FileClass is the purpose of a file in a server's data directory.
type FileClass string

// The classes of files.
const (
	DataFile FileClass = "data" // tables and indexes
	// write-ahead log in files that grow and are removed: it holds rows that are not yet
	// elsewhere
	LogFile    FileClass = "log"
	RedoFile   FileClass = "redo"   // redo log in files that are reused
	SpareFile  FileClass = "spare"  // preallocated or recycled log files
	BinlogFile FileClass = "binlog" // a log of changes for replicas
	// MessageFile is a log of text that the server writes for people: errors, statements
	MessageFile FileClass = "messages"
	SystemFile  FileClass = "system" // the server's own tables, undo, old row versions, settings
	TempFile    FileClass = "temp"
)

// Classifier is a DB that knows the purpose of each file in its data directory.
type Classifier interface {
	// FileClass returns a function that classifies a file by its path below the
	// data directory, as of now.
	FileClass(ctx context.Context) (func(path string) FileClass, error)
	// Empty returns the written bytes of each class when the server was new and
	// empty; nil if that is unknown.
	Empty() map[FileClass]int64
}

// Watcher is an engine that can watch a running server without changing it.
type Watcher interface {
	// Watch connects to the server of a DSN, for its counters only.
	Watch(ctx context.Context, dsn string) (Watch, error)
}

// Watch is a connection for reading counters.
type Watch interface {
	// Counters adds the server's counters, as DB.Counters does.
	Counters(ctx context.Context, s *Sample) error
	// Settings returns the effective settings, as DB.Settings does. Durability is
	// among them if it is known.
	Settings(ctx context.Context) ([]Setting, error)
	// Processes is as in Hosted.
	Processes() (pids []int, reason string)
	// DataDir is as in Hosted.
	DataDir() string
	Close() error
}

// Protocol is how operations reach a server.
type Protocol string

// The protocols.
const (
	// server-side prepared statements, parsed once per session; values are sent in binary form
	Prepared Protocol = "prepared"
	Text     Protocol = "text" // every execution is a statement with literal values, parsed each time
)

func Protocols() []Protocol { return []Protocol{Prepared, Text} }
