package sqlkit

import (
	"fmt"
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
