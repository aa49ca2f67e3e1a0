package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/model"
)

// IntOption returns an integer option, def if it is not set.
func (c Config) IntOption(name string, def, least, greatest int64) (int64, error) {
	v, ok := c.Options[name]
	if !ok {
		return def, nil
	}
	var n int64
	switch x := v.(type) {
	case int:
		n = int64(x)
	case int64:
		n = x
	case uint64:
		n = int64(x)
	default:
		return 0, &KnobError{Knob: "options." + name, Value: fmt.Sprint(v), Reason: "it must be a whole number"}
	}
	if n < least || n > greatest {
		return 0, &KnobError{Knob: "options." + name, Value: fmt.Sprint(v), Reason: fmt.Sprintf("it must be from %d to %d", least, greatest)}
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
		return false, &KnobError{Knob: "options." + name, Value: fmt.Sprint(v), Reason: "it must be true or false"}
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
	for _, ch := range choices {
		if v == ch {
			return ch, nil
		}
	}
	return "", &KnobError{Knob: "options." + name, Value: fmt.Sprint(v), Reason: fmt.Sprintf("it must be one of %v", choices)}
}

// TimedAction runs f as an action of Settle and times it.
func TimedAction(name string, f func() error) ([]SettleAction, error) {
	start := time.Now()
	if err := f(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return []SettleAction{{Name: name, Duration: time.Since(start)}}, nil
}

// CheckIsolation refuses a level that the engine does not have.
func (c Config) CheckIsolation(has ...model.Isolation) error {
	if c.Isolation == model.DefaultIsolation || slices.Contains(has, c.Isolation) {
		return nil
	}
	reason := "the engine has no isolation levels"
	if len(has) > 0 {
		names := make([]string, len(has))
		for i, level := range has {
			names[i] = level.String()
		}
		reason = "the engine supports only " + strings.Join(names, ", ")
	}
	return &KnobError{Knob: "isolation", Value: c.Isolation.String(), Reason: reason}
}

// CheckDiskless refuses every knob and every durability but none, for an engine
// that stores nothing on disk. has are its isolation levels.
func (c Config) CheckDiskless(has ...model.Isolation) error {
	switch {
	case c.Durability != model.DurabilityNone:
		return &KnobError{Knob: "durability", Value: string(c.Durability), Reason: "the engine stores nothing on disk; only none is possible"}
	case c.Cache != 0:
		return &KnobError{Knob: "cache", Reason: "the engine has no cache"}
	case c.Compression != "" && c.Compression != model.CompressionNone:
		return &KnobError{Knob: "compression", Value: string(c.Compression), Reason: "the engine does not compress; only none is possible"}
	case c.Page != 0:
		return &KnobError{Knob: "page", Reason: "the engine has no pages"}
	case c.DirectIO != nil && *c.DirectIO:
		return &KnobError{Knob: "direct_io", Value: "true", Reason: "the engine does no I/O"}
	}
	return c.CheckEmbedded(nil, has...)
}
