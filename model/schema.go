package model

import (
	"cmp"
	"fmt"
	"slices"
)

// Schema is the set of tables that a workload declares.
type Schema struct {
	Tables []Table
}

// Table is a table with a primary key and any number of secondary indexes.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // the primary key's columns, in order; at least one
	Indexes []Index  // secondary indexes; created by the workload's steps, not with the table
}

// Column is a column of a table.
type Column struct {
	Name string
	Type Type
	// Width is the maximum length in bytes of a String or Bytes column, 16 of a UUID one, and the
	// storage width of an Int column (4 or 8; 0 means 8). Workloads stay within
	// it; an engine may refuse wider values.
	Width int
	// NotNull refuses NULL, as columns of the primary key always do.
	NotNull bool
	// Fixed stores every value of a String column in Width bytes, padded with
	// spaces, in engines that have such a type. Values are ASCII without trailing
	// spaces, and are returned without them.
	Fixed bool
	// Auto has the engine assign ascending integers from 1 to rows inserted
	// without the column. Only for a primary key of one Int column. A failed
	// insert may leave gaps.
	Auto bool
	// AutoCache is how many numbers of an Auto column a session may reserve at a
	// time, if the engine has such a setting. Unused ones are gaps, and the
	// numbers of concurrent sessions interleave. 0 means 1.
	AutoCache int
}

// Index is a secondary index. Its entries are ordered by Columns and then by
// the primary key.
type Index struct {
	Name    string
	Columns []string
	Unique  bool
	// Include lists columns that are stored in the entry, to make the index
	// covering, but are not part of its order.
	Include []string
}

// Table returns the table of that name.
func (s Schema) Table(name string) (*Table, error) {
	for i := range s.Tables {
		if s.Tables[i].Name == name {
			return &s.Tables[i], nil
		}
	}
	return nil, fmt.Errorf("schema has no table %q", name)
}

// Column returns the position of the column of that name, -1 if there is none.
func (t *Table) Column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Index returns the secondary index of that name.
func (t *Table) Index(name string) (*Index, error) {
	for i := range t.Indexes {
		if t.Indexes[i].Name == name {
			return &t.Indexes[i], nil
		}
	}
	return nil, fmt.Errorf("table %s has no index %q", t.Name, name)
}

// Order returns the columns of a secondary index, or of the primary key if the
// name is "".
func (t *Table) Order(index string) []string {
	if index == "" {
		return t.Key
	}
	ix, err := t.Index(index)
	if err != nil {
		return nil
	}
	return ix.Columns
}

// Positions returns the positions of columns in the table by name.
func (t *Table) Positions(names []string) ([]int, error) {
	out := make([]int, len(names))
	for i, n := range names {
		if out[i] = t.Column(n); out[i] < 0 {
			return nil, fmt.Errorf("table %s has no column %q", t.Name, n)
		}
	}
	return out, nil
}

// AutoColumn returns the position of the Auto column, -1 if there is none.
func (t *Table) AutoColumn() int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Auto })
}

// ColumnNames returns the names of all columns in order.
func (t *Table) ColumnNames() []string {
	out := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = c.Name
	}
	return out
}

// Validate checks the declaration, so that engines need not.
func (t *Table) Validate() error {
	if len(t.Key) == 0 {
		return fmt.Errorf("table %s has no primary key", t.Name)
	}
	if t.AutoColumn() == 0 && len(t.Columns) == 1 {
		return fmt.Errorf("table %s has only an auto column, and an insert into it has no values", t.Name)
	}
	for i, c := range t.Columns {
		if err := cmp.Or(
			refuse(c.Name == "" || t.Column(c.Name) < i, "column %d has an empty or repeated name %q", i+1, c.Name),
			refuse(c.Type == Null, "column %s has no type", c.Name),
			refuse(c.Auto && (c.Type != Int || len(t.Key) != 1 || t.Key[0] != c.Name),
				"auto column %s must be the whole primary key and an int", c.Name),
			refuse(c.AutoCache < 0 || c.AutoCache > 0 && !c.Auto,
				"column %s: auto_cache is for auto columns and at least 0, not %d", c.Name, c.AutoCache),
		); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if _, err := t.Positions(t.Key); err != nil {
		return err
	}
	for _, ix := range t.Indexes {
		if len(ix.Columns) == 0 {
			return fmt.Errorf("table %s: index %s has no columns", t.Name, ix.Name)
		}
		if _, err := t.Positions(slices.Concat(ix.Columns, ix.Include)); err != nil {
			return fmt.Errorf("index %s: %w", ix.Name, err)
		}
	}
	return nil
}
