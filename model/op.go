package model

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind is the kind of an operation.
type Kind uint8

// The operation kinds. The arguments of an execution are a flat list of values
// whose layout depends on the kind; see Op.Args.
const (
	// Insert inserts Rows rows with the Columns given.
	Insert Kind = iota + 1
	// Get returns the rows of Keys keys, in any order. A key that does not exist
	// returns no row; a repeated key returns its rows once or twice. By Index, a
	// key is its Equal leading columns.
	Get
	// Scan returns entries of an index, or of the table by primary key, in order.
	Scan
	// Update sets, or adds to, columns of Keys rows by primary key, or of the rows
	// that Index finds by equality. A repeated key counts once.
	Update
	// Delete deletes Keys rows by primary key.
	Delete
	// DeleteLowest deletes the Rows rows with the lowest primary keys at or above
	// a cursor.
	DeleteLowest
	Begin    // starts a transaction at Isolation
	Commit   // ends the session's transaction, keeping its work
	Rollback // ends the session's transaction, undoing its work
	// Own is custom SQL, complete as written; see Op.SQL.
	Own
)

// String returns the name of the kind, for messages.
func (k Kind) String() string {
	return name("kind", []string{"", "insert", "get", "scan", "update", "delete", "delete lowest", "begin", "commit",
		"rollback", "own SQL"}, uint8(k))
}

// Conflict determines how an insert treats an existing row with the key.
type Conflict uint8

// The conflict rules.
const (
	Fail    Conflict = iota // the statement fails with class Duplicate and changes nothing
	Ignore                  // keeps the old row
	Replace                 // replaces the old row
	Add                     // adds the new row's AddColumns to the old row's and keeps the rest
)

// Bound is how a scan is bounded on one side.
type Bound uint8

// The bounds of a scan.
const (
	Open      Bound = iota // no bound
	Inclusive              // at the given value or beyond
	Exclusive              // beyond the given value
)

// Aggregate reduces the rows of a scan on the engine's side.
type Aggregate uint8

// The aggregates of a scan.
const (
	NoAggregate Aggregate = iota
	Count                 // Result.Value is the number of rows; with one of Columns, of those that are not NULL in it
	Sum                   // Result.Value is the sum of the first of Columns
)

// Isolation is a transaction's isolation level.
type Isolation uint8

// The isolation levels. DefaultIsolation is the engine's default, which its
// settings show.
const (
	DefaultIsolation Isolation = iota
	ReadUncommitted
	ReadCommitted
	RepeatableRead
	Serializable
)

// Isolations lists the levels, weakest first.
func Isolations() []Isolation {
	return []Isolation{ReadUncommitted, ReadCommitted, RepeatableRead, Serializable}
}

// String returns the level's name as plans and results write it, "" for
// DefaultIsolation.
func (i Isolation) String() string {
	return name("isolation", []string{"", "read-uncommitted", "read-committed", "repeatable-read", "serializable"},
		uint8(i))
}

// Assign changes one column in an update.
type Assign struct {
	Column string
	Add    bool // add the argument to the column instead of replacing it
}

// Op is the shape of an operation. An engine prepares it once per session and
// executes it many times with different arguments. It has many fields because
// one type is the shape of all kinds; most are zero in any one of them.
type Op struct {
	Kind  Kind
	Table string

	// Columns are, for an insert, the columns given (an Auto column may be left
	// out; other omitted columns are NULL); for Get and Scan, the columns returned.
	Columns []string

	Rows       int      // Insert: rows in one execution; DeleteLowest: rows at most
	OnConflict Conflict // Insert
	AddColumns []string // Insert with OnConflict Add
	// ReturnNumber asks for the number of an insert's last row in a table with
	// an Auto column. Engines that return it at extra cost do so only then.
	ReturnNumber bool
	// Load marks an insert of the first load of a table that no other session
	// reads until the load has ended. An engine may then use a bulk load, if its
	// options ask for it; see engine.Loader.
	Load bool

	Keys int // Get, Delete, Update by primary key: keys in one execution; 0 means 1

	// Index is a secondary index by name; "" is the primary key.
	Index string
	// Equal is the number of leading index columns compared by equality. The
	// bounds apply to the column after them.
	Equal        int
	Lower, Upper Bound
	// Ranges is the number of pairs of bounds of a scan, both Inclusive and on
	// the first column; an entry in several of them is returned once. 0 means 1.
	// Only with Free.
	Ranges int
	// Free allows any order of rows and any access path, unless OrderBy is set: a
	// SQL database gets the plain statement, without hint and without ORDER BY.
	// Not with Limit.
	Free bool
	// Where are further conditions on the rows of a scan. No index helps with them:
	// all rows within the bounds are read. They apply before all fields below.
	Where []Condition
	Desc  bool // scan from the upper bound down
	Limit int  // 0 means no limit
	// LimitGiven makes the limit an argument, 1…Limit. Only for a scan that
	// returns rows as they are.
	LimitGiven bool
	Aggregate  Aggregate
	Distinct   bool   // each distinct row once
	OrderBy    string // sort by this column of Columns instead of index order

	Set []Assign // Update

	// Blind promises that an engine need not look at the rows first: the rows of an
	// Update or Delete by primary key exist; no other kind of operation deletes the
	// rows of a DeleteLowest. Rows is then the number of distinct keys given, or of
	// rows found. It is set only if this is provably true, whatever other clients do.
	Blind bool

	// Lock protects the rows that a Get by primary key returns within a
	// transaction: if the transaction then changes one, no other transaction has
	// changed it in between. The engine locks them, or one of two transactions
	// fails with a class that Yields. Outside a transaction it means nothing.
	Lock bool

	Isolation Isolation // Begin

	// Example are arguments that it may be executed with, for its plan; nil: those of existing rows.
	Example []Value

	// SQL is the text of an Own statement in pieces, with an argument between each two.
	// Returns are the types of the columns that it returns; without any, it writes.
	SQL     []string
	Returns []Type
}

// Label describes the operation, for messages.
func (o *Op) Label() string {
	s := o.Kind.String()
	if o.Table != "" {
		s += " " + o.Table
	}
	if o.Index != "" {
		s += " by " + o.Index
	}
	return s
}

// KeyCount returns the number of keys in one execution of a Get, Delete or Update by key.
func (o *Op) KeyCount() int { return max(o.Keys, 1) }

// RangeCount returns the number of pairs of bounds of a scan.
func (o *Op) RangeCount() int { return max(o.Ranges, 1) }

// Args returns the number of argument values of one execution:
//
//	Insert        Rows × Columns, row by row
//	Get, Delete   KeyCount × key columns (Get by Index: KeyCount × Equal)
//	Scan          Equal values, then Ranges times: the lower bound if any, the upper bound if
//	              any; then one per Where; then the limit, if LimitGiven
//	Update        one value per Set, then KeyCount × key columns (or, by Index, the Equal values)
//	DeleteLowest  one value: the cursor
//	Own           one value between each two pieces of SQL
func (o *Op) Args(t *Table) int {
	if o.Kind == Own {
		return max(len(o.SQL)-1, 0)
	}
	key := len(t.Key)
	if o.Index != "" {
		key = o.Equal
	}
	switch o.Kind {
	case Insert:
		return o.Rows * len(o.Columns)
	case Get, Delete:
		return o.KeyCount() * key
	case Scan:
		n := 0
		for _, b := range []Bound{o.Lower, o.Upper} {
			if b != Open {
				n++
			}
		}
		if o.LimitGiven {
			return o.Equal + n*o.RangeCount() + len(o.Where) + 1
		}
		return o.Equal + n*o.RangeCount() + len(o.Where)
	case Update:
		return len(o.Set) + o.KeyCount()*key
	case DeleteLowest:
		return 1
	}
	return 0
}

// Validate checks the shape against its table, so that engines need not.
func (o *Op) Validate(t *Table) error {
	err := cmp.Or(
		o.validate(t),
		refuse(o.Kind != Scan && len(o.Where) > 0, "only a scan takes conditions"),
		refuse(o.Lock && (o.Kind != Get || o.Index != ""), "only a get by primary key locks rows"))
	if err != nil {
		return fmt.Errorf("operation %s: %w", o.Label(), err)
	}
	return nil
}

// refuse returns an error on a condition, else nil.
func refuse(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func (o *Op) validate(t *Table) error {
	switch o.Kind {
	case Begin, Commit, Rollback, Delete, Own:
		return nil
	case Insert:
		return o.validateInsert(t)
	case Get:
		_, err := t.Positions(o.Columns)
		return cmp.Or(o.validateEqual(t), err)
	case DeleteLowest:
		return cmp.Or(o.validateRows(), refuse(len(t.Key) != 1, "the primary key must be one column"))
	case Update:
		return o.validateUpdate(t)
	case Scan:
		return o.validateScan(t)
	}
	return fmt.Errorf("unknown kind")
}

func (o *Op) validateRows() error {
	return refuse(o.Rows < 1, "rows must be at least 1, not %d", o.Rows)
}

func (o *Op) validateInsert(t *Table) error {
	if _, err := t.Positions(slices.Concat(o.Columns, o.AddColumns)); err != nil {
		return err
	}
	for _, k := range t.Key {
		if !slices.Contains(o.Columns, k) && !t.Columns[t.Column(k)].Auto {
			return fmt.Errorf("key column %s is not given", k)
		}
	}
	for _, c := range o.AddColumns {
		if err := addable(t, c); err != nil {
			return err
		}
	}
	return cmp.Or(
		o.validateRows(),
		refuse(o.ReturnNumber && t.AutoColumn() < 0, "the table has no auto column"),
		refuse((o.OnConflict == Add) != (len(o.AddColumns) > 0), "AddColumns are for conflict rule Add, and it needs them"))
}

func addable(t *Table, column string) error {
	c := t.Columns[t.Column(column)]
	return cmp.Or(
		refuse(c.Type != Int && c.Type != Float, "cannot add to column %s of type %s", c.Name, c.Type),
		refuse(slices.Contains(t.Key, column), "cannot add to key column %s", column))
}

func (o *Op) validateUpdate(t *Table) error {
	for _, a := range o.Set {
		switch {
		case t.Column(a.Column) < 0:
			return fmt.Errorf("table %s has no column %q", t.Name, a.Column)
		case slices.Contains(t.Key, a.Column):
			return fmt.Errorf("key column %s cannot be updated", a.Column)
		case a.Add:
			if err := addable(t, a.Column); err != nil {
				return err
			}
		}
	}
	return cmp.Or(
		refuse(len(o.Set) == 0, "no columns to set"),
		refuse(o.Blind && o.Index != "", "an update by index cannot be blind"),
		refuse(o.Index != "" && o.Keys > 1, "an update by index takes one key, not %d", o.Keys),
		o.validateEqual(t))
}

// validateEqual checks the equality columns of an operation by secondary index.
func (o *Op) validateEqual(t *Table) error {
	if o.Index == "" {
		return nil
	}
	ix, err := t.Index(o.Index)
	if err != nil {
		return err
	}
	return refuse(o.Equal < 1 || o.Equal > len(ix.Columns), "%s by index needs 1 to %d equality columns, not %d", o.Kind,
		len(ix.Columns), o.Equal)
}

func (o *Op) validateScan(t *Table) error {
	order := t.Key
	if o.Index != "" {
		ix, err := t.Index(o.Index)
		if err != nil {
			return err
		}
		order = ix.Columns
	}
	if _, err := t.Positions(o.Columns); err != nil {
		return err
	}
	bounded := o.Lower != Open || o.Upper != Open
	unfit := o.Equal < 0 || o.Equal > len(order) || bounded && o.Equal == len(order)
	for _, c := range o.Where {
		if err := c.validate(t); err != nil {
			return err
		}
	}
	return cmp.Or(
		refuse(unfit, "%d equality columns and bounds do not fit an index of %d columns", o.Equal, len(order)),
		refuse(o.Aggregate == Sum && len(o.Columns) != 1, "a sum needs exactly one column"),
		refuse(o.OrderBy != "" && !slices.Contains(o.Columns, o.OrderBy), "order by %s: not one of the columns returned",
			o.OrderBy),
		refuse(o.Aggregate == Count && len(o.Columns) > 1 && !o.Distinct, "a count takes one column at most"),
		refuse(o.Free && (o.Limit > 0 || o.Desc), "a free scan has neither direction nor limit"),
		refuse(o.LimitGiven && (o.Limit == 0 || o.Aggregate != NoAggregate || o.Distinct || o.OrderBy != "" ||
			len(o.Where) > 0), "a limit that is given needs a greatest one, and a scan of plain rows"),
		refuse(o.Ranges > 1 && (!o.Free || o.Equal > 0 || o.Lower != Inclusive || o.Upper != Inclusive),
			"several ranges need Free, no equality columns and inclusive bounds"))
}
