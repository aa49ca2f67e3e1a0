// Package archtest holds the code against the table of rooms: a package imports only
// what is above it, plug-ins know nothing of each other, database clients stay inside
// their engines, and a room keeps its budget of lines.
package archtest_test

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

const module = "rumbench/"

// suites are packages that only tests import: their lines are those of tests.
var suites = []string{
	"engine/enginetest", "engine/sqlkit/sqlkittest", "workload/workloadtest", "internal/compare/history/historytest", "internal/need",
	"internal/page/browsertest", "internal/expect", "internal/server/servertest",
}

// mostTotal is the budget of all lines of Go without tests.
const mostTotal = 141_667

// room is a part of the house: packages that belong together, and how large they may be.
type room struct {
	name string
	// lines is the budget: the lines of Go without tests. It only shrinks, unless the
	// commit that raises it says why.
	lines int
	// floors are the packages, those of a floor separated by spaces. A package imports
	// only packages of rooms above, and in its own room of earlier floors. A folder that
	// ends in /* stands for those below it that are not named.
	floors []string
}

// rooms is the table of docs/architecture.md, in the order in which data pass. The
// engines start their servers, so internal/server is above them.
var rooms = []room{
	{"internal/need", 0, []string{"internal/expect", "internal/need"}}, // of tests
	{"model", 918, []string{"model"}},
	{"internal/text", 2_256, []string{"internal/text/hint internal/text/quantity internal/text/escape", "internal/text/secret", "internal/text/strictyaml"}},
	{"internal/stat", 2_343, []string{"internal/stat internal/stat/hist"}},
	{"internal/metric", 1_292, []string{"internal/metric"}},
	{"internal/remark", 467, []string{"internal/remark"}},
	{"internal/server", 2_601, []string{"internal/server", "internal/server/servertest"}},
	{"engine", 26_171, []string{
		"engine/fsize engine/wire", "engine", "engine/sqlkit engine/kvkit engine/native engine/enginetest",
		"engine/sqlkit/stdsql engine/sqlkit/sqlkittest engine/serverkit engine/tarantool/iproto",
		"engine/mysql/mysqlwire engine/postgres/pgwire", "engine/*", "engine/all",
	}},
	{"workload", 19_467, []string{"workload/gen workload/pace", "workload", "workload/*", "workload/all"}},
	{"internal/observe", 8_060, []string{"internal/observe/cpuset internal/observe/pagecache", "internal/observe internal/observe/perfring", "internal/observe/profile internal/observe/blockio internal/observe/confine internal/observe/pmu"}},
	{"internal/account", 3_382, []string{"internal/account"}},
	{"internal/result", 3_451, []string{"internal/result/regular internal/result/layout", "internal/result/program", "internal/result", "internal/result/redact"}},
	{"internal/plan", 4_142, []string{"internal/plan"}},
	{"internal/run", 12_915, []string{"internal/run/drive internal/run/ratesearch internal/run/hook internal/run/base", "internal/run/divided", "internal/run/trial internal/run/forecast", "internal/run/campaign"}},
	{"internal/importer", 8_552, []string{"internal/importer"}},
	{"internal/compare", 6_438, []string{"internal/compare", "internal/compare/history internal/compare/history/historytest"}},
	{"internal/fleet", 3_409, []string{"internal/fleet"}},
	{"internal/explain", 4_800, []string{"internal/explain/costmodel", "internal/explain internal/explain/price"}},
	{"internal/page", 3_850, []string{"internal/page/picture internal/page/flame internal/page/browsertest", "internal/page"}},
	{"internal/report", 13_075, []string{"internal/report/view internal/report/course internal/report/published", "internal/report/verdict internal/report/trend", "internal/report", "internal/report/serve"}},
	{"internal/cli", 10_171, []string{"internal/cli/catalog internal/cli/progress internal/cli/doctor internal/cli/watch internal/cli/export", "internal/cli", "cmd/rumbench"}},
	{"bench", 3_480, []string{"bench/slowed", "bench bench/peers bench/planted"}},
	{"scripts", 440, []string{"scripts/man scripts/suite"}},
	{"internal/archtest", 0, []string{"internal/archtest internal/doctest"}},
}

// clients are the modules that talk to databases, with the only folders that
// may import them.
var clients = map[string][]string{
	"github.com/cockroachdb/pebble":  {"engine/pebble", "bench/peers"},
	"github.com/dgraph-io/badger":    {"engine/badger", "bench/peers"},
	"github.com/dgraph-io/ristretto": {"engine/badger"}, // its cache
	"github.com/PowerDNS/lmdb-go":    {"engine/lmdb"},
	"go.etcd.io/bbolt":               {"engine/bbolt", "bench/peers"},
	"modernc.org/sqlite":             {"engine/sqlite"},
	"github.com/tidwall/btree":       {"engine/memory"},
	"github.com/nats-io":             {"internal/fleet"},
	"github.com/go-sql-driver/mysql": {"engine/mysql/mysqlwire"},
	"github.com/jackc/pgx":           {"engine/postgres/pgwire"},
	"github.com/tarantool":           {}, // only a benchmark compares with it
	"go.mongodb.org/mongo-driver":    {"engine/mongodb"},
	"database/sql":                   {"engine/sqlkit/stdsql", "engine/sqlite", "engine/mysql/mysqlwire"},
}

// place is where a package is: the numbers of its room and of its floor there.
type place struct{ room, floor int }

func (p place) below(o place) bool {
	return cmp.Or(cmp.Compare(p.room, o.room), cmp.Compare(p.floor, o.floor)) > 0
}

func placeOf(pkg string) (place, bool) {
	family := path.Dir(pkg) + "/*"
	found, ok := place{}, false
	for r := range rooms {
		for f, floor := range rooms[r].floors {
			names := strings.Fields(floor)
			if slices.Contains(names, pkg) {
				return place{r, f}, true
			}
			if slices.Contains(names, family) {
				found, ok = place{r, f}, true
			}
		}
	}
	return found, ok
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
	expect.NoError(t, err)
	expect.True(t, seen >= 50, "only", seen, "files were found")
}

func TestImports(t *testing.T) {
	for dir, files := range sources(t) {
		for _, file := range files {
			for _, im := range file.syntax.Imports {
				imported, err := strconv.Unquote(im.Path.Value)
				expect.NoError(t, err)
				checkImport(t, dir, imported)
			}
		}
	}
}

func checkImport(t *testing.T, pkg, imported string) {
	t.Helper()
	importer, ok := placeOf(pkg)
	if !ok {
		t.Errorf("package %s is in no room", pkg)
		return
	}
	for client, homes := range clients {
		expect.True(t, imported != client && !strings.HasPrefix(imported, client+"/") || slices.Contains(homes, pkg),
			pkg, "imports", imported, "which only", homes, "may")
	}
	own, ok := strings.CutPrefix(imported, module)
	if !ok {
		return
	}
	expect.True(t, !slices.Contains(suites, own) || slices.Contains(suites, pkg) || pkg == "scripts/suite",
		pkg, "imports", own, "which only tests may")
	switch p, ok := placeOf(own); {
	case !ok:
		t.Errorf("%s imports %s, which is in no room", pkg, own)
	case !importer.below(p):
		t.Errorf("%s (room %s, floor %d) imports %s (room %s, floor %d): only what is above may be imported",
			pkg, rooms[importer.room].name, importer.floor, own, rooms[p.room].name, p.floor)
	}
}

// TestBudgets: the lines of a room are within its budget, and the budget shrinks with
// them.
func TestBudgets(t *testing.T) {
	lines := make([]int, len(rooms))
	for dir, files := range sources(t) {
		p, ok := placeOf(dir)
		if !ok || slices.Contains(suites, dir) { // TestImports names what is in no room
			continue
		}
		for _, file := range files {
			lines[p.room] += strings.Count(file.text, "\n")
		}
	}
	total := 0
	for i, r := range rooms {
		total += lines[i]
		switch {
		case lines[i] > r.lines:
			t.Errorf("%s has %d lines, more than its budget of %d", r.name, lines[i], r.lines)
		case lines[i] < r.lines-r.lines/50:
			t.Errorf("%s has %d lines: lower its budget of %d", r.name, lines[i], r.lines)
		}
	}
	expect.True(t, total <= mostTotal, total, "lines in all, more than", mostTotal)
}
