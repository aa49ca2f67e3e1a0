package all_test

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// TestFiles: what the files of engines are for, by the paths that they have.
func TestFiles(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"mysql": {
			"data/ib_logfile0": "log", "data/#innodb_redo/#ib_redo12": "log", "data/aria_log.00000001": "log", "data/ibdata1": "doublewrite undo",
			"data/#ib_16384_0.dblwr": "doublewrite", "data/undo001": "undo", "data/undo_002": "undo", "data/rumbench/sbtest1.ibd": "data:sbtest1",
			"data/rumbench/t.MAD": "data:t", "data/rumbench/t.frm": "system", "data/mysql/innodb_index_stats.ibd": "system", "data/mysql.ibd": "system",
			"data/#rocksdb/000012.sst": "data", "data/#rocksdb/000013.log": "log", "data/#rocksdb/MANIFEST-000004": "system",
			"data/ibtmp1": "temp", "tmp/#sql-temptable-1.MAI": "temp", "data/host-bin.000001": "binlog", "data/binlog.000002": "binlog", "data/ib_buffer_pool": "system",
		},
		"postgres": {
			"data/pg_wal/00000001000000000000002A": "log", "data/base/16384/16390": "data", "data/base/16384/16390_fsm": "data", "data/base/16384/t3_16400": "temp",
			"data/base/pgsql_tmp/pgsql_tmp12.0": "temp", "data/base/pgsql_tmp/pgsql_tmp12.0.sharedfileset/0.0": "temp", "data/pg_xact/0000": "system", "data/global/1262": "system",
		},
		"pebble": {"000005.sst": "data", "000004.log": "log", "MANIFEST-000001": "system"}, "rocksdb": {"000005.sst": "data", "000004.log": "log", "LOG": "system"},
		"badger": {"000001.sst": "data", "000001.vlog": "data", "00001.mem": "log", "MANIFEST": "system"},
		"sqlite": {"sqlite.db": "data", "sqlite.db-wal": "log", "sqlite.db-journal": "log"}, "bbolt": {"bbolt.db": "data"}, "lmdb": {"data.mdb": "data", "lock.mdb": "system"},
		"wiredtiger": {"WiredTigerLog.0000000001": "log", "WiredTigerHS.wt": "undo", "WiredTiger.wt": "system", "t1.wt": "data:t1"},
		"mongodb":    {"data/journal/WiredTigerLog.0000000001": "log", "data/rumbench/collection-7-12.wt": "data:collection-7-12"},
		"tarantool":  {"data/00000000000000000000.xlog": "log", "data/512/0/00000000000000000002.run": "data", "data/00000000000000000000.vylog": "system"},
	} {
		uses := engine.InfoOf(engineOf(t, name), engine.Config{}).Files
		for path, want := range files {
			var got []string
			for _, u := range uses.Of("/trials/x/data/" + path) {
				got = append(got, strings.TrimSuffix(u.Use+":"+u.Name, ":"))
			}
			expect.Equal(t, strings.Join(got, " "), want, name, path, got)
		}
	}
	shared := engine.InfoOf(engineOf(t, "mysql"), engine.Config{Options: map[string]any{"innodb_file_per_table": false}}).Files.Of("data/ibdata1")
	expect.True(t, len(shared) == 2 && shared[0].Use == engine.UseDouble && shared[1].Use == engine.UseData,
		"a shared tablespace", shared)
}
