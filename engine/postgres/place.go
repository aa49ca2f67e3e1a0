package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
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

// take makes the schema. If it must be new, one that exists is refused.
func (p *place) take(ctx context.Context, c *sqlkit.Conn, schema string, mustBeNew bool) error {
	p.schema = schema
	exists := &engine.ExistsError{Schema: schema}
	found := false
	err := c.Query(ctx, "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname ="+literal(schema), func(row []sqldriver.Value) error {
		found, exists.Comment = true, sqlkit.Text(row[0])
		return nil
	})
	switch {
	case err != nil:
		return err
	case found && mustBeNew:
		return exists
	case found:
		return nil
	}
	// Should this process be killed, the comment says what it has left behind.
	name, _ := os.Hostname()
	comment := fmt.Sprintf("made by rumbench, process %d on %s, %s", os.Getpid(), name, time.Now().UTC().Format(time.DateTime+" UTC"))
	err = c.Exec(ctx, "CREATE SCHEMA "+quote(schema)+"; COMMENT ON SCHEMA "+quote(schema)+" IS"+literal(comment))
	if hasState(err, duplicateSchema) { // somebody has made it meanwhile
		return exists
	}
	p.ours = err == nil
	return err
}

// What removing tables from a server that is not ours may take, and how long it
// may wait for those who use them.
const (
	leaveTime = 10 * time.Minute
	leaveWait = "1min"
)

// leave removes what is ours from a server that is not.
func (p *place) leave(to *connector) error {
	var texts []string
	switch {
	case p.ours:
		texts = []string{"DROP SCHEMA " + quote(p.schema) + " CASCADE"}
	default:
		for _, t := range p.made {
			texts = append(texts, "DROP TABLE IF EXISTS "+quote(p.schema)+"."+quote(t))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(background, leaveTime)
	defer cancel()
	err := func() error {
		c, err := sqlkit.Connect(ctx, to, newDialect())
		if err != nil {
			return err
		}
		defer c.Close()
		err = c.Exec(ctx, "SET lock_timeout = '"+leaveWait+"'")
		for _, text := range texts {
			err = errors.Join(err, c.Exec(ctx, text))
		}
		return err
	}()
	if err != nil {
		return fmt.Errorf("what was made in schema %s of the attached server is left there: %w", p.schema, err)
	}
	return nil
}
