package postgres

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// Sizes reports the size of every table and index. The index of the primary key belongs
// to its table. The total of a private server is that of its database; on another server
// it covers only our tables.
func (d *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	in := " c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = " + d.Dialect().Quoted(d.Server.Schema) + ")"
	ours := d.Dialect().QuotedList(d.TableNames())
	total := "pg_database_size(current_database())"
	if d.Attached() {
		total = "(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE " + in +
			" AND c.relname IN " + ours + ")"
	}
	texts := []string{
		"SELECT c.relname, pg_table_size(c.oid) +" +
			" coalesce((SELECT pg_table_size(i.indexrelid) FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary), 0)" +
			" FROM pg_class c WHERE" + in + " AND c.relname IN " + ours,
		"SELECT c.relname, pg_table_size(c.oid) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE" + in +
			" AND NOT i.indisprimary AND i.indrelid IN (SELECT c.oid FROM pg_class c WHERE" + in + " AND c.relname IN " + ours +
			")",
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

// classes returns a function that gives the class of a file of the data directory, and
// of the directory around it that a private server has.
func (d *db) classes(ctx context.Context, c *sqlkit.Admin) (func(path string) engine.FileClass, error) {
	// the file of the log that is being written
	current, err := c.Value(ctx, "SELECT pg_walfile_name(pg_current_wal_insert_lsn())")
	return func(path string) engine.FileClass { return fileClass(path, d.about.database, current) }, err
}

// relation is the path of a file of a table or index: the database's number, then the
// number of the file, optionally followed by its fork and its part. Those of temporary
// tables begin with a t.
var relation = regexp.MustCompile(`^(?:base|pg_tblspc/[0-9]+/[^/]+)/([0-9]+)/(t[0-9]+_)?([0-9]+)(?:_[a-z]+)?(?:\.[0-9]+)?$`)

// segment is the name of a file of the log: its timeline and its position.
var segment = regexp.MustCompile(`^[0-9A-F]{24}$`)

// files are those of all databases: the names of tables' files are numbers.
var files = engine.FileUses{
	{Pattern: "pg_wal/*", Use: engine.UseLog}, {Pattern: "pgsql_tmp/*", Use: engine.UseTemp},
	{Pattern: "pgsql_tmp*/*", Use: engine.UseTemp},
	{Pattern: "base/*/t[0-9]*", Use: engine.UseTemp}, {Pattern: "base/*/*", Use: engine.UseData},
	{Pattern: "pg_tblspc/*/*/*/*", Use: engine.UseData},
}

// firstNormal is the first file number outside the system catalog. Every database has a
// copy of the catalog, of about 7 MB.
const firstNormal = 16384

// fileClass decides by the path of a file, the number of the database and the name of the log
// file that is being written: files with greater names are old ones, renamed for future use.
func fileClass(path string, database uint32, current string) engine.FileClass {
	path = strings.TrimPrefix(path, "data/")
	switch top, name, _ := strings.Cut(path, "/"); {
	case top == "pg_wal" && segment.MatchString(name) && name > current:
		return engine.SpareFile
	case top == "pg_wal":
		return engine.RedoFile
	case top == "log", top == "pg_log":
		return engine.MessageFile
	case top == "tmp" || top == "pg_dynshmem" || strings.Contains(path, "pgsql_tmp"):
		return engine.TempFile
	}
	m := relation.FindStringSubmatch(path)
	if m == nil {
		return engine.SystemFile
	}
	in, _ := strconv.ParseUint(m[1], 10, 32)
	file, _ := strconv.ParseUint(m[3], 10, 32)
	switch {
	case m[2] != "":
		return engine.TempFile
	case uint32(in) == database && file >= firstNormal:
		return engine.DataFile
	}
	return engine.SystemFile
}
