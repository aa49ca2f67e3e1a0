package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// newDialect returns SQLite's SQL for a database in a directory that errors name. The size of its pages
// is known when it is open.
func newDialect(dir string, page *int64) *sqlkit.Dialect {
	return &sqlkit.Dialect{
		Speaks:       "sqlite",
		Quote:        `"`,
		MaxArgs:      32766, // SQLITE_MAX_VARIABLE_NUMBER
		ColumnType:   columnType,
		TableOptions: func(t *model.Table) string { return tableOptions(t, *page) },
		Hint: func(d *sqlkit.Dialect, t *model.Table, index string) string {
			return hint(d, t, *page, index)
		},
		ByteLength: func(d *sqlkit.Dialect, c *model.Column) string {
			return "OCTET_LENGTH(" + d.Name(c.Name) + ")" // LENGTH counts characters
		},
		Number:       sqlkit.LastNumber,
		RowsAsValues: true,
		Clear:        "DELETE FROM", // which removes pages without looking at rows
		Begin:        begin,
		Literal:      appendLiteral,
		Detached:     true, // the driver starts a goroutine to watch the context
		Classify:     func(err error) error { return classify(err, dir) },
	}
}

func columnType(c *model.Column) string {
	switch c.Type {
	case model.Float:
		return "REAL"
	case model.String:
		return "TEXT"
	case model.Bytes, model.UUID:
		return "BLOB"
	}
	return "INTEGER" // numbers; times as microseconds
}

// tableOptions makes the primary key the order of the table. A single integer key already
// is, as an alias of the rowid; others would get an index in addition to a table in the
// order of a hidden number.
func tableOptions(t *model.Table, page int64) string {
	if numbered(t) || apart(t, page) {
		return ""
	}
	return " WITHOUT ROWID"
}

// numbered reports whether the primary key of a table is its rowid.
func numbered(t *model.Table) bool {
	key := t.Columns[t.Column(t.Key[0])]
	return len(t.Key) == 1 && (key.Type == model.Int || key.Type == model.Time)
}

// apart reports whether a table has an index on its primary key, as its rows may be longer than a
// B-tree without rowids holds in a page, about a quarter of it: each would overflow into a page of its
// own (https://www.sqlite.org/fileformat2.html#b_tree_pages; https://www.sqlite.org/withoutrowid.html
// advises against such rows).
func apart(t *model.Table, page int64) bool {
	longest := (page-12)*64/255 - 23
	width := int64(1 + len(t.Columns)) // the row's header
	for _, c := range t.Columns {
		width += int64(max(c.Width, 8))
	}
	return !numbered(t) && width > longest
}

// keyIndex is SQLite's name of the index on the primary key of a table.
func keyIndex(t *model.Table) string { return "sqlite_autoindex_" + t.Name + "_1" }

// hint forces an index. NOT INDEXED leaves only the primary key that is the order of the table.
func hint(d *sqlkit.Dialect, t *model.Table, page int64, index string) string {
	switch {
	case index != "":
		return " INDEXED BY " + d.Name(sqlkit.IndexName(t.Name, index))
	case apart(t, page):
		return " INDEXED BY " + d.Name(keyIndex(t))
	}
	return " NOT INDEXED"
}

// begin starts a transaction. SQLite's are serializable, whatever level is requested. One
// that may write takes the write lock at once: two that read first and then want to write
// would make each other fail.
func begin(_ model.Isolation, writes bool) []string {
	if writes {
		return []string{"BEGIN IMMEDIATE"}
	}
	return []string{"BEGIN"}
}

func classify(err error, dir string) error {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return err // from the context, or from the driver itself
	}
	switch code := e.Code(); code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		if code == lib.SQLITE_BUSY_SNAPSHOT { // the data that the transaction has read has changed
			return engine.Classify(engine.Conflict, err)
		}
		return engine.Classify(engine.LockTimeout, err)
	case lib.SQLITE_CONSTRAINT:
		if slices.Contains([]int{lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_UNIQUE,
			lib.SQLITE_CONSTRAINT_ROWID}, code) {
			return engine.Classify(engine.Duplicate, err)
		}
	case lib.SQLITE_FULL:
		err = engine.DiskFull(err)
	case lib.SQLITE_IOERR:
		// Failures of the log's shared memory and of syncs do not report their cause.
		if diskFull(dir) {
			err = engine.DiskFull(err)
		}
	case lib.SQLITE_ERROR:
		// Some errors, for example a full disk, have already rolled the transaction back.
		if strings.Contains(e.Error(), "cannot rollback - no transaction is active") {
			return nil
		}
	}
	return engine.Classify(engine.Fatal, err)
}

func diskFull(dir string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(dir, &s) == nil && s.Bavail*uint64(s.Bsize) < 1<<20
}

func (db *db) Explain(ctx context.Context, op *model.Op) (engine.Plan, error) {
	return db.DB.Explain(ctx, op, func(e *sqlkit.Explainable, p *engine.Plan) error {
		lines, err := db.Admin().Lines(ctx, "EXPLAIN QUERY PLAN "+e.Filled)
		if err != nil {
			return err
		}
		p.Text = strings.Join(lines, "\n")
		for _, detail := range lines {
			if a := accessOf(e.Table, db.page, detail); a != nil {
				p.Access = append(p.Access, *a)
			}
		}
		pages, err := db.Admin().Number(ctx, "PRAGMA page_count") // of all tables together, an upper bound for each
		p.TableBytes = int64(pages) * db.page
		return err
	})
}

// A line of a plan: SEARCH or SCAN, the table, and the access path.
var planLine = regexp.MustCompile(`^(SEARCH|SCAN) (\S+)(?: USING (?:(?:AUTOMATIC )?(?:PARTIAL )?(COVERING )?INDEX (.+?)|(INTEGER )?PRIMARY KEY))?(?: \(.*\))?$`)

// accessOf reads a line of a plan; nil if it is not about the table. A table in the order of its
// primary key has no other scan than a walk of that index.
func accessOf(t *model.Table, page int64, detail string) *engine.Access {
	m := planLine.FindStringSubmatch(detail)
	if m == nil || m[2] != t.Name {
		return nil
	}
	a := &engine.Access{Index: engine.PrimaryKey, How: engine.Walk, As: m[1]}
	if m[1] == "SEARCH" {
		a.How = engine.Seek
	}
	switch {
	case m[4] == keyIndex(t):
		a.As += " " + m[3] + "INDEX"
	case m[4] == "" && m[1] == "SCAN" && apart(t, page):
		a.Index, a.How = "", engine.WholeTable
	case m[4] != "":
		a.Index = sqlkit.SchemaIndex(t, m[4], "")
		a.As += " " + m[3] + "INDEX"
	}
	return a
}

// appendLiteral appends a time, text or bytes as SQLite reads them.
func appendLiteral(dst []byte, v model.Value) []byte {
	switch v.Type() {
	case model.Time:
		return strconv.AppendInt(dst, v.Int(), 10)
	case model.Bytes, model.UUID:
		return append(hex.AppendEncode(append(dst, "x'"...), v.Buf()), '\'')
	}
	return sqlkit.AppendQuoted(dst, v.Buf(), false)
}
