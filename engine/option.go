package engine

import (
	"cmp"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// OptionReader reads the options of a configuration, with a default for those that are not set. Err is the first
// error.
type OptionReader struct {
	Err     error
	options map[string]any
}

// ReadOptions returns a reader of the configuration's options.
func (c Config) ReadOptions() *OptionReader { return &OptionReader{options: c.Options} }

// Refuse refuses an option's value, unless one was refused before.
func (r *OptionReader) Refuse(name, reason string, args ...any) {
	r.Err = cmp.Or(r.Err, Refuse(OptionKnob+name, r.options[name], reason, args...))
}

// Read returns an option as convert reads it.
func Read[T any](r *OptionReader, name string, def T, expected string, convert func(any) (T, bool)) T {
	v, ok := r.options[name]
	if !ok {
		return def
	}
	out, ok := convert(v)
	if !ok {
		r.Refuse(name, "%s", expected)
	}
	return out
}

func as[T any](v any) (T, bool) {
	out, ok := v.(T)
	return out, ok
}

// Bool returns an option that is true or false.
func (r *OptionReader) Bool(name string, def bool) bool {
	return Read(r, name, def, "it must be true or false", as[bool])
}

// Text returns an option that is a text.
func (r *OptionReader) Text(name, def string) string {
	return Read(r, name, def, "it must be a text", as[string])
}

// Choice returns an option that is one of choices, the first by default.
func (r *OptionReader) Choice(name string, choices ...string) string {
	v, ok := r.options[name]
	if !ok {
		return choices[0]
	}
	r.Err = cmp.Or(r.Err, Choose(OptionKnob+name, v, choices...))
	text, _ := v.(string)
	return text
}

// Between is Read of an option with limits.
func Between[T cmp.Ordered](r *OptionReader, name string, def, low, greatest T, expected string,
	convert func(any) (T, bool)) (out T) {
	out = Read(r, name, def, expected, convert)
	if _, set := r.options[name]; set && (out < low || out > greatest) {
		r.Refuse(name, "it must be from %v to %v", low, greatest)
		out = *new(T)
	}
	return out
}

// Int returns an option that is a whole number.
func (r *OptionReader) Int(name string, def, low, greatest int64) int64 {
	return Between(r, name, def, low, greatest, "it must be a whole number", wholeNumber)
}

// Size returns an option in bytes, which may be written as a size such as 64MiB.
func (r *OptionReader) Size(name string, def, low, greatest int64) int64 {
	const expected = "it must be a size such as 64MiB, or a number of bytes"
	return Between(r, name, def, low, greatest, expected, func(v any) (int64, bool) {
		if text, ok := v.(string); ok {
			n, err := quantity.ParseSize(text)
			return n, err == nil
		}
		return wholeNumber(v)
	})
}

func wholeNumber(v any) (int64, bool) {
	switch n := v.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case uint64:
		return int64(n), true
	}
	return 0, false
}

// CheckIsolation refuses a level that the engine does not have.
func (c Config) CheckIsolation(has ...model.Isolation) error {
	if c.Isolation == model.DefaultIsolation || slices.Contains(has, c.Isolation) {
		return nil
	}
	if len(has) == 0 {
		return Refuse("isolation", c.Isolation, "the engine has no isolation levels")
	}
	names := quantity.Texts(has, model.Isolation.String)
	return Refuse("isolation", c.Isolation, "the engine supports only %s", strings.Join(names, ", "))
}

// CheckDiskless refuses every knob and every durability but none, for an engine
// that stores nothing on disk. has are its isolation levels.
func (c Config) CheckDiskless(has ...model.Isolation) error {
	return cmp.Or(
		RefuseIf(c.Durability != model.DurabilityNone, "durability", c.Durability,
			"the engine stores nothing on disk; only none is possible"),
		RefuseIf(c.Cache != 0, "cache", nil, "the engine has no cache"),
		RefuseIf(c.Compresses(), "compression", c.Compression, "the engine does not compress; only none is possible"),
		RefuseIf(c.Page != 0, "page", nil, "the engine has no pages"),
		RefuseIf(c.Direct(), "direct_io", true, "the engine does no I/O"),
		c.CheckEmbedded(nil, has...))
}
