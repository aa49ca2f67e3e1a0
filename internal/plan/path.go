package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
)

// paths are the paths in a plan.
type paths struct {
	plan  string // its file
	moved []moved
}

// located returns a path that the plan names, seen from the current directory: it is relative to the
// plan's directory, unless it is in an override, or in a plan from a pipe.
func (p *paths) located(n *strictyaml.Node) string {
	info, err := os.Stat(p.plan)
	if piped := err == nil && !info.Mode().IsRegular(); piped || filepath.IsAbs(n.Text) || !n.Source.IsFile() {
		return n.Text
	}
	return filepath.Join(filepath.Dir(p.plan), n.Text)
}

// elsewhere returns a hint if a path exists relative to the current directory only; else "".
func (p *paths) elsewhere(n *strictyaml.Node) string {
	_, there := os.Stat(p.located(n))
	_, here := os.Stat(n.Text)
	if there == nil || here != nil {
		return ""
	}
	meant, _ := filepath.Abs(n.Text)
	dir, _ := filepath.Abs(filepath.Dir(p.plan))
	if relative, err := filepath.Rel(dir, meant); err == nil {
		meant = relative
	}
	return "paths are relative to the plan's directory: write " + meant
}

// read returns the absolute path that a key names, if check accepts it; "" if there is none. The
// stored plan, which is in another directory, will name it so.
func (p *paths) read(f strictyaml.Fields, key string, check func(path string) error) (absolute string) {
	strictyaml.Bind(f, key, strictyaml.Text, func(string) { absolute = p.take(f.In, f.Value(key), key, check) })
	return absolute
}

// take is read for the node of a path.
func (p *paths) take(d *strictyaml.Document, n *strictyaml.Node, key string,
	check func(path string) error) (absolute string) {
	located, help := p.located(n), p.elsewhere(n)
	err := check(located)
	if help != "" {
		err = fmt.Errorf("there is no %s", located)
	}
	if err == nil {
		absolute, err = filepath.Abs(located)
	}
	if err != nil {
		d.At(n, key+": "+err.Error(), cmp.Or(help, hint.Of(err)))
		return ""
	}
	p.moved = append(p.moved, moved{n, absolute})
	return absolute
}

// moved is a path that the stored plan names differently.
type moved struct {
	at   *strictyaml.Node
	path string
}

// plain matches paths that need no quotes anywhere.
var plain = regexp.MustCompile(`^[\w./+-]+$`)

// relocate makes the plan, as it will be stored, name its files as they are named there. The text
// keeps its form if it can.
func (p *paths) relocate(root *strictyaml.Node, src []byte) []byte {
	slices.SortFunc(p.moved, func(a, o moved) int { // the last first: it moves no other
		return cmp.Or(cmp.Compare(o.at.Line, a.at.Line), cmp.Compare(o.at.Column, a.at.Column))
	})
	lines := bytes.SplitAfter(src, []byte("\n"))
	inPlace := true
	for _, m := range p.moved {
		written := m.at.Text
		if written == m.path {
			continue
		}
		m.at.Text, m.at.Value = m.path, m.path
		found := false
		if n := m.at; n.Source == root.Source && n.Line <= len(lines) && plain.MatchString(m.path) {
			line := lines[n.Line-1]
			position := n.Column - 1
			if found = position < len(line) && bytes.HasPrefix(line[position:], []byte(written)); found {
				lines[n.Line-1] = slices.Concat(line[:position], []byte(m.path), line[position+len(written):])
			}
		}
		inPlace = inPlace && found
	}
	if !inPlace { // one is quoted, or an override
		return root.YAML()
	}
	return bytes.Join(lines, nil)
}
