package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// checkDefinitions refuses tables and indexes that exist and were defined
// otherwise than the schema says: a step would measure something else.
func (d *db) checkDefinitions(ctx context.Context) error {
	columns, err := d.describe(ctx, "SELECT TABLE_NAME, CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, IF(COLLATION_NAME IS NULL, '', CONCAT(' character set ', CHARACTER_SET_NAME, ' collate ', COLLATION_NAME)), IF(IS_NULLABLE = 'YES', '', ' NOT NULL')) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION")
	if err != nil {
		return err
	}
	indexes, err := d.describe(ctx, "SELECT CONCAT(TABLE_NAME, ' ', INDEX_NAME), COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1, SEQ_IN_INDEX")
	if err != nil {
		return err
	}
	if err := d.checkStorage(ctx); err != nil {
		return err
	}
	for i := range d.Schema.Tables {
		t := &d.Schema.Tables[i]
		if len(columns[t.Name]) == 0 {
			continue
		}
		if err := compare(t.Name, columns[t.Name], d.wantColumns(t)); err != nil {
			return err
		}
		if err := compare("the primary key of "+t.Name, indexes[t.Name+" PRIMARY"], t.Key); err != nil {
			return err
		}
		for k := range t.Indexes {
			name := sqlkit.IndexName(t.Name, t.Indexes[k].Name)
			if got := indexes[t.Name+" "+name]; got != nil {
				if err := compare("index "+name, got, wantIndex(t, &t.Indexes[k])); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// describe gathers the second column of a query under the first.
func (d *db) describe(ctx context.Context, query string) (map[string][]string, error) {
	out := map[string][]string{}
	err := d.Admin().Query(ctx, query, func(row []sqldriver.Value) error {
		name := sqlkit.Text(row[0])
		out[name] = append(out[name], plainType(sqlkit.Text(row[1])))
		return nil
	})
	return out, err
}

func compare(what string, got, want []string) error {
	if slices.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s exists with another definition: (%s), and (%s) is wanted; the parameters that shape the tables must be those of the load",
		what, strings.Join(got, ", "), strings.Join(want, ", "))
}

// wantColumns are a table's columns as the server lists them.
func (d *db) wantColumns(t *model.Table) (out []string) {
	for i := range t.Columns {
		c := &t.Columns[i]
		typ := strings.TrimSuffix(strings.ToLower(columnType(c, d.version.fractions())), " auto_increment")
		if c.NotNull || slices.Contains(t.Key, c.Name) {
			typ += " NOT NULL"
		}
		out = append(out, c.Name+" "+typ)
	}
	return out
}

// wantIndex are an index's columns: those that it includes follow the key's.
func wantIndex(t *model.Table, ix *model.Index) []string {
	columns := slices.Clone(ix.Columns)
	if len(ix.Include) > 0 {
		for _, c := range slices.Concat(t.Key, ix.Include) {
			if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

var displayWidth = regexp.MustCompile(`\b(bigint|int)\(\d+\)`)

// plainType leaves out the width that some releases show integers with.
func plainType(s string) string { return displayWidth.ReplaceAllString(s, "$1") }
