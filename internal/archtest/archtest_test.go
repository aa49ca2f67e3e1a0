// Package archtest holds the code against the import table: a package imports
// only from lower floors, plug-ins know nothing of each other, and database
// clients stay inside their engines.
package archtest_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "rumbench/"

// floors is the import table. A folder ending in /* stands for those below it
// that are not named themselves.
var floors = []struct {
	floor int
	pkg   string
}{
	{0, "model"}, {3, "internal/server"}, {0, "internal/stat"}, {0, "internal/flame"}, {0, "internal/pace"}, {0, "internal/search"}, {0, "internal/fsize"}, {0, "internal/cpuset"}, {0, "internal/regular"}, {0, "internal/plain"}, {0, "internal/hint"}, {0, "internal/parallel"}, {0, "internal/quantity"}, {0, "internal/build"}, {0, "internal/structure"}, {0, "internal/need"},
	{1, "internal/metric"}, {1, "internal/gen"}, {1, "internal/hist"}, {1, "internal/published/layout"}, {1, "internal/wire"}, {1, "internal/perfring"},
	{2, "engine"},
	{3, "workload"}, // its clients execute operations on engine sessions
	{3, "internal/observe"}, {4, "internal/profile"}, {4, "internal/blockio"}, {3, "internal/form"},
	{5, "engine/enginetest"}, {4, "workload/workloadtest"},
	{4, "engine/sqlkit"}, {4, "engine/kvkit"}, {4, "internal/account"}, {4, "internal/drive"}, {4, "workload/*"},
	{5, "engine/sqlkit/stdsql"}, {5, "engine/sqlkit/sqlkittest"}, {5, "engine/serverkit"}, {5, "internal/iproto"}, {5, "engine/native"},
	{6, "internal/mysqlwire"}, {6, "internal/pgwire"}, // their connections are sqlkit's
	{7, "engine/*"},
	{5, "internal/result"},
	{6, "internal/plan"}, // it knows the metrics of results
	{5, "internal/picture"}, {6, "internal/page"}, {6, "internal/redact"},
	{7, "internal/trial"},
	{7, "internal/compare"}, {8, "internal/cost"}, {8, "internal/explain"}, {8, "internal/forecast"}, {9, "internal/campaign"}, {8, "internal/figure"}, {8, "internal/published"}, {9, "internal/comparison"}, {9, "internal/report"}, {9, "internal/ui"}, {8, "internal/host"}, {8, "internal/watch"}, {8, "internal/importer"}, {8, "internal/history"}, {8, "internal/export"},
	{9, "internal/registry"},
	{10, "internal/cli"},
	{11, "cmd/rumbench"}, {11, "bench"}, {11, "scripts/man"}, {0, "scripts/suite"}, {11, "bench/peers"}, {11, "bench/planted"}, {10, "bench/slowed"},
	{11, "internal/archtest"},
}

// clients are the modules that talk to databases, with the only folders that
// may import them.
var clients = map[string][]string{
	"github.com/cockroachdb/pebble":  {"engine/pebble"},
	"github.com/dgraph-io/badger":    {"engine/badger"},
	"github.com/dgraph-io/ristretto": {"engine/badger"}, // its cache
	"github.com/PowerDNS/lmdb-go":    {"engine/lmdb"},
	"go.etcd.io/bbolt":               {"engine/bbolt"},
	"modernc.org/sqlite":             {"engine/sqlite"},
	"github.com/tidwall/btree":       {"engine/memory"},
	"github.com/go-sql-driver/mysql": {"internal/mysqlwire"},
	"github.com/jackc/pgx":           {"internal/pgwire"},
	"github.com/tarantool":           {}, // only a benchmark compares with it
	"go.mongodb.org/mongo-driver":    {"engine/mongodb"},
	"database/sql":                   {"engine/sqlkit/stdsql", "engine/sqlite", "internal/mysqlwire"},
}

func floorOf(pkg string) (int, bool) {
	for _, f := range floors {
		if f.pkg == pkg {
			return f.floor, true
		}
	}
	for _, f := range floors {
		if dir, ok := strings.CutSuffix(f.pkg, "/*"); ok && strings.HasPrefix(pkg, dir+"/") {
			return f.floor, true
		}
	}
	return 0, false
}

const root = "../.."

// walk calls a function for each file of the project that is no test, with its path.
func walk(t *testing.T, each func(path string)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == "bin" || name == "results" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		seen++
		each(filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("only %d files were found", seen)
	}
}

func TestImports(t *testing.T) {
	for dir, files := range sources(t) {
		for _, file := range files {
			for _, im := range file.syntax.Imports {
				imported, err := strconv.Unquote(im.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				checkImport(t, dir, imported)
			}
		}
	}
}

func checkImport(t *testing.T, pkg, imported string) {
	t.Helper()
	floor, ok := floorOf(pkg)
	if !ok {
		t.Errorf("package %s is not in the import table", pkg)
		return
	}
	for client, homes := range clients {
		if (imported == client || strings.HasPrefix(imported, client+"/")) && !slices.Contains(homes, pkg) {
			t.Errorf("%s imports %s, which only %v may", pkg, imported, homes)
		}
	}
	own, ok := strings.CutPrefix(imported, module)
	if !ok {
		return
	}
	below, ok := floorOf(own)
	switch {
	case !ok:
		t.Errorf("%s imports %s, which is not in the import table", pkg, own)
	case below >= floor:
		t.Errorf("%s (floor %d) imports %s (floor %d): only lower floors may be imported", pkg, floor, own, below)
	case strings.HasPrefix(pkg, "engine/") && strings.HasPrefix(own, "workload"):
		t.Errorf("engine %s imports workload %s", pkg, own)
	}
}
