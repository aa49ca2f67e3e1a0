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

// knobs names the settings that differ and affect any of these, with those that affect the same
// numbers, and returns what the first affects; "" if none of the first does. One that differs alone is not named.
func knobs(s *Step, aspects []engine.Aspect) (text string, first engine.Aspect) {
	affected := func(by []engine.Aspect) (out []string) {
		for _, d := range s.differ {
			if slices.Contains(by, d.Affects) {
				out = append(out, differenceText(d))
			}
		}
		return out
	}
	i := slices.IndexFunc(s.differ, func(d compare.Difference) bool { return slices.Contains(aspects, d.Affects) })
	if i < 0 {
		return "", ""
	}
	list := affected(aspects)
	if slices.ContainsFunc(aspects, func(a engine.Aspect) bool { return slices.Contains(blocks, a) }) {
		list = affected(append(slices.Clone(aspects), blocks...))
	}
	if s.single {
		return "", s.differ[i].Affects // the lead has named it as the cause of all
	}
	return strings.Join(list, " or "), s.differ[i].Affects
}

// differenceText returns a difference in words: “write_batch 5 instead of 50”.
func differenceText(d compare.Difference) string {
	name := strings.TrimPrefix(engine.KnobName(d.What), "params.")
	text := fmt.Sprintf("%s %s instead of %s", name, knobValue(d, d.New), knobValue(d, d.Base))
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

// short returns a value without its explanation.
func short(value string) string {
	value, _, _ = strings.Cut(value, " (")
	return value
}
