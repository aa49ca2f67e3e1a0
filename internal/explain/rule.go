package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/model"
)

// condition reports whether a rule holds for a cause.
type condition = func(s *Step, c *Cause) bool

// wording is a text of a rule.
type wording = func(s *Step, c *Cause) string

// naming is a rule for some items: when it holds, its sentence, and what drives the item.
type naming struct {
	rule     Rule
	evidence Evidence
	items    []Item
	when     condition // nil: always
	sentence wording
	driver   wording // nil: the item is the reason, or its reason is not known
}

// says is a sentence whose gap is the change, and the knob that differs and affects it.
func says(format string, aspects ...engine.Aspect) wording {
	return func(s *Step, c *Cause) string {
		return fmt.Sprintf(format, c.change()) + knobsInBrackets(s, aspects...)
	}
}

// states is the item's name with its change.
func states(_ *Step, c *Cause) string { return fmt.Sprintf("%s: %s", c.Item, c.change()) }

// withKnobs is a text followed by the knobs that affect it.
func withKnobs(text wording, aspects ...engine.Aspect) wording {
	return func(s *Step, c *Cause) string { return text(s, c) + knobsInBrackets(s, aspects...) }
}

// knob is a clause about the knobs that affect any of these.
func knob(aspects ...engine.Aspect) wording {
	return func(s *Step, _ *Cause) string { return "of " + knobs(s, aspects...) }
}

// takes reports how much CPU is used, how long operations take, or how long sessions wait.
func takes(s *Step, c *Cause) string {
	change := c.change()
	switch format := items[c.Item].says; {
	case c.Item == Server && s.New.embedded():
		return name(&s.New) + " needs " + change + " of CPU"
	case c.Item == Server:
		return name(&s.New) + " needs " + change + " of server CPU"
	case format == "":
		return fmt.Sprintf("sessions wait %s for %s", change, c.Item)
	default:
		return fmt.Sprintf(format, change)
	}
}

// values is a text whose gap is a number of both sides.
func values(format string, show func(float64) string, n measure) wording {
	return func(s *Step, _ *Cause) string {
		base, other := n.sides(s)
		return fmt.Sprintf(format, instead(show, base, other))
	}
}

// knobsInBrackets names the knobs that differ and affect any of these, in brackets; "" if none does.
func knobsInBrackets(s *Step, aspects ...engine.Aspect) string {
	return filled(" (%s)", knobs(s, aspects...))
}

// blocks are aspects of what a cache holds and a read fetches. Knobs of these affect the same
// numbers.
var blocks = []engine.Aspect{engine.AspectCompression, engine.AspectPageSize, engine.AspectCache}

// knobs names the knobs that differ and affect any of these, with those that affect the same
// numbers; "" if none of the first does.
func knobs(s *Step, aspects ...engine.Aspect) string {
	affected := func(by []engine.Aspect) (out []string) {
		for _, d := range s.differ {
			if slices.Contains(by, d.Affects) {
				out = append(out, differenceText(d))
			}
		}
		return out
	}
	list := affected(aspects)
	if len(list) > 0 && slices.ContainsFunc(aspects, func(a engine.Aspect) bool { return slices.Contains(blocks, a) }) {
		list = affected(append(slices.Clone(aspects), blocks...))
	}
	return strings.Join(list, " or ")
}

// differenceText returns a difference in words: “write_batch 5 instead of 50”.
func differenceText(d compare.Difference) string {
	text := fmt.Sprintf("%s %s instead of %s", knobName(d), knobValue(d, d.New), knobValue(d, d.Base))
	if d.What != "durability" {
		return text
	}
	level := func(value string) int {
		return slices.Index(model.Durabilities(), model.Durability(knobValue(d, value)))
	}
	switch base, other := level(d.Base), level(d.New); {
	case min(base, other) < 0 || base == other:
		return text
	case other < base:
		return text + " (which promises less)"
	}
	return text + " (which promises more)"
}

// knobValue returns a value in words. Servers report sizes in bytes.
func knobValue(d compare.Difference, value string) string {
	const mib = 1 << 20
	n, err := strconv.ParseInt(value, 10, 64)
	if err == nil && n >= mib && n%mib == 0 && !strings.HasPrefix(d.What, "params.") {
		return bytes(float64(n))
	}
	return strings.Trim(short(value), `"`)
}

func knobName(d compare.Difference) string {
	return strings.TrimPrefix(engine.KnobName(d.What), "params.")
}

// short returns a value without its explanation.
func short(value string) string {
	value, _, _ = strings.Cut(value, " (")
	return value
}
