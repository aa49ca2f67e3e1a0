package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// place is the schema that the tables are in, and what of it is ours to remove.
type place struct {
	schema string
	ours   bool     // we made the schema
	made   []string // the tables that we made
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (p *place) quoted() string { return quote(p.schema) }

// take makes the schema. If it must be new, one that exists is refused.
func (p *place) take(ctx context.Context, c *sqlkit.Conn, schema string, mustBeNew bool) error {
	p.schema = schema
	exists := false
	literal := "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(schema) + "'"
	err := c.Query(ctx, "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = "+literal, func([]sqldriver.Value) error {
		exists = true
		return nil
	})
	switch {
	case err != nil:
		return err
	case exists && mustBeNew:
		return &engine.ExistsError{Schema: schema}
	case exists:
		return nil
	}
	err = c.Exec(ctx, "CREATE DATABASE "+p.quoted()) // fails if somebody has made it meanwhile
	p.ours = err == nil
	return err
}

// clear drops tables that are in the way, as --force allows.
func (p *place) clear(ctx context.Context, c *sqlkit.Conn, tables []string) error {
	for _, t := range tables {
		if err := c.Exec(ctx, "DROP TABLE IF EXISTS "+p.quoted()+"."+quote(t)); err != nil {
			return err
		}
	}
	return nil
}

// leaveTime is how long it may take to remove tables.
const leaveTime = 10 * time.Minute

// leave removes what is ours from a server that is not.
func (p *place) leave(to *connector) error {
	if !p.ours && len(p.made) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	c, err := sqlkit.Connect(ctx, to, newDialect("", true)) // others may be broken, or were closed by the server
	if err != nil {
		return fmt.Errorf("schema %s is left behind: %w", p.schema, err)
	}
	defer c.Close()
	if p.ours {
		return c.Exec(ctx, "DROP DATABASE "+p.quoted())
	}
	for _, t := range p.made {
		err = errors.Join(err, c.Exec(ctx, "DROP TABLE IF EXISTS "+p.quoted()+"."+quote(t)))
	}
	return err
}
