package mysqlwire

import (
	"context"
	"encoding/binary"
	"fmt"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// stmt is a statement that the server has parsed.
type stmt struct {
	conn    *Conn
	id      uint32
	params  []byte // the type that was last sent for each; unsent: none yet
	columns []column
}

// unsent is not a type of the protocol.
const unsent = 0xff

// Prepare has the server parse a statement once for the life of the connection.
func (c *Conn) Prepare(ctx context.Context, text string) (sqlkit.Stmt, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	s, err := c.prepare(text)
	if err := c.end(ctx, err); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Conn) prepare(text string) (*stmt, error) {
	c.command(comStmtPrepare)
	c.out = append(c.out, text...)
	c.send()
	b, err := c.read()
	switch {
	case err != nil:
		return nil, err
	case b[0] == isError:
		return nil, c.refusal(b)
	case len(b) < 9:
		return nil, c.broken(errMalformed)
	}
	s := &stmt{conn: c, id: binary.LittleEndian.Uint32(b[1:])}
	columns, params := int(binary.LittleEndian.Uint16(b[5:])), int(binary.LittleEndian.Uint16(b[7:]))
	for range params {
		s.params = append(s.params, unsent)
	}
	if params > 0 {
		if _, err = c.describe(params, nil); err != nil {
			return nil, err
		}
	}
	if columns > 0 {
		if s.columns, err = c.describe(columns, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close does nothing: statements end with their connection.
func (s *stmt) Close() error { return nil }

// Exec executes the statement; rows that it returns are dropped.
func (s *stmt) Exec(ctx context.Context, args []model.Value) (rows, id int64, err error) {
	err = s.Query(ctx, args, nil, nil)
	return s.conn.done.affected, s.conn.done.id, err
}

func (s *stmt) Query(ctx context.Context, args []model.Value, types []model.Type,
	each func(row []model.Value) error) error {
	c := s.conn
	if err := c.begin(ctx); err != nil {
		return err
	}
	err := s.encode(args)
	if err == nil {
		err = c.run(s, types, each)
	}
	return c.end(ctx, err)
}

// encode writes the command that executes the statement. Types are only sent when they
// differ from those of the previous execution. See
// https://mariadb.com/kb/en/com_stmt_execute/.
func (s *stmt) encode(args []model.Value) error {
	n := len(args)
	if n != len(s.params) {
		return fmt.Errorf("%d arguments for %d placeholders", n, len(s.params))
	}
	c := s.conn
	c.command(comStmtExecute)
	c.out = binary.LittleEndian.AppendUint32(c.out, s.id)
	c.out = append(c.out, 0, 1, 0, 0, 0) // no cursor; once
	if n == 0 {
		return nil
	}
	nulls := len(c.out)
	for range (n + 7) / 8 {
		c.out = append(c.out, 0)
	}
	anew := byte(0)
	for i := range args {
		v := &args[i]
		if v.IsNull() {
			c.out[nulls+i/8] |= 1 << (i % 8)
			continue
		}
		if kind := c.kindOf(v); kind != s.params[i] {
			s.params[i], anew = kind, 1
		}
	}
	c.out = append(c.out, anew)
	if anew != 0 {
		for _, kind := range s.params {
			if kind == unsent {
				kind = kindNull
			}
			c.out = append(c.out, kind, 0) // signed
		}
	}
	for i := range args {
		var err error
		if c.out, err = appendArgument(c.out, &args[i], c.micros); err != nil {
			for i := range s.params {
				s.params[i] = unsent // they were not sent
			}
			return err
		}
	}
	return nil
}
