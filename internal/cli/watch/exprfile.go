package watch

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"rumbench/internal/text/hint"
)

// maxExprFile is the maximum size of a file of expressions: the YAML parser takes
// time quadratic in the size.
const maxExprFile = 64 << 10

const fileHint = `a file of expressions has lines like: read_share: rate("device.reads") / sum(rate("device.*s"))`

// ParseExprFile parses expressions from YAML: a map of names to expressions.
func ParseExprFile(path string, src []byte) ([]*Expression, error) {
	if len(src) > maxExprFile {
		return nil, hint.Errorf(fileHint, "%s: longer than %d KiB", path, maxExprFile>>10)
	}
	var entries yaml.MapSlice // in the order of the file
	if err := yaml.Unmarshal(src, &entries); err != nil {
		return nil, hint.Errorf(fileHint, "%s: a map of names to expressions was expected: %w", path, err)
	}
	var all []*Expression
	for _, entry := range entries {
		name := fmt.Sprint(entry.Key)
		before, _, _ := strings.Cut("\n"+string(src), "\n"+name+":")
		where := fmt.Sprintf("%s:%d: %s", path, 1+strings.Count(before, "\n"), name)
		switch entry.Value.(type) {
		case string, int64, uint64, float64:
		default:
			return nil, hint.Errorf(fileHint, "%s is not an expression", where)
		}
		e, err := ParseExpression(where, name, fmt.Sprint(entry.Value))
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// CheckNames refuses duplicate names of expressions, and the names of built-in
// ones.
func CheckNames(list []*Expression) error {
	seen := make(map[string]bool)
	for _, b := range usual.Derived {
		seen[b.Name] = true
	}
	for _, e := range list {
		if seen[e.Name] {
			return hint.Errorf("names may be given once, and rumbench stat --list shows those that are built in",
				"expression %s: another one has that name", e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}
