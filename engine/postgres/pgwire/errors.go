package pgwire

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine"
	"rumbench/internal/text/hint"
)

// The states of the server's errors that are handled separately.
const (
	DuplicateSchema   = "42P06"
	MayNot            = "42501"
	Dependent         = "2BP01" // other objects depend on the one to be dropped
	queryCanceled     = "57014"
	transactionFailed = "25P02"
)

// Error is an error of the server.
type Error = pgconn.PgError

// classes are the classes of errors that clients have to distinguish. Errors of class 08,
// and all after which the server closes the connection, mean that it is gone.
var classes = map[string]engine.Class{
	"40001":       engine.Conflict, // could not serialize
	"40P01":       engine.Deadlock,
	"55P03":       engine.LockTimeout, // lock not available, or waited for longer than lock_timeout
	queryCanceled: engine.Timeout,     // also statement_timeout
	"23505":       engine.Duplicate,
	"57P01":       engine.Gone, // the server shuts down
	"57P02":       engine.Gone, // another of its processes has crashed
	"57P03":       engine.Gone, // it starts, or stops
}

// advice is the advice to users about errors.
var advice = map[string]string{
	"53300": "the server takes fewer connections than the plan has clients: raise max_connections (under options, if " +
		"the server is private), or lower the clients",
	"53200": "lower the cache, or work_mem and maintenance_work_mem under options",
	"28P01": "check the user and the password in the dsn",
	"28000": "check the user in the dsn, and the server's pg_hba.conf",
	"3D000": "the dsn names a database that must exist; rumbench makes its own schema in it",
	"08P01": pooler,
	"26000": pooled, "42P05": pooled,
	"57P05": "the server ends idle sessions: raise idle_session_timeout for the user of the dsn",
	MayNot:  "the user of the dsn needs the right CREATE on the database: GRANT CREATE ON DATABASE … TO …",
	"25006": "the server is a standby, or read-only: attach to the primary",
}

// Poolers have only one code for their own errors. Those about prepared statements come from
// a server's session that another client has used.
const (
	pooler = "the message is a pooler's: see its limits and timeouts, such as max_client_conn, default_pool_size and " +
		"query_wait_timeout, and ignore_startup_parameters (PgBouncer), or name the server itself in the dsn"
	pooled = "a pooler in front of the server must keep sessions for its clients: pool_mode = session (PgBouncer)"
)

// ends reports whether the server closes the connection after the error.
func ends(e *Error) bool {
	severity := e.SeverityUnlocalized
	if severity == "" { // servers before 9.6
		severity = e.Severity
	}
	return severity == "FATAL" || severity == "PANIC"
}

func classify(e *Error) error {
	class, found := classes[e.Code]
	switch {
	case found:
		return engine.Classify(class, e)
	case strings.HasPrefix(e.Code, "08"), ends(e):
		return gone(advise(e, e.Code))
	}
	return engine.Classify(engine.Fatal, advise(e, e.Code))
}

// advise adds the advice about errors of that state to an error.
func advise(err error, state string) error {
	if state == "53100" {
		return engine.DiskFull(err)
	}
	if text := advice[state]; text != "" {
		return hint.With(err, text)
	}
	return err
}

func gone(err error) error { return engine.Classify(engine.Gone, err) }

// connectError gives the error of an attempt to connect its class. The server closes the
// connection after each of its own errors.
func connectError(err error) error {
	refused, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return gone(err)
	case classes[refused.Code] == engine.Gone, strings.HasPrefix(refused.Code, "08"):
		return gone(advise(err, refused.Code))
	}
	return engine.Classify(engine.Fatal, advise(err, refused.Code))
}

func HasState(err error, state string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == state
}
