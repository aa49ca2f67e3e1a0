// Package sqlkit makes an engine of a SQL database: it turns tables, indexes
// and operations into statements through a Dialect and prepares them on one
// connection per session.
//
// It knows no database and no driver. A Dialect holds the differences of one
// database from others; settings, sizes, counters and rest are the engine's
// own. Connections implement an interface of sqlkit; package stdsql implements
// it on a driver for database/sql.
package sqlkit

import (
	"strings"

	"rumbench/model"
)

// Dialect holds the differences of one database's SQL from others'. It has many
// fields because each is one such difference; most are left alone.
type Dialect struct {
	// Speaks is the name under which users write custom SQL for it.
	Speaks string
	// Quote surrounds identifiers; inside it is doubled.
	Quote string
	// Schema is named with every table; "": the database has only one.
	Schema string
	// Numbered is the prefix of placeholders that carry the argument's number,
	// such as "$" for $1; "" means a plain ? for each.
	Numbered string
	// LongestName is the greatest length of names of tables, columns and indexes, as
	// NameLength measures it; 0 means any length.
	LongestName int
	NameLength  func(name string) int
	// MaxArgs is how many placeholders a statement may have; 0 means any number.
	MaxArgs int

	// ColumnType is the type of a column, with the clause that makes the engine
	// number it if it is Auto. NOT NULL and the primary key are added to it.
	// Text must compare byte by byte.
	ColumnType func(c *model.Column) string
	// TableOptions ends a CREATE TABLE, beginning with a space; may be nil.
	TableOptions func(t *model.Table) string
	// AfterTable are the statements that follow CREATE TABLE; may be nil.
	AfterTable func(d *Dialect, t *model.Table) []string
	// CommitEnds: a transaction is over even if its commit fails.
	CommitEnds bool
	// Batch: several definitions in one text are made all or none.
	Batch bool
	// NullsLast: NULL sorts after all values unless the statement specifies otherwise.
	NullsLast bool

	// AlterIndexes: ALTER TABLE makes and drops indexes, several at once.
	AlterIndexes bool
	// IncludeClause: an index can hold columns that are not part of its order.
	// Otherwise they follow the primary key's columns.
	IncludeClause bool
	// Parallel: indexes of several tables can be built at the same time, each
	// table's on a separate connection.
	Parallel bool
	// Hint follows the table's name to make a statement use an index, beginning
	// with a space; "" is the primary key. nil: there are no hints.
	Hint func(d *Dialect, t *model.Table, index string) string

	// ByteLength is an expression for the bytes that a value of a column holds;
	// nil: LENGTH.
	ByteLength func(d *Dialect, c *model.Column) string

	// OnDuplicateKey: conflicts are answered by INSERT IGNORE and ON DUPLICATE
	// KEY UPDATE, otherwise by ON CONFLICT.
	OnDuplicateKey bool
	// Number is the way to learn the number that the engine gave to a row.
	Number Number
	// DeleteLimit: DELETE knows ORDER BY and LIMIT.
	DeleteLimit bool
	// RowsAsValues: a list of composite keys is written IN (VALUES (…), (…)).
	RowsAsValues bool

	// Clear is the statement that removes all rows of a table; "" is TRUNCATE TABLE.
	Clear string
	// Lock ends a SELECT whose rows are locked, beginning with a space; "" if a
	// transaction that writes does not need it.
	Lock string
	// Begin starts a transaction. writes reports whether the session has prepared
	// an operation that writes.
	Begin func(level model.Isolation, writes bool) []string
	// PlainCommands: statements that begin and end transactions cannot be prepared.
	PlainCommands bool

	// Literal appends a time, text or bytes as SQL writes them.
	Literal func(dst []byte, v model.Value) []byte
	// AsText: operations are sent as text, with their values in it; otherwise
	// they are prepared.
	AsText bool

	// Detached: a context that can be cancelled costs the driver something in
	// every execution, such as starting a goroutine. Operations that soon end
	// by themselves are then run without one.
	Detached bool
	// Classify gives a connection's error its class; nil: it is no error.
	Classify func(error) error
}

// Number is the way to learn the number that an engine gave to an inserted row.
type Number uint8

// The ways to learn a number.
const (
	NoNumber       Number = iota // it is not known
	LastNumber                   // the last insert id is the last row's
	FirstNumber                  // the last insert id is the first row's; others follow without gaps
	ReturnedNumber               // by a RETURNING clause
)

// IndexName returns the name of a secondary index in the database. It holds the
// table's, because index names are often unique per schema and not per table.
func IndexName(table, index string) string { return table + "." + index }

// Name returns an identifier, quoted.
func (d *Dialect) Name(s string) string {
	return d.Quote + strings.ReplaceAll(s, d.Quote, d.Quote+d.Quote) + d.Quote
}

// Table returns the name of a table, or of an index, with its schema.
func (d *Dialect) Table(name string) string {
	if d.Schema == "" {
		return d.Name(name)
	}
	return d.Name(d.Schema) + "." + d.Name(name)
}

func (d *Dialect) byteLength(c *model.Column) string {
	if d.ByteLength == nil {
		return "LENGTH(" + d.Name(c.Name) + ")"
	}
	return d.ByteLength(d, c)
}

func (d *Dialect) hint(t *model.Table, index string) string {
	if d.Hint == nil {
		return ""
	}
	return d.Hint(d, t, index)
}
