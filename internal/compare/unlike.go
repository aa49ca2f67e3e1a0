package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// Unlike returns the differences in workload and parameters that make all
// numbers of two targets incomparable. Differences in the work offered in single
// steps are left to [Step.Offered]. Parameters that a target overrides in the
// plan of both are compared deliberately.
func Unlike(a, b *Target) []string {
	out := unlikeWork(a.Trials[0], a.Trials[1:], nil)
	var deliberate []string
	if onePlan(a, b) {
		deliberate = slices.Concat(a.Trials[0].OwnParams, b.Trials[0].OwnParams)
		out = AppendNew(out, unlikeWork(b.Trials[0], b.Trials[1:], nil)...)
	}
	return AppendNew(out, unlikeWork(a.Trials[0], b.Trials, deliberate)...)
}

// unlikeWork returns how the work of a trial differs from that of others, except in some
// parameters.
func unlikeWork(x *result.Trial, others []*result.Trial, but []string) (out []string) {
	for _, y := range others {
		if x.Workload == "" && len(x.Steps) == 0 || y.Workload == "" && len(y.Steps) == 0 {
			continue // it failed before it began
		}
		differ := func(subject, mine, other string) {
			if mine != other {
				out = AppendNew(out, fmt.Sprintf("%s %s and %s", subject, cmp.Or(mine, unnamed), cmp.Or(other, unnamed)))
			}
		}
		differ("workload", x.Workload, y.Workload)
		for _, name := range sortedNames(x.Params, y.Params) {
			mine, other := paramText(x.Params[name]), paramText(y.Params[name])
			if slices.Contains(but, name) {
				continue
			}
			if (x.Imported == nil && y.Imported == nil) || mine != "" && other != "" { // logs may lack parameters
				differ(name, mine, other)
			}
		}
		if x.Order == "duet" || y.Order == "duet" {
			differ("order", x.Order, y.Order) // half of the processors, or all
		}
		differ("clients on", placeOf(x), placeOf(y)) // a network is no Unix socket
		if x.Profiled.Slows() != y.Profiled.Slows() {
			differ("profile", string(cmp.Or(x.Profiled, result.ProfileOff)), string(cmp.Or(y.Profiled, result.ProfileOff)))
		}
	}
	return out
}

// placeOf says where the clients of a trial were.
func placeOf(t *result.Trial) string {
	if t.Placement == nil {
		return "the server's machine"
	}
	return quantity.Count(len(t.Placement.Clients), "machine") + " of their own"
}

// UnequalCaches returns the cache of each target, if they differ: "a: 16 MiB, b:
// the page cache". Unknown caches do not count as different.
func (c *Campaign) UnequalCaches() string {
	text, differ := c.Shared(func(t *Target) []string { return t.Distinct((*result.Trial).CacheText) })
	if !differ || !slices.ContainsFunc(c.Targets, func(t *Target) bool { return t.Trials[0].Knobs["memory"] == "" }) {
		return "" // within limits of memory, how an engine divides it is its own affair
	}
	return text
}

// Durability returns the level of each target, if they differ: "a: none, b: os". Unknown
// levels do not count as different.
func (c *Campaign) Durability() string {
	if _, differ := c.Shared(func(t *Target) []string { return t.Distinct(levelOf) }); !differ {
		return ""
	}
	text, _ := c.Shared(func(t *Target) []string {
		return t.Distinct(func(trial *result.Trial) string {
			if levelOf(trial) == "" {
				return ""
			}
			return trial.DurabilityText()
		})
	})
	return text
}

// Shared returns the value that the targets share, or each target's value, "a: 1, b: 2 or
// 3", if they differ. A missing value does not count as different.
func (c *Campaign) Shared(value func(*Target) []string) (text string, differ bool) {
	var all, parts []string
	for _, t := range c.Targets {
		if own := value(t); len(own) > 0 {
			all, parts = AppendNew(all, own...), append(parts, t.Name+": "+strings.Join(own, " or "))
		}
	}
	if len(all) < 2 {
		return strings.Join(all, ""), false
	}
	return strings.Join(parts, ", "), true
}

// Durability returns a target's level, or its levels; "" if it is unknown.
func Durability(t *Target) string { return t.Either(levelOf) }

func levelOf(t *result.Trial) string {
	if t.Durability == result.Unknown {
		return ""
	}
	return t.Durability
}

// UnlikeDurability returns the different levels of durability of two targets, as "none and
// os"; "" if the levels are equal, or one is unknown.
func UnlikeDurability(a, b *Target) string {
	x, y := Durability(a), Durability(b)
	if x == y || x == "" || y == "" {
		return ""
	}
	return x + " and " + y
}
