package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// IntOption returns an integer option, def if it is not set.
func (c Config) IntOption(name string, def, low, greatest int64) (int64, error) {
	return c.wholeOption(name, def, low, greatest, "it must be a whole number",
		func(string) (int64, error) { return 0, strconv.ErrSyntax })
}

// SizeOption returns an option in bytes, which may be written as a size such as
// 64MiB; def if it is not set.
func (c Config) SizeOption(name string, def, low, greatest int64) (int64, error) {
	return c.wholeOption(name, def, low, greatest, "it must be a size such as 64MiB, or a number of bytes",
		quantity.ParseSize)
}

// wholeOption returns an option that is a whole number, or a text that parse reads
// as one.
func (c Config) wholeOption(name string, def, low, greatest int64, subject string,
	parse func(string) (int64, error)) (n int64, err error) {
	v, ok := c.Options[name]
	if !ok {
		return def, nil
	}
	switch x := v.(type) {
	case int:
		n = int64(x)
	case int64:
		n = x
	case uint64:
		n = int64(x)
	case string:
		n, err = parse(x)
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return 0, Refuse("options."+name, v, "%s", subject)
	}
	if n < low || n > greatest {
		return 0, Refuse("options."+name, v, "it must be from %d to %d", low, greatest)
	}
	return n, nil
}

// BoolOption returns a boolean option, def if it is not set.
func (c Config) BoolOption(name string, def bool) (bool, error) {
	v, ok := c.Options[name]
	if !ok {
		return def, nil
	}
	b, ok := v.(bool)
	if !ok {
		return false, Refuse("options."+name, v, "it must be true or false")
	}
	return b, nil
}

// ChoiceOption returns an option that is one of choices, the first if it is not
// set.
func (c Config) ChoiceOption(name string, choices ...string) (string, error) {
	v, ok := c.Options[name]
	if !ok {
		return choices[0], nil
	}
	if err := Choose("options."+name, v, choices...); err != nil {
		return "", err
	}
	return v.(string), nil
}

// TextOption returns an option that is a text, def if it is not set.
func (c Config) TextOption(name, def string) (string, error) {
	v, ok := c.Options[name]
	if !ok {
		return def, nil
	}
	text, ok := v.(string)
	if !ok {
		return "", Refuse("options."+name, v, "it must be a text")
	}
	return text, nil
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
