package archtest_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// readers are the folders that read files without a limit: those of the kernel, of
// servers and libraries, and of the project itself. All others read files that users
// name, by internal/result/regular.
var readers = []string{"internal/server", "engine", "internal/observe", "internal/cli/doctor", "internal/result/regular", "internal/need", "internal/expect", "bench", "scripts"}

// TestReads: no file is read that never begins or never ends.
func TestReads(t *testing.T) {
	for dir, files := range sources(t) {
		if slices.ContainsFunc(readers, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") }) {
			continue
		}
		for path, file := range files {
			ast.Inspect(file.syntax, func(n ast.Node) bool {
				c, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch f := called(c); {
				case f == "os.ReadFile", f == "os.Open", f == "io.ReadAll" && !limits(c.Args[0]):
					t.Errorf("%s calls %s: files are read by internal/result/regular", path, f)
				}
				return true
			})
		}
	}
}

// called returns the name of the function of another package that is called.
func called(c *ast.CallExpr) string {
	f, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if pkg, ok := f.X.(*ast.Ident); ok {
		return pkg.Name + "." + f.Sel.Name
	}
	return ""
}

// limits reports whether a reader has an end.
func limits(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && slices.Contains([]string{"io.LimitReader", "io.NewSectionReader"}, called(c))
}
