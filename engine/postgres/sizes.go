package postgres

import (
	"context"
	"strconv"
	"strings"

	"rumbench/engine"
)

// Sizes reports what every table and index takes. The index of the primary key
// belongs to its table. The total of a private server is that of its database;
// of another one only what is ours of it.
func (d *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	in := " c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = " + d.Dialect().Quoted(d.Server.Schema) + ")"
	ours := d.Dialect().QuotedList(d.TableNames())
	total := "pg_database_size(current_database())"
	if d.Attached() {
		total = "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE " + in + " AND c.relname IN " + ours + ")"
	}
	texts := []string{
		"SELECT c.relname, pg_table_size(c.oid) + coalesce((SELECT pg_table_size(i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), 0) FROM pg_class c WHERE" + in + " AND c.relname IN " + ours,
		"SELECT c.relname, pg_table_size(c.oid) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE" + in + " AND NOT i.indisprimary AND i.indrelid IN (SELECT c.oid FROM pg_class c WHERE" + in + " AND c.relname IN " + ours + ")",
		"SELECT '', " + total,
	}
	var out []engine.Size
	err := d.Admin().Query(ctx, strings.Join(texts, " UNION ALL "), func(row []string) error {
		n, err := strconv.ParseInt(row[1], 10, 64)
		out = append(out, engine.Size{Object: row[0], Bytes: n, Kind: engine.Exact})
		return err
	})
	return out, err
}
