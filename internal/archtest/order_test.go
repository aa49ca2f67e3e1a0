package archtest_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// recursions are the arrows between files that run up because what they declare is recursive.
var recursions = map[string][]string{"workload/declared": {"expression.go names generator.go"}}

// mapLine is a line of a package's comment that names files, from those that a reader begins with.
var mapLine = regexp.MustCompile(`(?m)^//\t((?:\w+\.go ?)+)`)

// A package whose comment says that its files name only files after them, and lists them, lists each once, and they do.
func TestOrder(t *testing.T) {
	packages := 0
	for _, dir := range goDirs(t) {
		fset := token.NewFileSet()
		parsed, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		expect.NoError(t, err)
		var files []*ast.File
		order := []string{}
		names := []string{"doc.go"}
		for _, path := range parsed {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file := expect.Value(parser.ParseFile(fset, path, nil, parser.ParseComments))(t)
			files = append(files, file)
			if filepath.Base(path) != "doc.go" {
				names = append(names, filepath.Base(path))
				continue
			}
			if text := comment(file); strings.Contains(text, "Its files name only files after them") {
				for _, m := range mapLine.FindAllStringSubmatch(text, -1) {
					order = append(order, strings.Fields(m[1])...)
				}
			}
		}
		if len(order) == 0 {
			continue
		}
		packages++
		expect.Same(t, slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(append(order, "doc.go"))))
		expect.Same(t, recursions[dir], upward(fset, files, order))
	}
	expect.True(t, packages > 1, "packages that list their files:", packages)
}

// comment returns the text of a package's comment as written.
func comment(f *ast.File) string {
	var lines []string
	for _, c := range f.Doc.List {
		lines = append(lines, c.Text)
	}
	return strings.Join(lines, "\n")
}

// upward lists which files name declarations of files before them.
func upward(fset *token.FileSet, files []*ast.File, order []string) (out []string) {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, files, info) // what other packages declare is unknown here
	for id, named := range info.Uses {
		_, isFunc := named.(*types.Func) // among them methods
		if named.Pkg() != pkg || named.Parent() != pkg.Scope() && !isFunc {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(named.Pos()).Filename)
		if arrow := from + " names " + to; slices.Index(order, to) < slices.Index(order, from) && !slices.Contains(out, arrow) {
			out = append(out, arrow)
		}
	}
	slices.Sort(out)
	return out
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not read") }

// goDirs returns the folders with Go files.
func goDirs(t *testing.T) (dirs []string) {
	walk(t, func(path string) {
		if dir := filepath.ToSlash(filepath.Dir(path)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	})
	return dirs
}
