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
	build    func(t *Target) error     // looks for the rumbench that runs a target's trials; nil: any will do
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

// scalarOf reads the scalar of a key. Its shape is what it accepts.
type scalarOf[T any] struct {
	read  func(*node) (T, error)
	shape schema
}

// bind reads the scalar of a key, if present, and sets it.
func bind[T any](f fields, key string, r scalarOf[T], set func(T)) {
	n := f.value(key)
	if n == nil || !f.in.is(n, scalar, key+" is a single value, not a map or list", "") {
		return
	}
	v, err := r.read(n)
	if err != nil {
		f.in.at(n, key+": "+err.Error(), hint.Of(err))
		return
	}
	set(v)
}

// word reads a text, which may look like a number.
var word = scalarOf[string]{readWord, textShape}

func readWord(n *node) (string, error) {
	if n.text == "" {
		return "", hint.Errorf("", "the text is empty")
	}
	return n.text, nil
}

var oneLine = scalarOf[string]{func(n *node) (string, error) {
	if s := strings.TrimSpace(n.text); s == "" || hasControl(s) {
		return "", hint.Errorf("", "%q is not one line of text", n.text)
	}
	return readWord(n)
}, textShape.with("pattern", `^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$`)}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

var boolean = scalarOf[bool]{func(n *node) (bool, error) {
	if v, ok := n.value.(bool); ok {
		return v, nil
	}
	return false, hint.Errorf("write true or false", "%q is neither true nor false", n.text)
}, schema{"type": "boolean"}}

// integer returns a reader of a whole number.
func integer[T int | int64](least, greatest T) scalarOf[T] {
	return scalarOf[T]{func(n *node) (T, error) {
		if v, ok := n.value.(int64); ok && v >= int64(least) && v <= int64(greatest) {
			return T(v), nil
		}
		return 0, hint.Errorf("", "%q is not a whole number from %d to %d", n.text, least, greatest)
	}, integerShape(least, greatest)}
}

var seed = scalarOf[uint64]{func(n *node) (uint64, error) {
	v, ok := n.value.(uint64) // what is too large for int64
	if small, is := n.value.(int64); is && small >= 0 {
		v, ok = uint64(small), true
	}
	if !ok {
		return 0, hint.Errorf("", "%q is not a whole number from 0 to %d", n.text, uint64(math.MaxUint64))
	}
	return v, nil
}, integerShape(0, uint64(math.MaxUint64))}

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
func share(least float64) scalarOf[float64] {
	return scalarOf[float64]{func(n *node) (float64, error) {
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
	}, shareShape(schema{"minimum": least, "maximum": 1})}
}

func duration(least, greatest time.Duration) scalarOf[time.Duration] {
	return scalarOf[time.Duration]{func(n *node) (time.Duration, error) {
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
	}, durationShape.with("minimum", least.Seconds()).with("maximum", greatest.Seconds())}
}

// size reads a size. It refuses 0, which means the default to engines.
var size = scalarOf[int64]{func(n *node) (int64, error) {
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
}, sizeShape}

// oneOf returns a reader of one of the allowed values, by name.
func oneOf[T any](allowed ...T) scalarOf[T] {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = fmt.Sprint(a)
	}
	return scalarOf[T]{func(n *node) (none T, err error) {
		if i := slices.Index(names, n.text); i >= 0 {
			return allowed[i], nil
		}
		return none, hint.Errorf(hint.OneOf(n.text, names), "%q is not allowed", n.text)
	}, schema{"enum": names}}
}
