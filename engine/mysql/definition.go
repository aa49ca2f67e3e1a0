package mysql

import (
	"slices"
	"strings"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// definitions are tables and indexes as the server lists them: columns, and the
// storage.
func (d *db) definitions(dialect *sqlkit.Dialect) sqlkit.Definitions {
	const column = "CONCAT(COLUMN_NAME, ' ', {type}, IF(COLLATION_NAME IS NULL, '', CONCAT(' character set ', CHARACTER_SET_NAME, ' collate ', COLLATION_NAME)), IF(IS_NULLABLE = 'YES', '', ' NOT NULL'))"
	// Some releases show integers with a width.
	const plain = "IF(COLUMN_TYPE LIKE '%int(%', CONCAT(DATA_TYPE, IF(COLUMN_TYPE LIKE '%unsigned%', ' unsigned', '')), COLUMN_TYPE)"
	return sqlkit.Definitions{
		Queries: []string{
			"SELECT TABLE_NAME, TABLE_NAME, " + strings.Replace(column, "{type}", plain, 1) + " FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION",
			"SELECT TABLE_NAME, TABLE_NAME, CONCAT('storage ', LOWER(ENGINE)) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND ENGINE IS NOT NULL",
			"SELECT IF(INDEX_NAME = 'PRIMARY', CONCAT('the primary key of ', TABLE_NAME), INDEX_NAME), TABLE_NAME, CONCAT(IF(NON_UNIQUE, '', 'unique '), COLUMN_NAME) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
		},
		Table:   d.tableText,
		Index:   func(t *model.Table, ix *model.Index) string { return indexText(dialect, t, ix) },
		Primary: func(t *model.Table) string { return "the primary key of " + t.Name },
	}
}

func (d *db) tableText(t *model.Table) string {
	var out []string
	for i := range t.Columns {
		c := &t.Columns[i]
		typ := strings.TrimSuffix(strings.ToLower(columnType(c, d.version.fractions())), " auto_increment")
		if c.NotNull || slices.Contains(t.Key, c.Name) {
			typ += " NOT NULL"
		}
		out = append(out, c.Name+" "+typ)
	}
	return strings.Join(append(out, "storage "+d.storage.name), ", ")
}

func indexText(d *sqlkit.Dialect, t *model.Table, ix *model.Index) string {
	unique := ""
	if ix.Unique {
		unique = "unique "
	}
	return unique + strings.Join(d.IndexColumns(t, ix), ", "+unique)
}
