package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Document is a file, with its overrides, that is read into nodes, and the problems
// found in it.
type Document struct {
	What     string // its kind: "plan"
	Least    string // the shortest valid one
	Problems hint.Problems
	// Meant returns a hint at the key that was meant by an unknown one; nil: at the
	// most similar known one.
	Meant func(key string, known []string) string
}

func (d *Document) At(n *Node, reason, help string) {
	if p := n.Source.Problem(n.Line, n.Column, reason, help); !slices.Contains(d.Problems, p) {
		d.Problems = append(d.Problems, p)
	}
}

// Is reports whether a node is of a kind; if not, that is a problem.
func (d *Document) Is(n *Node, k Kind, reason, help string) bool {
	if n.Kind != k && n.Kind != Broken {
		d.At(n, reason, help)
	}
	return n.Kind == k
}

func (d *Document) meant(key string, known []string) string {
	if d.Meant == nil {
		return hint.OneOf(key, known)
	}
	return d.Meant(key, known)
}

// Fields are the entries of a mapping.
type Fields struct {
	In *Document
	Of *Node
}

// Fields returns the entries of a node that must be a mapping with known keys; an
// empty node counts as one. It returns no Fields for any other node, and for nil.
func (d *Document) Fields(n *Node, subject string, known []string) Fields {
	f := Fields{d, &Node{Kind: Mapping}}
	if n != nil { // for problems of the whole
		f.Of.Source, f.Of.Line, f.Of.Column = n.Source, n.Line, n.Column
	}
	if n == nil || n.IsNull() || !d.Is(n, Mapping, subject+" must be a map of keys",
		"write {key: value, …}, or each key: value on its own line below") {
		return f
	}
	f.Of = n
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key.Text) {
			d.At(e.Key, fmt.Sprintf("unknown key %q in %s", e.Key.Text, subject), d.meant(e.Key.Text, known))
		}
	}
	return f
}

// Value returns the node of a key, nil if it is absent or already reported as wrong.
func (f Fields) Value(key string) *Node {
	n := f.Of.Get(key)
	switch {
	case n == nil || n.Kind == Broken:
		return nil
	case n.IsNull():
		f.In.At(n, key+" has no value", "give it one, or remove the key")
		return nil
	}
	return n
}

// ScalarOf reads the scalar of a key. Its shape describes the accepted values.
type ScalarOf[T any] struct {
	Read  func(*Node) (T, error)
	Shape Shape
}

// NewScalar returns a reader of scalars of a shape.
func NewScalar[T any](read func(*Node) (T, error), shape Shape) ScalarOf[T] {
	return ScalarOf[T]{read, shape}
}

// Bind reads the scalar of a key, if present, and sets it.
func Bind[T any](f Fields, key string, r ScalarOf[T], set func(T)) {
	n := f.Value(key)
	if n == nil || !f.In.Is(n, Scalar, key+" is a single value, not a map or list", "") {
		return
	}
	v, err := r.Read(n)
	if err != nil {
		f.In.At(n, key+": "+err.Error(), hint.Of(err))
		return
	}
	set(v)
}

// Text reads a text, which may look like a number.
var Text = ScalarOf[string]{readWord, TextShape}

func readWord(n *Node) (string, error) {
	if n.Text == "" {
		return "", hint.Errorf("", "the text is empty")
	}
	return n.Text, nil
}

var OneLine = ScalarOf[string]{func(n *Node) (string, error) {
	if s := strings.TrimSpace(n.Text); s == "" || HasControl(s) {
		return "", hint.Errorf("", "%q is not one line of text", n.Text)
	}
	return readWord(n)
}, TextShape.With("pattern", `^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$`)}

func HasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// Names refuses keys of a map that are no names of one line.
func (d *Document) Names(n *Node) {
	for _, e := range n.Entries {
		if HasControl(e.Key.Text) || strings.TrimSpace(e.Key.Text) == "" {
			d.At(e.Key, fmt.Sprintf("the name %q is not one line of text", e.Key.Text), "")
		}
	}
}

var Boolean = ScalarOf[bool]{func(n *Node) (bool, error) {
	if v, ok := n.Value.(bool); ok {
		return v, nil
	}
	return false, hint.Errorf("write true or false", "%q is neither true nor false", n.Text)
}, Shape{"type": "boolean"}}

// Integer returns a reader of a whole number.
func Integer[T int | int64](low, greatest T) ScalarOf[T] {
	return ScalarOf[T]{func(n *Node) (T, error) {
		if v, ok := n.Value.(int64); ok && v >= int64(low) && v <= int64(greatest) {
			return T(v), nil
		}
		return 0, hint.Errorf("", "%q is not a whole number from %d to %d", n.Text, low, greatest)
	}, integerShape(low, greatest)}
}

var Unsigned = ScalarOf[uint64]{func(n *Node) (uint64, error) {
	v, ok := n.Value.(uint64) // a value too large for int64
	if small, is := n.Value.(int64); is && small >= 0 {
		v, ok = uint64(small), true
	}
	if !ok {
		return 0, hint.Errorf("", "%q is not a whole number from 0 to %d", n.Text, uint64(math.MaxUint64))
	}
	return v, nil
}, integerShape(0, uint64(math.MaxUint64))}

func Number(n *Node) (float64, bool) {
	switch v := n.Value.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Share returns a reader of a number of at most 1, or a percentage.
func Share(lowest float64) ScalarOf[float64] {
	return ScalarOf[float64]{func(n *Node) (float64, error) {
		v, ok := Number(n)
		if percent, found := strings.CutSuffix(n.Text, "%"); found && !ok {
			var err error
			v, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
			v, ok = v/100, err == nil
		}
		if ok && v >= lowest && v <= 1 {
			return v, nil
		}
		return 0, hint.Errorf("a share such as 0.01, which is 1%", "%q is not a share from %g to 1", n.Text, lowest)
	}, ShareShape(Shape{"minimum": lowest, "maximum": 1})}
}

func Duration(low, greatest time.Duration) ScalarOf[time.Duration] {
	return ScalarOf[time.Duration]{func(n *Node) (time.Duration, error) {
		d, err := quantity.ParseDuration(n.Text)
		if seconds, ok := Number(n); ok {
			d, err = quantity.Seconds(seconds)
		}
		long := errors.Is(err, quantity.ErrLong)
		if err != nil && !long {
			return 0, hint.Errorf("such as 500ms, 30s, 5min or 2h30m; a bare number is seconds", "%q is not a duration", n.Text)
		}
		if long || d < low || d > greatest {
			return 0, hint.Errorf("", "%q is not between %s and %s", n.Text, brief(low), brief(greatest))
		}
		return d, nil
	}, durationShape.With("minimum", low.Seconds()).With("maximum", greatest.Seconds())}
}

// brief writes a duration as people do: 24h, not 24h0m0s.
func brief(d time.Duration) string {
	text := d.String()
	if short, zero := strings.CutSuffix(text, "m0s"); zero {
		text = short + "m"
	}
	if short, zero := strings.CutSuffix(text, "h0m"); zero {
		text = short + "h"
	}
	return text
}

// Size reads a Size. It refuses 0, which means the default to engines.
var Size = ScalarOf[int64]{func(n *Node) (int64, error) {
	const help = "such as 256MiB or 64K (powers of 1024), 1GB or 500kB (powers of 1000), or a number of bytes"
	text := n.Text
	if v, ok := n.Value.(int64); ok {
		text = strconv.FormatInt(v, 10)
	}
	v, err := quantity.ParseSize(text)
	switch {
	case err != nil:
		return 0, hint.Errorf(help, "%v", err)
	case v == 0:
		return 0, hint.Errorf("remove the key to leave it to the engine", "%q is not at least one byte", n.Text)
	}
	return v, nil
}, SizeShape}

// OneOf returns a reader of one of the allowed values, by name.
func OneOf[T any](allowed ...T) ScalarOf[T] {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = fmt.Sprint(a)
	}
	return ScalarOf[T]{func(n *Node) (none T, err error) {
		if i := slices.Index(names, n.Text); i >= 0 {
			return allowed[i], nil
		}
		return none, hint.Errorf(hint.OneOf(n.Text, names), "%q is not allowed", n.Text)
	}, Shape{"enum": names}}
}

// List returns the items of a key that must be a List.
func (f Fields) List(key, help string) []*Node {
	n := f.Value(key)
	if n == nil || !f.In.Is(n, List, key+" must be a list", help) {
		return nil
	}
	return n.Items
}

// Record returns the entries of a node that must be a mapping with known keys, of
// which some are required.
func (d *Document) Record(n *Node, subject string, known []string, required ...string) (f Fields, ok bool) {
	if !d.Is(n, Mapping, subject+" must be a map of keys", "its keys: "+strings.Join(known, ", ")) {
		return f, false
	}
	f = d.Fields(n, subject, known)
	for _, key := range required {
		if n.Get(key) == nil {
			d.At(n, fmt.Sprintf("%s has no %s", subject, key), "")
		}
	}
	return f, true
}

// Prose reads a text that may span several lines.
var Prose = ScalarOf[string]{func(n *Node) (string, error) {
	s := strings.Join(strings.Fields(n.Text), " ")
	if s == "" {
		return "", hint.Errorf("", "the text is empty")
	}
	return s, nil
}, TextShape.With("pattern", `\S`)}

// Words returns the items of a key that is a name or a list of names, each as read
// returns it, and each once; read may be nil.
func (f Fields) Words(key, help string, read func(string) (string, error)) (out []string) {
	n := f.Value(key)
	if n == nil {
		return nil
	}
	items := []*Node{n}
	if n.Kind == List {
		if items = n.Items; len(items) == 0 {
			f.In.At(n, key+" is empty", help)
		}
	}
	for _, item := range items {
		if !f.In.Is(item, Scalar, key+" is a name or a list of names", help) || item.Kind == Broken {
			continue
		}
		name, err := item.Text, error(nil)
		if read != nil {
			name, err = read(item.Text)
		}
		switch {
		case err != nil:
			f.In.At(item, key+": "+err.Error(), hint.Of(err))
		case slices.Contains(out, name):
			f.In.At(item, fmt.Sprintf("%s: %s is given twice", key, item.Text), "remove one")
		default:
			out = append(out, name)
		}
	}
	return out
}
