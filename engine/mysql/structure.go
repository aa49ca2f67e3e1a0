package mysql

import (
	"context"
	"slices"
	"strconv"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// pagesOf describes InnoDB. Only MariaDB reports the room of the log.
func pagesOf(ctx context.Context, c *sqlkit.Admin) (engine.Structure, error) {
	found, err := c.Map(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_page_size', 'Innodb_checkpoint_max_age')")
	return engine.Structure{
		Shape: engine.InPlace, Page: number(found["innodb_page_size"]), LogRoom: number(found["innodb_checkpoint_max_age"]),
	}, err
}

// treeOf describes MyRocks by the column family that most tables are in.
func treeOf(ctx context.Context, c *sqlkit.Admin) (out engine.Structure, err error) {
	const query = "SELECT OPTION_TYPE, VALUE FROM information_schema.ROCKSDB_CF_OPTIONS WHERE CF_NAME = 'default'" +
		" UNION ALL SELECT 'all_memtables', @@rocksdb_db_write_buffer_size"
	found, err := c.Map(ctx, query)
	is := func(name string, values ...string) bool { return slices.Contains(values, found[name]) }
	if err != nil || !is("compaction_style", "kCompactionStyleLevel") {
		return out, err
	}
	out = engine.Structure{Shape: engine.Leveled, Memtable: number(found["write_buffer_size"])}
	if n := number(found["all_memtables"]); n > 0 {
		out.Memtable = min(out.Memtable, n)
	}
	out.Filters = !is("table_factory::filter_policy", "nullptr") && is("table_factory::whole_key_filtering", "1")
	if is("compression_type", "kNoCompression") && is("compression_per_level", "NUL") &&
		is("bottommost_compression", "", "kNoCompression", "kDisableCompressionOption") {
		out.Block = number(found["table_factory::block_size"])
	}
	return out, nil
}

// number reads a number as the server wrote it; 0 if there is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
