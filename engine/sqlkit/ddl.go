package sqlkit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/model"
)

// CheckSchema reports whether the dialect can express the schema.
func (d *Dialect) CheckSchema(s model.Schema) error {
	for i := range s.Tables {
		t := &s.Tables[i]
		names := append([]string{t.Name}, t.ColumnNames()...)
		for _, ix := range t.Indexes {
			if ix.Unique && len(ix.Include) > 0 && !d.IncludeClause {
				return fmt.Errorf("table %s: index %s: a unique index cannot hold further columns", t.Name, ix.Name)
			}
			names = append(names, IndexName(t.Name, ix.Name))
		}
		for _, name := range names {
			if d.LongestName > 0 && d.NameLength(name) > d.LongestName {
				return fmt.Errorf("table %s: the name %s is longer than %d", t.Name, name, d.LongestName)
			}
		}
	}
	return nil
}

// CreateTable returns the statement that creates a table without secondary indexes.
func (d *Dialect) CreateTable(t *model.Table) string {
	b := builder{d: d}
	b.text("CREATE TABLE ").text(b.d.Table(t.Name)).text(" (")
	for i := range t.Columns {
		c := &t.Columns[i]
		b.name(c.Name).text(" ", d.ColumnType(c))
		if !nullable(t, c.Name) {
			b.text(" NOT NULL")
		}
		b.text(", ")
	}
	b.text("PRIMARY KEY ").tuple(t.Key).text(")")
	if d.TableOptions != nil {
		b.text(d.TableOptions(t))
	}
	return b.String()
}

// DropTable returns the statement that removes a table; one that may be missing is
// no error.
func (d *Dialect) DropTable(t *model.Table, mayBeMissing bool) string {
	if mayBeMissing {
		return "DROP TABLE IF EXISTS " + d.Table(t.Name)
	}
	return "DROP TABLE " + d.Table(t.Name)
}

// CreateIndexes returns the statements that build secondary indexes of a table,
// one for all if the database can.
func (d *Dialect) CreateIndexes(t *model.Table, indexes []*model.Index) []string {
	var out []string
	for _, ix := range indexes {
		b := builder{d: d}
		if d.AlterIndexes {
			b.text("ADD ", kindOf(ix)).name(IndexName(t.Name, ix.Name))
		} else {
			b.text("CREATE ", kindOf(ix)).name(IndexName(t.Name, ix.Name)).text(" ON ").text(b.d.Table(t.Name))
		}
		b.text(" (").ordered(t, d.IndexColumns(t, ix), false).text(")")
		if len(ix.Include) > 0 && d.IncludeClause {
			b.text(" INCLUDE ").tuple(ix.Include)
		}
		out = append(out, b.String())
	}
	if d.AlterIndexes {
		return []string{"ALTER TABLE " + d.Table(t.Name) + " " + strings.Join(out, ", ")}
	}
	return out
}

// DropIndex returns the statement that removes a secondary index.
func (d *Dialect) DropIndex(t *model.Table, index string) string {
	name := IndexName(t.Name, index)
	if d.AlterIndexes {
		return "ALTER TABLE " + d.Table(t.Name) + " DROP INDEX " + d.Name(name)
	}
	return "DROP INDEX " + d.Table(name)
}

func kindOf(ix *model.Index) string {
	if ix.Unique {
		return "UNIQUE INDEX "
	}
	return "INDEX "
}

// IndexColumns lists the columns of an index. Included columns come after the
// key's if there is no clause for them, so that the entries keep their order: by
// the index columns, then by the key.
func (d *Dialect) IndexColumns(t *model.Table, ix *model.Index) []string {
	if len(ix.Include) == 0 || d.IncludeClause {
		return ix.Columns
	}
	return engine.Unique(slices.Concat(ix.Columns, t.Key, ix.Include))
}

func nullable(t *model.Table, column string) bool {
	return !t.Columns[t.Column(column)].NotNull && !slices.Contains(t.Key, column)
}

// Definitions describe tables and indexes in the engine's words: as they are
// found in the database, and as the schema has them.
type Definitions struct {
	// Queries return rows of a name, the table's name, and a part of the
	// definition; the parts of one name are put together.
	Queries []string
	Table   func(t *model.Table) string
	Index   func(t *model.Table, ix *model.Index) string
	// Primary is the name of the primary key's index; nil: it is not found
	// separately from its table.
	Primary func(t *model.Table) string
}

type defined struct{ table, text string }

// Compare checks the tables and indexes that exist. Those that the schema does
// not have, or defines differently, are refused: a step would measure something
// else. In a schema that others may use too they are only not used.
func (db *DB) Compare(ctx context.Context, words Definitions, shared bool) error {
	found, err := db.found(ctx, words.Queries)
	if err != nil {
		return err
	}
	wanted := db.wanted(words)
	const advice = "the parameters that shape the tables must be those of the load"
	db.mu.Lock()
	defer db.mu.Unlock()
	clear(db.indexes)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		is := found[name]
		want, ok := wanted[name]
		switch {
		case ok && want.text == is.text:
			db.indexes[name] = true
			continue
		case ok:
			err = fmt.Errorf("%s exists with another definition: it is %q, and %q is wanted; %s", name, is.text, want.text,
				advice)
		default:
			err = fmt.Errorf("the database holds %s, which is not wanted: %s", name, advice)
		}
		if !shared {
			return err
		}
		if db.strange[is.table] == nil {
			db.strange[is.table] = err
		}
	}
	return nil
}

func (db *DB) found(ctx context.Context, queries []string) (map[string]defined, error) {
	out := map[string]defined{}
	for _, text := range queries {
		err := db.admin.Query(ctx, text, func(row []string) error {
			d, again := out[row[0]]
			if again {
				d.text += ", "
			}
			out[row[0]] = defined{row[1], d.text + row[2]}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look at the tables: %w", err)
		}
	}
	return out, nil
}

func (db *DB) wanted(words Definitions) map[string]defined {
	out := map[string]defined{}
	for i := range db.schema.Tables {
		t := &db.schema.Tables[i]
		out[t.Name] = defined{t.Name, words.Table(t)}
		if words.Primary != nil {
			out[words.Primary(t)] = defined{t.Name, words.Index(t, &model.Index{Columns: t.Key, Unique: true})}
		}
		for k := range t.Indexes {
			out[IndexName(t.Name, t.Indexes[k].Name)] = defined{t.Name, words.Index(t, &t.Indexes[k])}
		}
	}
	return out
}

// Usable returns an error if an operation's table was made for something else, or
// its index does not exist: the server might find a different access path.
func (db *DB) Usable(op *model.Op) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := cmp.Or(db.foreign[strings.ToLower(op.Table)], db.strange[op.Table]); err != nil {
		return err
	}
	if op.Index != "" && !db.indexes[IndexName(op.Table, op.Index)] {
		return fmt.Errorf("operation %s: the index does not exist", op.Label())
	}
	return nil
}
