package postgres

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/engine/sqlkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// definitions returns tables and indexes in our own notation.
func (d *db) definitions(dialect *sqlkit.Dialect) sqlkit.Definitions {
	in := strings.NewReplacer("{schema}",
		"(SELECT oid FROM pg_namespace WHERE nspname = "+dialect.Quoted(d.Server.Schema)+")")
	return sqlkit.Definitions{
		Queries: []string{in.Replace(tableTexts), in.Replace(indexTexts)},
		Table: func(t *model.Table) string {
			text := func(c model.Column) string { return columnText(t, &c, d.Compression) }
			return strings.Join(quantity.Texts(t.Columns, text), ", ")
		},
		Index:   indexText,
		Primary: func(t *model.Table) string { return primaryName(t.Name) },
	}
}

// asListed writes a type as the server lists it.
var asListed = strings.NewReplacer("BIGINT", "bigint", "INTEGER", "integer", "DOUBLE PRECISION", "double precision",
	"TIMESTAMP", "timestamp without time zone",
	"CHAR(", "character(", "TEXT", "text", "BYTEA", "bytea", "UUID", "uuid", ` COLLATE "C"`, " C")

func columnText(t *model.Table, c *model.Column, compression model.Compression) string {
	storage := "plain"
	typ, _, _ := strings.Cut(columnType(c), " GENERATED")
	name := asListed.Replace(typ)
	if long(*c) {
		storage = "extended"
		if compression == model.CompressionNone {
			storage = "external"
		}
	}
	s := c.Name + " " + name + " " + storage
	if c.NotNull || slices.Contains(t.Key, c.Name) {
		s += " not null"
	}
	if c.Auto {
		s += fmt.Sprintf(" numbered by %d", max(c.AutoCache, 1))
	}
	return s
}

func indexText(t *model.Table, ix *model.Index) string {
	s := "btree"
	if ix.Unique {
		s = "unique btree"
	}
	for _, c := range ix.Columns {
		s += " " + c
		if i := t.Column(c); !t.Columns[i].NotNull && !slices.Contains(t.Key, c) {
			s += " nulls first"
		}
	}
	if len(ix.Include) > 0 {
		s += " include " + strings.Join(ix.Include, " ")
	}
	return s
}

// tableTexts and indexTexts describe the tables and indexes of a schema in the same notation.
const tableTexts = `
SELECT c.relname, c.relname, string_agg(
	a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || coalesce(' ' || l.collname, '')
	|| CASE a.attstorage WHEN 'p' THEN ' plain' WHEN 'x' THEN ' extended' WHEN 'e' THEN ' external' ELSE ' main' END
	|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
	|| CASE WHEN a.attidentity <> '' THEN ' numbered by ' || q.seqcache ELSE '' END, ', ' ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_sequence q ON a.attidentity <> '' AND q.seqrelid = pg_get_serial_sequence(c.oid::regclass::text, a.attname)::regclass
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace = {schema}
GROUP BY c.relname`

const indexTexts = `
SELECT c.relname, t.relname,
	CASE WHEN i.indisunique THEN 'unique ' ELSE '' END || m.amname || string_agg(
	CASE WHEN k.n = i.indnkeyatts + 1 THEN ' include' ELSE '' END
	|| ' ' || coalesce(a.attname, 'expression')
	|| CASE k.n <= i.indnkeyatts AND i.indoption[k.n - 1] & 1 = 1 WHEN true THEN ' desc' ELSE '' END
	|| CASE k.n <= i.indnkeyatts AND i.indoption[k.n - 1] & 2 = 2 WHEN true THEN ' nulls first' ELSE '' END, '' ORDER BY k.n)
	|| CASE WHEN i.indpred IS NULL THEN '' ELSE ' partial' END
	|| CASE WHEN i.indisvalid THEN '' ELSE ' invalid' END
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid JOIN pg_am m ON m.oid = c.relam
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
WHERE c.relnamespace = {schema}
GROUP BY c.relname, t.relname, i.indisunique, m.amname, i.indpred, i.indisvalid, i.indnkeyatts`
