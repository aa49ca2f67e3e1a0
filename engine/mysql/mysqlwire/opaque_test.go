package mysqlwire

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit/stdsql"
	"rumbench/engine/wire"
	"rumbench/internal/expect"
)

// hanging is a driver's connection to a server that has stopped to answer.
type hanging struct {
	sqldriver.QueryerContext
	sqldriver.ConnPrepareContext
	socket net.Conn
}

func (h *hanging) Begin() (sqldriver.Tx, error)           { panic("unused") }
func (h *hanging) Prepare(string) (sqldriver.Stmt, error) { panic("unused") }
func (h *hanging) Close() error                           { return nil }
func (h *hanging) IsValid() bool                          { return true }

func (h *hanging) ExecContext(ctx context.Context, _ string, _ []sqldriver.NamedValue) (sqldriver.Result, error) {
	if ctx.Done() != nil {
		panic("a commit is followed by the driver")
	}
	_, err := h.socket.Read(make([]byte, 1))
	return nil, errors.Join(err, sqldriver.ErrBadConn)
}

// A commit on an encrypted connection, which only the driver can read, ends some time after its
// context, as on others.
func TestOpaqueCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		own, err := stdsql.New(&hanging{socket: ours}, true)
		expect.NoError(t, err)
		c := newOpaque(own, &dialled{Conn: ours})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, _, err = c.ExecText(&wire.Lasting{Until: ctx}, "COMMIT")
		expect.True(t, engine.ClassOf(err) == engine.Gone && time.Since(start) == time.Minute+wire.LastTime,
			"after", time.Since(start), err)
		expect.NoError(t, c.Close())
	})
}
