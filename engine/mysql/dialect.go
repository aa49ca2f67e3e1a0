package mysql

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// newDialect returns the server's dialect, for tables whose definitions end in
// tableOptions. Releases without fractions of seconds store times as microseconds.
func newDialect(tableOptions func(*model.Table) string, fractions bool) *sqlkit.Dialect {
	return &sqlkit.Dialect{
		Speaks:         "mysql",
		Quote:          "`",
		LongestName:    64,
		NameLength:     utf8.RuneCountInString,
		MaxArgs:        65535,
		ColumnType:     func(c *model.Column) string { return columnType(c, fractions) },
		TableOptions:   tableOptions,
		AlterIndexes:   true,
		Parallel:       true,
		Hint:           forceIndex,
		OnDuplicateKey: true,
		Number:         sqlkit.FirstNumber,
		DeleteLimit:    true,
		Lock:           " FOR UPDATE",
		Begin:          begin,
		PlainCommands:  true,
		Literal:        func(dst []byte, v model.Value) []byte { return literal(dst, v, fractions) },
		Classify:       mysqlwire.Classify,
	}
}

// longestChar is the maximum width of a CHAR.
const longestChar = 255

// columnType returns the type of a column. Text is stored as bytes: every collation that
// both InnoDB and MyRocks support ignores trailing spaces. Fixed text has no trailing
// spaces, and latin1 stores it in one byte per letter.
func columnType(c *model.Column, fractions bool) string {
	switch c.Type {
	case model.Float:
		return "DOUBLE"
	case model.Time:
		if fractions {
			return "DATETIME(6)"
		}
		return "BIGINT"
	case model.UUID: // MariaDB's own type has another order
		return "BINARY(16)"
	case model.String, model.Bytes:
		if c.Fixed && c.Width <= longestChar {
			return fmt.Sprintf("CHAR(%d) CHARACTER SET latin1 COLLATE latin1_bin", c.Width)
		}
		return fmt.Sprintf("VARBINARY(%d)", c.Width)
	}
	name := "BIGINT"
	if c.Width == 4 {
		name = "INT"
	}
	if c.Auto {
		name += " AUTO_INCREMENT"
	}
	return name
}

func forceIndex(d *sqlkit.Dialect, t *model.Table, index string) string {
	name := "PRIMARY"
	if index != "" {
		name = d.Name(sqlkit.IndexName(t.Name, index))
	}
	return " FORCE INDEX (" + name + ")"
}

func begin(level model.Isolation, _ bool) []string {
	if level == model.DefaultIsolation {
		return []string{"BEGIN"}
	}
	return []string{"SET TRANSACTION ISOLATION LEVEL " + levelName(level), "BEGIN"}
}

// levelName returns an isolation level as SQL writes it.
func levelName(level model.Isolation) string {
	return strings.ToUpper(strings.ReplaceAll(level.String(), "-", " "))
}

// literal appends a time, text or bytes as the server reads it. Backslashes escape,
// because the sessions' sql_mode enables it.
func literal(dst []byte, v model.Value, fractions bool) []byte {
	switch v.Type() {
	case model.Time:
		if !fractions {
			return strconv.AppendInt(dst, v.Int(), 10)
		}
		dst = append(dst, '\'')
		return append(v.Time().AppendFormat(dst, sqlkit.TimeLayout), '\'')
	case model.Bytes, model.UUID:
		dst = append(dst, "_binary"...)
	}
	return sqlkit.AppendQuoted(dst, v.Buf(), true)
}

// definitions returns tables and indexes as the server lists them: columns, and the
// storage.
func (d *db) definitions(dialect *sqlkit.Dialect) sqlkit.Definitions {
	const column = "CONCAT(COLUMN_NAME, ' ', {type}," +
		" IF(COLLATION_NAME IS NULL, '', CONCAT(' character set ', CHARACTER_SET_NAME, ' collate ', COLLATION_NAME))," +
		" IF(IS_NULLABLE = 'YES', '', ' NOT NULL'))"
	// Some releases show integers with a width.
	const plain = "IF(COLUMN_TYPE LIKE '%int(%', CONCAT(DATA_TYPE, IF(COLUMN_TYPE LIKE '%unsigned%', ' unsigned', " +
		"'')), COLUMN_TYPE)"
	return sqlkit.Definitions{
		Queries: []string{
			"SELECT TABLE_NAME, TABLE_NAME, " + strings.Replace(column, "{type}", plain, 1) +
				" FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION",
			"SELECT TABLE_NAME, TABLE_NAME, CONCAT('storage ', LOWER(ENGINE)) FROM information_schema.TABLES WHERE " +
				"TABLE_SCHEMA = DATABASE() AND ENGINE IS NOT NULL",
			"SELECT IF(INDEX_NAME = 'PRIMARY', CONCAT('the primary key of ', TABLE_NAME), INDEX_NAME), TABLE_NAME," +
				" CONCAT(IF(NON_UNIQUE, '', 'unique '), COLUMN_NAME)" +
				" FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
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
