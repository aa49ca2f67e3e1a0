package postgres

import (
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestFileClass(t *testing.T) {
	for path, want := range map[string]engine.FileClass{
		"base/5/16384":                            engine.DataFile,
		"data/base/5/16384":                       engine.DataFile,
		"base/5/16390.12":                         engine.DataFile,
		"base/5/16390_vm":                         engine.DataFile,
		"base/5/16390_fsm":                        engine.DataFile,
		"pg_tblspc/16500/PG_15_202209061/5/16400": engine.DataFile,
		"base/5/1259":                             engine.SystemFile,
		"base/5/pg_filenode.map":                  engine.SystemFile,
		"base/4/16384":                            engine.SystemFile,
		"global/1262":                             engine.SystemFile,
		"pg_xact/0000":                            engine.SystemFile,
		"postgresql.auto.conf":                    engine.SystemFile,
		"server.log":                              engine.SystemFile,
		"run/.s.PGSQL.5432":                       engine.SystemFile,
		"pg_wal/000000010000000000000001":         engine.RedoFile,
		"pg_wal/00000001000000000000000A":         engine.RedoFile, // being written
		"pg_wal/00000001000000000000000B":         engine.SpareFile,
		"data/pg_wal/000000010000000100000000":    engine.SpareFile,
		"pg_wal/archive_status/x.done":            engine.RedoFile,
		"data/pg_wal/000000010000000000000001":    engine.RedoFile,
		"base/pgsql_tmp/pgsql_tmp12.0":            engine.TempFile,
		"base/5/t3_16384":                         engine.TempFile,
		"tmp/x":                                   engine.TempFile,
		"pg_dynshmem/mmap.1834":                   engine.TempFile,
	} {
		expect.Equal(t, fileClass(path, 5, "00000001000000000000000A"), want, path)
	}
}

// Every release has queries; a view's labels are sorted.
func TestViews(t *testing.T) {
	for release := oldest; release <= 18; release++ {
		for _, schema := range []string{"", "it's"} {
			seen := map[string]bool{}
			for _, v := range views(release*10000, schema) {
				var names []string
				for _, l := range v.labels {
					names = append(names, l.name)
				}
				expect.True(t, slices.IsSorted(names), release, "labels", names)
				for _, p := range v.pick(release).points {
					expect.True(t, !seen[p.name], release, p.name, "is reported twice")
					seen[p.name] = true
				}
			}
			for _, name := range []string{engine.BytesWritten, "postgres.checkpoint.pages_written", "postgres.bgwriter.pages_written_by_sessions"} {
				expect.True(t, seen[name], release, "no", name)
			}
			for _, name := range []string{engine.CacheLookups, engine.CacheMisses, engine.BytesRead} {
				expect.Equal(t, seen[name], (release >= readsApart), release, name)
			}
			for _, name := range []string{engine.CacheHits, engine.PagesTaken, engine.RowsChanged} {
				expect.Equal(t, seen[name], (release < readsApart), release, name)
			}
			expect.Equal(t, seen["postgres.wal.writes"], (release >= 14), release, "writes of the log")
		}
	}
}
