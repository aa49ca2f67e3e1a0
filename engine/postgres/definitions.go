package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// look looks at the tables and indexes that exist. Others than the schema's,
// and such as were defined otherwise, are refused; in a schema that is not ours
// they are only not used.
func (d *db) look(ctx context.Context) error {
	made, err := definitions(ctx, d.Admin(), d.Server.Schema)
	if err != nil {
		return err
	}
	d.indexes, d.strange = map[string]bool{}, map[string]error{}
	wanted := d.wanted()
	for _, name := range slices.Sorted(maps.Keys(made)) {
		is := made[name]
		want, ok := wanted[name]
		switch {
		case ok && want.text == is.text:
			if want.index {
				d.indexes[name] = true
			}
			continue
		case ok:
			err = fmt.Errorf("%s exists with another definition: it is %q, and %q is wanted; the parameters that shape the tables must be those of the load", name, is.text, want.text)
		default:
			err = fmt.Errorf("the schema holds %s, which is not wanted: the parameters that shape the tables must be those of the load", name)
		}
		if d.server != nil {
			return err
		}
		if d.strange[is.table] == nil && slices.Contains(d.tableNames(), is.table) {
			d.strange[is.table] = err
		}
	}
	return nil
}

// definition is what a table or an index is, in words of our own.
type definition struct {
	table string
	index bool
	text  string
}

// wanted are the definitions that the schema asks for.
func (d *db) wanted() map[string]definition {
	out := map[string]definition{}
	for i := range d.Schema.Tables {
		t := &d.Schema.Tables[i]
		var columns []string
		for _, c := range t.Columns {
			columns = append(columns, columnText(t, &c, d.Compression))
		}
		out[t.Name] = definition{t.Name, false, strings.Join(columns, ", ")}
		out[primaryName(t.Name)] = definition{t.Name, false, indexText(t, &model.Index{Columns: t.Key, Unique: true})}
		for k := range t.Indexes {
			ix := &t.Indexes[k]
			out[sqlkit.IndexName(t.Name, ix.Name)] = definition{t.Name, true, indexText(t, ix)}
		}
	}
	return out
}

func columnText(t *model.Table, c *model.Column, compression model.Compression) string {
	storage := "plain"
	name := map[model.Type]string{
		model.Int: "bigint", model.Float: "double precision", model.Time: "timestamp without time zone", model.String: "text C", model.Bytes: "bytea",
	}[c.Type]
	if c.Type == model.Int && c.Width == 4 {
		name = "integer"
	}
	if c.Type == model.String && c.Fixed {
		name = fmt.Sprintf("character(%d) C", c.Width)
	}
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

// tableTexts and indexTexts describe what is in a schema in the same words.
const tableTexts = `
SELECT c.relname, c.relname, string_agg(
	a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || coalesce(' ' || l.collname, '')
	|| CASE a.attstorage WHEN 'p' THEN ' plain' WHEN 'x' THEN ' extended' WHEN 'e' THEN ' external' ELSE ' main' END
	|| CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
	|| CASE WHEN a.attidentity <> '' THEN ' numbered by ' || q.seqcache ELSE '' END, ', ' ORDER BY a.attnum)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_sequence q ON a.attidentity <> '' AND q.seqrelid = pg_get_serial_sequence(c.oid::regclass::text, a.attname)::regclass
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace =`

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
WHERE c.relnamespace = %s
GROUP BY c.relname, t.relname, i.indisunique, m.amname, i.indpred, i.indisvalid, i.indnkeyatts`

// definitions reads what is in a schema.
func definitions(ctx context.Context, c *sqlkit.Conn, schema string) (map[string]definition, error) {
	out := map[string]definition{}
	in := " (SELECT oid FROM pg_namespace WHERE nspname =" + literal(schema) + ")"
	for _, text := range []string{tableTexts + in + " GROUP BY c.relname", fmt.Sprintf(indexTexts, in)} {
		err := c.Query(ctx, text, func(row []sqldriver.Value) error {
			out[sqlkit.Text(row[0])] = definition{table: sqlkit.Text(row[1]), text: sqlkit.Text(row[2])}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look at the tables: %w", err)
		}
	}
	return out, nil
}
