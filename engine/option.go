package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/model"
)

// IntOption reads a whole-numbered option; def stands in for one not given.
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

// BoolOption reads an option that is true or false; def stands in for one not given.
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

// ChoiceOption reads an option that is one of some words; the first stands in
// for one not given.
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

// TimedAction does one thing for Settle and reports how long it took.
func TimedAction(name string, f func() error) ([]SettleAction, error) {
	start := time.Now()
	if err := f(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return []SettleAction{{Name: name, Duration: time.Since(start)}}, nil
}

// CheckIsolation refuses another level than those that the engine has.
func (c Config) CheckIsolation(has ...model.Isolation) error {
	if c.Isolation == model.DefaultIsolation || slices.Contains(has, c.Isolation) {
		return nil
	}
	reason := "there are no levels to choose from"
	if len(has) > 0 {
		names := make([]string, len(has))
		for i, level := range has {
			names[i] = level.String()
		}
		reason = "only " + strings.Join(names, ", ") + " can be had"
	}
	return &KnobError{Knob: "isolation", Value: c.Isolation.String(), Reason: reason}
}

// CheckDiskless refuses every knob and every promise, for an engine that stores
// nothing on disk. Has are the isolation levels of its transactions.
func (c Config) CheckDiskless(has ...model.Isolation) error {
	switch {
	case c.Durability != model.DurabilityNone:
		return &KnobError{Knob: "durability", Value: string(c.Durability), Reason: "the engine stores nothing on disk; only none can be had"}
	case c.Cache != 0:
		return &KnobError{Knob: "cache", Reason: "the engine has no cache"}
	case c.Compression != "" && c.Compression != model.CompressionNone:
		return &KnobError{Knob: "compression", Value: string(c.Compression), Reason: "the engine does not compress; only none can be had"}
	case c.Page != 0:
		return &KnobError{Knob: "page", Reason: "the engine has no pages"}
	case c.DirectIO != nil && *c.DirectIO:
		return &KnobError{Knob: "direct_io", Value: "true", Reason: "the engine does no input or output"}
	}
	return c.CheckEmbedded(nil, has...)
}
