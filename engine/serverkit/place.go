package serverkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// Schemas are a server's statements about schemas. In them {name} represents a
// schema's name, {text} the name as a literal, and {comment} a remark as a literal.
type Schemas struct {
	Find string // a query for a schema's comment; no row: there is no such schema
	// Tables is a query for the tables, views and the like of a schema, with their comments.
	Tables string
	Create string
	Drop   string
	// Used reports whether an error of Drop is that others have objects in the schema; nil: Drop
	// would remove these, so Tables lists them too.
	Used func(error) bool
	// Hurry limits how long removing tables waits for those who use them; "": it
	// is limited already.
	Hurry string
	// Exists reports whether an error of Create is that the schema exists.
	Exists func(error) bool
}

// place is the schema that the tables are in, and the part of it that is ours to remove.
type place struct {
	Schemas
	schema string
	ours   bool     // rumbench has made the schema
	made   []string // the tables that we made, or began to make
}

func (p *place) text(d *sqlkit.Dialect, template, comment string) string {
	return strings.NewReplacer("{name}", d.Name(p.schema), "{text}", d.Quoted(p.schema), "{comment}",
		d.Quoted(comment)).Replace(template)
}

// take makes the schema. If it must be new, one that exists is refused.
func (p *place) take(ctx context.Context, c *sqlkit.Admin, d *sqlkit.Dialect, mustBeNew bool) error {
	found, comment, err := p.find(ctx, c, d)
	exists := &engine.ExistsError{Schema: p.schema, Comment: comment}
	switch {
	case err != nil:
		return err
	case found && mustBeNew:
		_, foreign, err := p.tables(ctx, c, d)
		if exists.Ours = len(foreign) == 0; err != nil {
			return err
		}
		return exists
	case found:
		p.ours = strings.HasPrefix(exists.Comment, engine.Mark) // an earlier run has left it
		return nil
	}
	err = c.Exec(ctx, p.text(d, p.Create, Maker()))
	if err != nil && p.Exists(err) { // it was made concurrently
		return exists
	}
	p.ours = err == nil
	return err
}

// find reports whether the schema exists, and its comment.
func (p *place) find(ctx context.Context, c *sqlkit.Admin, d *sqlkit.Dialect) (found bool, comment string, err error) {
	err = c.Query(ctx, p.text(d, p.Find, ""), func(row []string) error {
		found, comment = true, row[0]
		return nil
	})
	return found, comment, err
}

// join finds the schema that another process has made.
func (p *place) join(ctx context.Context, c *sqlkit.Admin, d *sqlkit.Dialect) error {
	found, _, err := p.find(ctx, c, d)
	if err == nil && !found {
		err = fmt.Errorf("the server has no schema %s to join", p.schema)
	}
	return err
}

// tables returns the tables of the schema: the makers of those that rumbench has made, and others.
func (p *place) tables(ctx context.Context, c *sqlkit.Admin, d *sqlkit.Dialect) (makers map[string]string,
	foreign []string, err error) {
	makers = map[string]string{}
	err = c.Query(ctx, p.text(d, p.Tables, ""), func(row []string) error {
		name := row[0]
		maker, table, named := strings.Cut(row[1], ofTable)
		if strings.HasPrefix(maker, engine.Mark) && (!named || strings.EqualFold(table, name)) {
			makers[name] = maker
		} else {
			foreign = append(foreign, name)
		}
		return nil
	})
	return makers, foreign, err
}

// Maker returns a remark that names this process as the maker of a schema or a table, for its
// comment: it identifies what a killed process has left behind, and what a concurrent one has made.
var Maker = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return fmt.Sprintf("%s, process %d on %s, %s", engine.Mark, os.Getpid(), name,
		time.Now().UTC().Format(time.DateTime+" UTC"))
})

// MakerOf is Maker for a table whose remark would be copied with its definition: a table of the user's that was made
// LIKE ours has the name of another table in it.
func MakerOf(table string) string { return Maker() + ofTable + table }

const ofTable = ", table "

// LeaveTime is how long it may take to remove tables.
const LeaveTime = 10 * time.Minute

// leave removes our tables and schema from an attached server, on a new
// connection: others may be broken, or were closed by the server.
func (p *place) leave(connect sqlkit.Connector, d *sqlkit.Dialect) error {
	if !p.ours && len(p.made) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), LeaveTime)
	defer cancel()
	c, err := meet(ctx, connect, d)
	if err == nil {
		err = errors.Join(p.remove(ctx, c, d), c.Close())
	}
	if err != nil {
		return fmt.Errorf("could not remove rumbench's objects from schema %s of the attached server: %w", p.schema, err)
	}
	return nil
}

// remove removes the tables that we made, and then our schema unless others use it. A concurrent
// run may have replaced our tables (--force): its tables stay.
func (p *place) remove(ctx context.Context, c *sqlkit.Admin, d *sqlkit.Dialect) error {
	makers, foreign, err := p.tables(ctx, c, d)
	if err == nil && p.Hurry != "" {
		err = c.Exec(ctx, p.Hurry)
	}
	if err != nil {
		return err
	}
	left := len(foreign)
	for t, maker := range makers {
		if maker == Maker() && slices.ContainsFunc(p.made, func(made string) bool { return strings.EqualFold(made, t) }) {
			err = errors.Join(err, c.Exec(ctx, "DROP TABLE IF EXISTS "+d.Name(p.schema)+"."+d.Name(t)))
		} else {
			left++
		}
	}
	if err != nil || !p.ours || left > 0 {
		return err
	}
	if err = c.Exec(ctx, p.text(d, p.Drop, "")); p.Used != nil && p.Used(err) {
		return nil
	}
	return err
}
