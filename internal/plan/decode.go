package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rumbench/internal/hint"
	"rumbench/internal/quantity"
)

// document is the text of a plan, with its overrides, that is read into nodes,
// and what is wrong with it.
type document struct {
	problems hint.Problems
	places   []level // for hints at where an unknown key belongs
}

// binder turns the nodes of a document into a plan.
type binder struct {
	document
	cat      Catalog
	file     string // the plan's
	force    bool
	look     func(kind, binary string) // looks at the program of a server; nil: run nothing
	attached []*bound                  // targets with a data source name
}

func (d *document) at(n *node, reason, help string) {
	d.problems = append(d.problems, n.src.problem(n.line, n.column, reason, help))
}

// is reports whether a node is of a kind; if not, that is a problem.
func (d *document) is(n *node, k kind, reason, help string) bool {
	if n.kind != k && n.kind != broken {
		d.at(n, reason, help)
	}
	return n.kind == k
}

// fields are the entries of a mapping.
type fields struct {
	in *document
	of *node
}

// fields returns the entries of a node that must be a mapping with known keys; an
// empty node counts as one. It returns no fields for any other node, and for nil.
func (d *document) fields(n *node, what string, known []string) fields {
	f := fields{d, &node{kind: mapping}}
	if n == nil || n.isNull() || !d.is(n, mapping, what+" must be a map of keys", "write {key: value, …}, or each key: value on its own line below") {
		return f
	}
	f.of = n
	for _, e := range n.entries {
		if !slices.Contains(known, e.key.text) {
			d.at(e.key, fmt.Sprintf("unknown key %q in %s", e.key.text, what), d.meant(e.key.text, known))
		}
	}
	return f
}

// value returns the node of a key, nil if it is absent or already reported as wrong.
func (f fields) value(key string) *node {
	n := f.of.get(key)
	switch {
	case n == nil || n.kind == broken:
		return nil
	case n.isNull():
		f.in.at(n, key+" has no value", "give it one, or remove the key")
		return nil
	}
	return n
}

// bind reads the scalar of a key, if present, into to.
func bind[T any](f fields, key string, to *T, read func(*node) (T, error)) {
	n := f.value(key)
	if n == nil || !f.in.is(n, scalar, key+" is a single value, not a map or list", "") {
		return
	}
	v, err := read(n)
	if err != nil {
		f.in.at(n, key+": "+err.Error(), hint.Of(err))
		return
	}
	*to = v
}

// word reads a text, which may look like a number.
func word(n *node) (string, error) {
	if n.text == "" {
		return "", hint.Errorf("", "the text is empty")
	}
	return n.text, nil
}

func oneLine(n *node) (string, error) {
	if s := strings.TrimSpace(n.text); s == "" || hasControl(s) {
		return "", hint.Errorf("", "%q is not one line of text", n.text)
	}
	return word(n)
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

func boolean(n *node) (bool, error) {
	if v, ok := n.value.(bool); ok {
		return v, nil
	}
	return false, hint.Errorf("write true or false", "%q is neither true nor false", n.text)
}

// integer returns a reader of a whole number.
func integer[T int | int64](least, greatest T) func(*node) (T, error) {
	return func(n *node) (T, error) {
		if v, ok := n.value.(int64); ok && v >= int64(least) && v <= int64(greatest) {
			return T(v), nil
		}
		return 0, hint.Errorf("", "%q is not a whole number from %d to %d", n.text, least, greatest)
	}
}

func seed(n *node) (uint64, error) {
	v, ok := n.value.(uint64) // what is too large for int64
	if small, is := n.value.(int64); is && small >= 0 {
		v, ok = uint64(small), true
	}
	if !ok {
		return 0, hint.Errorf("", "%q is not a whole number from 0 to %d", n.text, uint64(math.MaxUint64))
	}
	return v, nil
}

func number(n *node) (float64, bool) {
	switch v := n.value.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// share returns a reader of a number of at most 1, or a percentage.
func share(least float64) func(*node) (float64, error) {
	return func(n *node) (float64, error) {
		v, ok := number(n)
		if percent, found := strings.CutSuffix(n.text, "%"); found && !ok {
			var err error
			v, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
			v, ok = v/100, err == nil
		}
		if ok && v >= least && v <= 1 {
			return v, nil
		}
		return 0, hint.Errorf("a share such as 0.01, which is 1%", "%q is not a share from %g to 1", n.text, least)
	}
}

func duration(least, greatest time.Duration) func(*node) (time.Duration, error) {
	return func(n *node) (time.Duration, error) {
		d, err := quantity.ParseDuration(n.text)
		if seconds, ok := number(n); ok {
			// Clamped, as the result of an overflowing conversion is undefined.
			d, err = time.Duration(min(max(seconds, -1e9), 1e9)*float64(time.Second)), nil
		}
		if err != nil {
			return 0, hint.Errorf("such as 500ms, 30s, 5min or 2h30m; a bare number is seconds", "%q is not a duration", n.text)
		}
		if d < least || d > greatest {
			return 0, hint.Errorf("", "%q is not between %v and %v", n.text, least, greatest)
		}
		return d, nil
	}
}

// size reads a size. It refuses 0, which means the default to engines.
func size(n *node) (int64, error) {
	const help = "such as 256MiB or 64K (powers of 1024), 1GB or 500kB (powers of 1000), or a number of bytes"
	text := n.text
	if v, ok := n.value.(int64); ok {
		text = strconv.FormatInt(v, 10)
	}
	v, err := quantity.ParseSize(text)
	switch {
	case err != nil:
		return 0, hint.Errorf(help, "%v", err)
	case v == 0:
		return 0, hint.Errorf("remove the key to leave it to the engine", "%q is not at least one byte", n.text)
	}
	return v, nil
}

// oneOf returns a reader of one of the allowed values, by name.
func oneOf[T any](allowed ...T) func(*node) (T, error) {
	return func(n *node) (T, error) {
		names := make([]string, len(allowed))
		for i, a := range allowed {
			if names[i] = fmt.Sprint(a); n.text == names[i] {
				return a, nil
			}
		}
		var none T
		return none, hint.Errorf(hint.OneOf(n.text, names), "%q is not allowed", n.text)
	}
}
