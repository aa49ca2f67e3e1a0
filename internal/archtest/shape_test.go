package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"rumbench/internal/expect"
)

// The limits of shape. A struct that needs more fields says why in its comment,
// with the words "many fields".
const (
	mostMethods = 25
	mostFields  = 15
	mostColumns = 120
	mostLines   = 500 // of a file
)

// tables are the files that hold tables of data, whose lines may be long: an
// entry of parameters, options, counters or metrics is read as a row.
var tables = map[string]bool{
	"internal/metric/catalogue.go": true, "internal/remark/table.go": true,
	"internal/plan/keys.go": true, "workload/declared/keys.go": true, "workload/declared/catalogue.go": true, "workload/ibench/ibench.go": true, "workload/linkbench/params.go": true, "workload/rollup/rollup.go": true, "workload/sysbench/sysbench.go": true, "workload/sysbench/presets.go": true, "workload/sysbench/test.go": true, "workload/telemetry/telemetry.go": true, "workload/tpcc/params.go": true,
	"engine/mysql/counters.go": true, "engine/mysql/mysql.go": true, "engine/postgres/postgres.go": true, "engine/sqlite/sqlite.go": true,
	"engine/sqlkit/sqlkittest/golden.go": true,
}

// TestShape: a receiver has few methods, a struct few fields, a line few columns,
// and each package says what it is for.
func TestShape(t *testing.T) {
	for dir, files := range sources(t) {
		methods := map[string]int{}
		documented := false
		for path, file := range files {
			documented = documented || file.syntax.Doc != nil
			checkLines(t, path, file.text)
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					methods[receiver(n)]++
				case *ast.GenDecl:
					checkStructs(t, path, n)
				}
				return true
			})
		}
		expect.True(t, documented, "package", dir, "has no comment that says what it is for")
		delete(methods, "")
		for name, n := range methods {
			expect.True(t, n <= mostMethods, dir, ".", name, "has", n, "methods, more than", mostMethods)
		}
	}
}

// source is a parsed file.
type source struct {
	syntax *ast.File
	text   string
}

// sources returns the files of all packages without tests, by folder and path.
func sources(t *testing.T) map[string]map[string]source {
	t.Helper()
	out := map[string]map[string]source{}
	walk(t, func(path string) {
		b, err := os.ReadFile(filepath.Join(root, path))
		expect.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), path, b, parser.ParseComments)
		expect.NoError(t, err)
		dir := filepath.ToSlash(filepath.Dir(path))
		if out[dir] == nil {
			out[dir] = map[string]source{}
		}
		out[dir][filepath.ToSlash(path)] = source{file, string(b)}
	})
	return out
}

// receiver returns the name of the type that a method is of; "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

func checkLines(t *testing.T, path, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	expect.True(t, len(lines) <= mostLines || tables[path], path, "has", len(lines), "lines, more than", mostLines)
	raw := false // in a string of several lines, such as a statement or an expression
	for i, line := range lines {
		quotes := strings.Count(line, "`")
		data := raw || quotes > 0
		raw = raw != (quotes%2 == 1)
		if n := utf8.RuneCountInString(line); n > mostColumns && !data && !tables[path] {
			t.Errorf("%s:%d has %d columns, more than %d", path, i+1, n, mostColumns)
		}
	}
}

func checkStructs(t *testing.T, path string, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		typ, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		s, ok := typ.Type.(*ast.StructType)
		if !ok {
			continue
		}
		n := 0
		for _, f := range s.Fields.List {
			n += max(1, len(f.Names))
		}
		if comment := strings.Join(strings.Fields(d.Doc.Text()+typ.Doc.Text()), " "); n > mostFields && !strings.Contains(comment, "many fields") {
			t.Errorf("%s: struct %s has %d fields, more than %d, and its comment does not say why it has many fields", path, typ.Name.Name, n, mostFields)
		}
	}
}
