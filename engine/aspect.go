package engine

import (
	"slices"
	"strings"
)

// Aspect is a part of an engine's work that a setting affects.
type Aspect string

// The aspects, whatever an engine calls the setting.
const (
	AspectPageSize       Aspect = "page size"
	AspectDoublewrite    Aspect = "doublewrite"
	AspectCheckpoint     Aspect = "checkpoint" // how much log may be written until the next one
	AspectLogSync        Aspect = "log sync"
	AspectLogCompression Aspect = "log compression"
	AspectCompression    Aspect = "compression" // of data
	AspectCache          Aspect = "cache"
	AspectProtocol       Aspect = "protocol"
	AspectTiming         Aspect = "timing"   // of waits
	AspectTextLog        Aspect = "text log" // of statements, for people
	AspectBinlog         Aspect = "binary log"
	AspectEncryption     Aspect = "encryption" // of files
	AspectFilters        Aspect = "filters"    // that spare look-ups of absent keys
	AspectMemtable       Aspect = "memtables"  // and when they are merged
	AspectPlan           Aspect = "plan"       // of statements
	AspectSort           Aspect = "sort"       // memory of sorts, hash and temporary tables
	AspectConnection     Aspect = "connection" // how clients reach the server
	AspectProcessors     Aspect = "processors" // that the host grants
	AspectDevice         Aspect = "device"     // what the host grants of it
)

// KnobAspect returns the aspect that a common knob affects; "" if it is none of the aspects.
func KnobAspect(knob string) Aspect {
	return map[string]Aspect{
		"cache": AspectCache, "durability": AspectLogSync, "compression": AspectCompression, "page": AspectPageSize,
		"protocol": AspectProtocol, "connection": AspectConnection, "server’s nice value": AspectProcessors,
		"server’s processors": AspectProcessors, "server’s CPU quota": AspectProcessors, "server’s I/O limits": AspectDevice,
	}[knob]
}

// Effect is what a setting that a server may ignore in silence does to its processes, as the kernel shows it.
type Effect string

// The effects.
const (
	HugePages    Effect = "memory in huge pages"
	DirectIO     Effect = "files open for direct I/O"
	AsyncIO      Effect = "asynchronous I/O"
	Interleaving Effect = "memory interleaved over NUMA nodes"
)

// Wants reports whether an option with a value asks for its effect.
func (o *Option) Wants(value string) bool {
	asking := []string{"on", "true", "1", "yes", "o_direct", "o_direct_no_fsync", "io_uring"}
	return o.Effect != "" && slices.Contains(asking, strings.ToLower(value))
}

// OptionKnob is the prefix of a knob's name if it is one of Config.Options.
const OptionKnob = "options."

// Affected returns the aspects that options affect, by the names of their knobs, and those that settings may affect.
func (i Info) Affected(options map[string]any) map[string]Aspect {
	out := map[string]Aspect{}
	for _, o := range slices.Concat(i.Options, i.Variables) {
		if _, ok := options[o.Name]; ok && o.Affects != "" {
			out[OptionKnob+o.Name] = o.Affects
		}
	}
	for _, o := range i.Variables {
		if o.Affects != "" {
			out[o.Name] = o.Affects
		}
	}
	return out
}

// KnobName returns the name that people use for a knob: without the prefix OptionKnob.
func KnobName(knob string) string { return strings.TrimPrefix(knob, OptionKnob) }
