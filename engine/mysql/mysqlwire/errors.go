package mysqlwire

import (
	"cmp"
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/internal/text/hint"
)

// classes are the classes of the server's errors that clients have to distinguish.
var classes = map[uint16]engine.Class{
	1213: engine.Deadlock,
	1020: engine.Conflict,    // the record has changed since it was read
	1205: engine.LockTimeout, // of a row or of a table's definition
	1969: engine.Timeout,     // max_statement_time
	3024: engine.Timeout,     // max_execution_time
	1317: engine.Timeout,     // interrupted
	1062: engine.Duplicate,   // a key exists
	1586: engine.Duplicate,
	1053: engine.Gone, // the server shuts down
	1927: engine.Gone, // the connection was killed
	2006: engine.Gone,
	2013: engine.Gone,
}

// advice is the advice to users about errors.
var advice = map[uint16]string{
	1040: tooMany,
	1203: tooMany,
	1044: "the user of the dsn needs all rights on the schema: GRANT ALL ON SCHEMA.* TO USER",
	1142: "the user of the dsn needs all rights on the schema: GRANT ALL ON SCHEMA.* TO USER",
	1045: "check the user and the password in the dsn, and the hosts that the user may come from",
	1461: "raise max_prepared_stmt_count on the server, lower the clients or the tables, or set protocol: text",
}

const tooMany = "the server, or a proxy in front of it, takes fewer connections than the plan has clients: raise " +
	"max_connections (max_user_connections), or lower the clients"

// refusal matches the refusal of a schema, in English.
var refusal = regexp.MustCompile("^Access denied for user (\\S+) to database '(.+)'$")

// grant returns the advice to grant the right on a schema that the server refused; "" for other
// errors.
func grant(e *Error) string {
	m := refusal.FindStringSubmatch(e.Message)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("let an administrator give the right: GRANT ALL ON %s.* TO %s", m[2], m[1])
}

// Classify gives an error of a connection its class.
func Classify(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		if strings.Contains(e.Message, "snapshot conflict") { // MyRocks calls it a deadlock too
			return engine.Classify(engine.Conflict, err)
		}
		if class, found := classes[e.Number]; found {
			return engine.Classify(class, err)
		}
		// The server also reports a table that cannot grow as full.
		if e.Number == 1021 || e.Number == 1114 || strings.Contains(e.Message, "No space left on device") ||
			strings.Contains(e.Message, "errno: 28") {
			err = engine.DiskFull(err)
		}
		if text := cmp.Or(grant(e), advice[e.Number]); text != "" {
			err = hint.With(err, text)
		}
		return engine.Classify(engine.Fatal, err)
	}
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, driver.ErrInvalidConn), errors.Is(err, sqldriver.ErrBadConn), errors.Is(err, io.EOF),
		errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED),
		errors.Is(err, os.ErrNotExist), errors.As(err, &network):
		return engine.Classify(engine.Gone, err)
	}
	return err
}
