package mysql

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// fileClass returns the class of a file in a private server's directory by its path:
// redo, write-ahead and binary logs; the tables of the schema; MyRocks keeps those of all
// schemas together. Old versions of rows count as the system's.
//
// Without a file for each table the tables are in InnoDB's shared file.
func fileClass(path, schema string, shared bool) engine.FileClass {
	base := filepath.Base(path)
	in := func(dir string) bool { return strings.HasPrefix(path, filepath.Join("data", dir)+"/") }
	switch {
	case strings.HasPrefix(path, "tmp/"), strings.HasPrefix(base, "ibtmp"):
		return engine.TempFile
	case in("#rocksdb") && strings.HasSuffix(base, ".log"):
		return engine.LogFile
	case in("#rocksdb") && strings.HasSuffix(base, ".sst"):
		return engine.DataFile
	case in("#rocksdb"):
		return engine.SystemFile
	case strings.HasPrefix(base, "ib_logfile"), in("#innodb_redo"), strings.HasPrefix(base, "aria_log"):
		return engine.RedoFile
	case strings.Contains(base, "-bin."), strings.HasPrefix(base, "binlog."):
		return engine.BinlogFile
	case filepath.Dir(path) == "data" && (strings.HasSuffix(base, ".log") || strings.HasSuffix(base, ".err")):
		return engine.MessageFile
	case in(schema) && base != "db.opt", shared && strings.HasPrefix(base, "ibdata"):
		return engine.DataFile
	}
	return engine.SystemFile
}

// filesOf returns the uses of files as configured: without a file for each table, all
// tables are in the shared one.
func filesOf(c engine.Config) engine.FileUses {
	if v, ok := c.Options["innodb_file_per_table"]; ok &&
		slices.Contains([]string{"false", "0", "off"}, strings.ToLower(fmt.Sprint(v))) {
		double := slices.IndexFunc(files, func(u engine.FileUse) bool { return u.To > 0 })
		return slices.Concat(files[double:double+1], engine.FileUses{{Pattern: "ibdata*", Use: engine.UseData}}, files)
	}
	return files
}

// files are those of all storages. A shared tablespace has two doublewrite areas of a MiB each,
// except in MySQL 8.0 and later, and also old versions of rows, unless they have their own files.
var files = engine.FileUses{
	{Pattern: "ib_logfile*", Use: engine.UseLog}, {Pattern: "#innodb_redo/*", Use: engine.UseLog},
	{Pattern: "aria_log*", Use: engine.UseLog},
	{Pattern: "#rocksdb/*.log", Use: engine.UseLog}, {Pattern: "#rocksdb/*.sst", Use: engine.UseData},
	{Pattern: "*.dblwr", Use: engine.UseDouble}, {Pattern: "ibdata1", Use: engine.UseDouble, From: mb, To: 3 * mb},
	{Pattern: "ibdata*", Use: engine.UseUndo}, {Pattern: "undo[0-9_]*", Use: engine.UseUndo},
	{Pattern: "undo*.ibu", Use: engine.UseUndo},
	{Pattern: "ibtmp*", Use: engine.UseTemp}, {Pattern: "tmp/*", Use: engine.UseTemp},
	{Pattern: "#innodb_temp/*", Use: engine.UseTemp},
	{Pattern: "*-bin.*", Use: engine.UseBinlog}, {Pattern: "binlog.*", Use: engine.UseBinlog},
	{Pattern: "mysql/*", Use: engine.UseSystem}, {Pattern: "mysql.ibd", Use: engine.UseSystem},
	{Pattern: "sys/*", Use: engine.UseSystem},
	{Pattern: "*.ibd", Use: engine.UseData, Named: true},
	{Pattern: "*.MA[ID]", Use: engine.UseData, Named: true}, {Pattern: "*.MY[ID]", Use: engine.UseData, Named: true},
}

// Sizes reports the size of each table and index, and the total. For InnoDB they are pages by the
// statistics that ANALYZE makes; for MyRocks bytes before compression, without data in memory.
func (d *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	// The indexes together, if nothing more can be learned.
	query := "SELECT TABLE_NAME, 'PRIMARY', DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES WHERE " +
		"TABLE_SCHEMA = DATABASE()"
	switch {
	case d.storage == rocksdb:
		query = "SELECT d.TABLE_NAME, d.INDEX_NAME, SUM(m.DATA_SIZE) FROM information_schema.ROCKSDB_DDL d" +
			" JOIN information_schema.ROCKSDB_INDEX_FILE_MAP m ON m.INDEX_NUMBER = d.INDEX_NUMBER" +
			" WHERE d.TABLE_SCHEMA = DATABASE() GROUP BY 1, 2"
	// With zlib the statistics count smaller pages.
	case d.storage == innodb && d.version.atLeast(5, 6) && d.Compression != model.CompressionZlib:
		query = "SELECT table_name, index_name, stat_value * @@innodb_page_size FROM mysql.innodb_index_stats WHERE " +
			"stat_name = 'size' AND database_name = DATABASE()"
	}
	out, err := d.objects(ctx, query)
	if d.Private == nil && engine.ClassOf(err) == engine.Fatal {
		err = nil // the user may not be allowed to read the server's own tables
	}
	if err != nil {
		return nil, err
	}
	if d.Private == nil {
		return d.addTablespaces(ctx, out)
	}
	total, err := fsize.Allocated(d.DataDir())
	return append(out, engine.Size{Bytes: total, Kind: engine.Exact}), err
}

// objects reads tables and indexes with their sizes. Statistics that lag far behind the
// table's file are left out: they describe an earlier state of the table.
func (d *db) objects(ctx context.Context, query string) ([]engine.Size, error) {
	var sizes []engine.Size
	sums := map[string]int64{}
	err := d.Admin().Numbers(ctx, query, 2, func(row []string, n []float64) {
		if math.IsNaN(n[0]) { // the storage does not report it
			return
		}
		object := row[0]
		sums[object] += int64(n[0])
		if index := row[1]; index != "PRIMARY" {
			object = index // its name begins with the table's
		}
		sizes = append(sizes, engine.Size{Object: object, Bytes: int64(n[0]), Kind: engine.Estimate})
	})
	if err != nil || d.Private == nil || d.storage != innodb || d.shared {
		return sizes, err
	}
	return slices.DeleteFunc(sizes, func(z engine.Size) bool {
		table, _, _ := strings.Cut(z.Object, ".")
		info, err := os.Stat(filepath.Join(d.DataDir(), d.Server.Schema, table+".ibd"))
		const spare = 8 << 20 // a file grows in steps of this size
		return err == nil && info.Size() > 2*sums[table]+spare
	}), nil
}

// addTablespaces adds the total of the schema on a server whose files are not ours: for
// InnoDB, the size of its files. The statistics of tables lag behind, and MyRocks keeps
// all schemas in the same files: then there is no total.
func (d *db) addTablespaces(ctx context.Context, out []engine.Size) ([]engine.Size, error) {
	if d.storage != innodb {
		return out, nil
	}
	table := "INNODB_SYS_TABLESPACES"
	if !d.version.maria && d.version.atLeast(8, 0) {
		table = "INNODB_TABLESPACES"
	}
	// Schema and table are plain words.
	names := quantity.Texts(d.TableNames(), func(table string) string { return d.Server.Schema + "/" + table })
	n, err := d.Admin().Number(ctx,
		"SELECT SUM(ALLOCATED_SIZE) FROM information_schema."+table+" WHERE NAME IN "+d.Dialect().QuotedList(names))
	if n > 0 {
		out = append(out, engine.Size{Bytes: int64(n), Kind: engine.Exact})
	}
	if engine.ClassOf(err) == engine.Fatal {
		err = nil // the release does not have it
	}
	return out, err
}
