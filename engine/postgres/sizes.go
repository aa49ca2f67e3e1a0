package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// Sizes reports what every table and index takes. The index of the primary key
// belongs to its table. The total of a private server is that of its database;
// of another one only what is ours of it.
func (d *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	in := " c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname =" + literal(d.Server.Schema) + ")"
	total := "pg_database_size(current_database())"
	if d.server == nil {
		total = "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE " + in + " AND c.relname IN " + among(d.tableNames()) + ")"
	}
	texts := []string{
		"SELECT c.relname, pg_table_size(c.oid) + coalesce((SELECT pg_table_size(i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), 0) FROM pg_class c WHERE" + in + " AND c.relname IN " + among(d.tableNames()),
		"SELECT c.relname, pg_table_size(c.oid) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE" + in + " AND NOT i.indisprimary AND i.indrelid IN (SELECT c.oid FROM pg_class c WHERE" + in + " AND c.relname IN " + among(d.tableNames()) + ")",
		"SELECT '', " + total,
	}
	var out []engine.Size
	err := d.Admin().Query(ctx, strings.Join(texts, " UNION ALL "), func(row []sqldriver.Value) error {
		n, err := strconv.ParseInt(sqlkit.Text(row[1]), 10, 64)
		out = append(out, engine.Size{Object: sqlkit.Text(row[0]), Bytes: n, Kind: engine.Exact})
		return err
	})
	return out, err
}
