package archtest_test

import (
	"go/ast"
	"go/token"
	"testing"

	"rumbench/internal/expect"
)

// banned are names that say nothing, or hide a builtin function.
var banned = map[string]bool{
	"of": true, "from": true, "to": true, "with": true, "most": true, "least": true, "what": true, "why": true, "did": true,
	"new": true, "min": true, "max": true, "len": true, "cap": true, "copy": true, "delete": true, "close": true,
	"clear": true, "print": true, "append": true, "make": true, "panic": true, "recover": true, "any": true, "string": true,
}

// particles are banned as names of methods, too.
var particles = map[string]bool{"of": true, "from": true, "to": true, "most": true, "least": true, "what": true,
	"why": true, "did": true}

// TestNames: identifiers are nouns and verbs, and hide no builtin. Methods may be called
// as a builtin is, as Close is.
func TestNames(t *testing.T) {
	for _, files := range sources(t) {
		for path, file := range files {
			for _, id := range declared(file.syntax) {
				expect.True(t, !banned[id.Name], path, "an identifier is called", id.Name)
			}
		}
	}
}

// declared returns the identifiers that a file declares, but for methods.
func declared(file *ast.File) (out []*ast.Ident) {
	define := func(tok token.Token, list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok && tok == token.DEFINE {
				out = append(out, id)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.InterfaceType:
			return false // its methods
		case *ast.FuncDecl:
			if n.Recv == nil || particles[n.Name.Name] {
				out = append(out, n.Name)
			}
		case *ast.Field:
			out = append(out, n.Names...)
		case *ast.ValueSpec:
			out = append(out, n.Names...)
		case *ast.TypeSpec:
			out = append(out, n.Name)
		case *ast.AssignStmt:
			define(n.Tok, n.Lhs...)
		case *ast.RangeStmt:
			define(n.Tok, n.Key, n.Value)
		}
		return true
	})
	return out
}
