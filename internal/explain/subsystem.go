package explain

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"rumbench/internal/observe/profile"
	"rumbench/internal/text/quantity"
)

// acts are the subsystems that the drivers of CPU time act on, by rule.
var acts = map[Rule][]profile.Subsystem{
	RuleCompression: {"compression", "checksums", "allocation", "kernel: memory"},
	RuleReads: {"cache", "checksums", "compression", "allocation", "kernel: file system", "kernel: page copy",
		"kernel: block device", "kernel: memory", "kernel: scheduling"},
	RuleCompaction: {"compaction", "flush", "merging", "compression", "checksums", "allocation", "garbage collection",
		"kernel: file system", "kernel: page copy", "kernel: block device"},
	RuleFilters:    {"index search", "merging", "cache", "compression", "checksums", "allocation"},
	RulePageSize:   {"index search", "cache", "page allocation", "checksums", "compression", "log", "kernel: page copy"},
	RuleWholePages: {"log", "checksums", "compression", "kernel: file system", "kernel: page copy"},
	RuleRowLocks:   {"row locks", "latches", "transactions", "kernel: scheduling"},
	RuleCommits: {"log", "transactions", "latches", "kernel: file system", "kernel: page copy", "kernel: block device",
		"kernel: scheduling", "kernel: entry"},
	RuleDeadRows: {"index search", "row format", "transactions", "execution", "merging", "cache", "latches"},
	RuleLookups: {"index search", "row format", "transactions", "execution", "merging", "cache", "latches",
		"page allocation"},
	RuleProtocol:  {"network", "parse and plan", "execution", "kernel: network", "kernel: entry"},
	RulePrepares:  {"network", "parse and plan", "execution", "allocation", "latches", "kernel: network"},
	RuleTextLog:   {"text log", "kernel: file system", "kernel: page copy", "kernel: entry", "execution"},
	RuleBinlog:    {"log", "row format", "transactions", "kernel: file system", "kernel: page copy", "kernel: entry"},
	RuleLogVolume: {"log", "checksums", "kernel: file system", "kernel: page copy"},
}

// reaches reports whether a rule may be why CPU time differs: a good part of the difference is in subsystems that
// it acts on, or unknown.
func reaches(s *Step, c *Cause, rule Rule) bool {
	on := acts[rule]
	base, other := s.Base.cpu, s.New.cpu
	if len(on) == 0 || !c.Item.is(served, behind) || base == nil || other == nil {
		return true
	}
	grown := 0.0
	for _, name := range append([]profile.Subsystem{profile.Unknown}, on...) { // what is unknown may be it
		grown += other[string(name)].Mean - base[string(name)].Mean
	}
	return grown/(c.New-c.Base) >= goodPart
}

// besides are the subsystems that work mostly beside operations.
var besides = []profile.Subsystem{"compaction", "flush", "purge", "garbage collection"}

// where names the subsystems in which the greatest parts of a difference of the engine's CPU time are, or of the time
// of operations in it, as far as samples can tell; "" if these are not known.
func where(s *Step, c *Cause) string {
	const named, part, errors = 3, 0.1, 2
	base, other := s.Base.cpu, s.New.cpu
	if base == nil || other == nil {
		return ""
	}
	grown := func(name string) float64 { return (other[name].Mean - base[name].Mean) / (c.New - c.Base) }
	names := slices.Collect(maps.Keys(other))
	for name := range base {
		if _, both := other[name]; !both {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		if c.Item.is(inside) && slices.Contains(besides, profile.Subsystem(name)) {
			return true
		}
		noise := errors * math.Hypot(base[name].Err(), other[name].Err())
		return name == string(profile.Unknown) || grown(name) < part || math.Abs(other[name].Mean-base[name].Mean) < noise
	})
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(grown(b), grown(a)), cmp.Compare(a, b)) })
	return quantity.Joined(quantity.Texts(names[:min(named, len(names))], func(name string) string {
		words := strings.Replace(name, "kernel: ", "the kernel's ", 1)
		return words + " " + instead(quantity.Micros, base[name].Mean, other[name].Mean)
	}))
}
