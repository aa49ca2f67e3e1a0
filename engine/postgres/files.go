package postgres

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// FileClass returns what gives the class of a file of the data directory, and of
// the directory around it that a private server has.
func (d *db) FileClass(ctx context.Context) (func(path string) engine.FileClass, error) {
	return d.classes(ctx, d.Admin())
}

func (d *db) classes(ctx context.Context, c *sqlkit.Admin) (func(path string) engine.FileClass, error) {
	current, err := c.Value(ctx, "SELECT pg_walfile_name(pg_current_wal_insert_lsn())") // the log's file that is being written
	return func(path string) engine.FileClass { return fileClass(path, d.about.database, current) }, err
}

// relation is the path of a file of a table or index: the database's number,
// then the file's, which may end in its fork and its part. Those of temporary
// tables begin with a t.
var relation = regexp.MustCompile(`^(?:base|pg_tblspc/[0-9]+/[^/]+)/([0-9]+)/(t[0-9]+_)?([0-9]+)(?:_[a-z]+)?(?:\.[0-9]+)?$`)

// segment is the name of a file of the log: its timeline and its place.
var segment = regexp.MustCompile(`^[0-9A-F]{24}$`)

// firstNormal is the first number of a file that is not the system catalog's.
// All databases have a copy of that, of some 7 MB.
const firstNormal = 16384

// fileClass goes by the path of a file, the number of the database and the name
// of the log's file that is being written: those with greater names are files of
// the past, renamed for what is still to come.
func fileClass(path string, database uint32, current string) engine.FileClass {
	path = strings.TrimPrefix(path, "data/")
	switch top, name, _ := strings.Cut(path, "/"); {
	case top == "pg_wal" && segment.MatchString(name) && name > current:
		return engine.SpareFile
	case top == "pg_wal":
		return engine.RedoFile
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
