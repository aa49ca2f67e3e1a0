package engine

import (
	"context"
	"errors"
	"fmt"

	"rumbench/internal/hint"
	"rumbench/model"
)

// ServerConfig says which server a database lives on. Its zero value is a
// private server of the engine's usual kind.
type ServerConfig struct {
	Kind   string // of the server to start, such as "mariadb"; "": the engine's first
	Binary string // path of its program; "": the one that is installed
	// DSN attaches to a server that runs already, as its driver writes it. Such
	// a server is never started, stopped, configured or wiped.
	DSN string
	// Schema is what the tables are made in; "" is DefaultSchema. Unless Force
	// is set it must not exist, on a server that is attached to.
	Schema string
	// Force allows a schema that exists. Tables in it that have the names of
	// the workload's are replaced by CreateTables; others are left alone. It also
	// allows options that let others at a private server.
	Force bool
	// Log is the file that the server's own messages go to; "": one beside its data.
	Log string
}

// ServerVersion is the Setting that tells what a server says it is.
const ServerVersion = "server_version"

// DefaultSchema is the schema that tables are made in.
const DefaultSchema = "rumbench"

// CheckEmbedded returns an error for what only servers have, and for an option
// or an isolation level that the engine does not have.
func (c Config) CheckEmbedded(known []Option, has ...model.Isolation) error {
	const reason = "the engine runs in rumbench's own process and has no server"
	switch {
	case c.Storage != "":
		return &KnobError{Knob: "storage", Value: c.Storage, Reason: "the engine has one kind of storage only"}
	case c.Server.Kind != "":
		return &KnobError{Knob: "server", Value: c.Server.Kind, Reason: reason}
	case c.Server.Binary != "":
		return &KnobError{Knob: "binary", Value: c.Server.Binary, Reason: reason}
	case c.Server.DSN != "":
		return &KnobError{Knob: "dsn", Reason: reason}
	case c.Server.Schema != "":
		return &KnobError{Knob: "schema", Value: c.Server.Schema, Reason: reason}
	case c.Protocol != "" && c.Protocol != Prepared:
		return &KnobError{Knob: "protocol", Value: string(c.Protocol), Reason: reason}
	}
	if err := c.CheckIsolation(has...); err != nil {
		return err
	}
	return c.CheckOptions(known)
}

// RefuseOpening returns an error for an option that would let others at a private
// server, unless that is forced.
func (c Config) RefuseOpening(option string) error {
	if c.Server.Force {
		return nil
	}
	return &KnobError{Knob: "options." + option, Reason: "it would let others at a server that is for the benchmark alone", Err: errOpening}
}

var errOpening = hint.With(errors.New("the server would be open to others"), "remove the option, or run with --force")

// ExistsError says that the schema on a server that was attached to exists already.
type ExistsError struct {
	Schema  string
	Comment string // what its maker has written on it, if the server keeps that
}

// Error is the message.
func (e *ExistsError) Error() string {
	said := ""
	if e.Comment != "" {
		said = " (" + e.Comment + ")"
	}
	return fmt.Sprintf("the server has a schema %s already%s, and rumbench touches nothing that it did not make", e.Schema, said)
}

// Hint says what can be done.
func (e *ExistsError) Hint() string {
	return "choose another schema: NAME, or run with --force, which replaces the tables of the workload in it"
}

// Hosted is a DB whose work is done by other processes than this one.
type Hosted interface {
	DB
	// Processes are the server's processes on this host; their descendants
	// belong to it too. Without any, why tells why they are not known.
	Processes() (pids []int, why string)
	// DataDir is where the server keeps its data on this host, "" if that is
	// not known.
	DataDir() string
	// Died tells how a server that was started by Open ended, with its last
	// words; nil while it runs, and of a server that was attached to.
	Died() error
}

// FileClass tells what a file of a server's data directory is for.
type FileClass string

// The classes of files.
const (
	DataFile   FileClass = "data"   // tables and indexes
	LogFile    FileClass = "log"    // what recovery reads, in files that grow and are removed: they hold rows that are nowhere else yet
	RedoFile   FileClass = "redo"   // what recovery reads, in files that are used again
	SpareFile  FileClass = "spare"  // made in advance, for what is still to be written to a log
	SystemFile FileClass = "system" // the server's own tables, undo, old versions of rows, settings, messages
	TempFile   FileClass = "temp"
)

// Classifier is a DB that can tell the files of its data directory apart.
type Classifier interface {
	// FileClass returns what gives the class of a file by its path below the data
	// directory, as things are now.
	FileClass(ctx context.Context) (func(path string) FileClass, error)
	// Empty returns what the files of each class took, as far as they were
	// written, when the server had been made and held nothing yet; nil if that
	// is not known.
	Empty() map[FileClass]int64
}

// Watcher is an engine that can watch a running server without touching it.
type Watcher interface {
	// Watch connects to the server that a DSN names, for its counters only.
	Watch(ctx context.Context, dsn string) (Watch, error)
}

// Watch is a connection that reads counters.
type Watch interface {
	// Counters adds the server's counters, as DB.Counters does.
	Counters(ctx context.Context, s *Sample) error
	// Processes are the server's processes, as Hosted.Processes tells.
	Processes() (pids []int, why string)
	// DataDir is where the server keeps its data, as Hosted.DataDir tells.
	DataDir() string
	Close() error
}
