package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
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
		if x.Profiled != y.Profiled {
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

// hostFacts are the facts of a host that determine its speed.
var hostFacts = []string{"cpu", "cpus usable", "memory", "kernel", "virtualization", "filesystem", "device",
	"device size"}

// HostApart returns the facts that determine the speed of two hosts and differ. Unknown ones do not.
func HostApart(x, y observe.Facts) []string {
	return slices.DeleteFunc(slices.Clone(hostFacts), func(name string) bool {
		a, b := x.Value(name), y.Value(name)
		return a == b || a == "" || b == ""
	})
}

// Difference is a difference between two targets: in a knob, by its name in the plan, in a
// version, or in a fact of the host.
type Difference struct {
	What, Base, New string
	Affects         engine.Aspect // of a knob; "" if it is unknown, or none of the aspects
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s and %s", d.What, d.Base, d.New) }

// Apart returns other differences of two targets that may explain their
// numbers: versions first, as they are most often the subject of a comparison,
// then durability, seed, hosts and knobs. Unknown facts do not count as
// different.
func Apart(a, b *Target) (out []Difference) {
	x, y := a.Trials[0], b.Trials[0]
	differ := func(subject, mine, other string) {
		if mine != other {
			affects := cmp.Or(engine.KnobAspect(subject), x.Affects[subject], y.Affects[subject])
			out = append(out, Difference{subject, cmp.Or(mine, unnamed), cmp.Or(other, unnamed), affects})
		}
	}
	version := func(subject string, read func(*result.Trial) string) {
		if mine, other := strings.Join(a.Distinct(read), " or "), strings.Join(b.Distinct(read), " or "); mine != "" &&
			other != "" {
			differ(subject, mine, other)
		}
	}
	if x.Engine == y.Engine {
		version(cmp.Or(x.Engine, "engine")+" version", (*result.Trial).EngineVersion)
	}
	versioned := len(out) > 0 // a program's path beside its version is no second difference
	// imported results do not record the meaning of the level
	if x.Durability != y.Durability || x.Promise != "" && y.Promise != "" {
		differ("durability", x.DurabilityText(), y.DurabilityText())
	}
	seeds := func(t *result.Trial) string { return fmt.Sprint(t.Seed) }
	known := x.SeedText() != "" && y.SeedText() != ""
	if known && !slices.Equal(a.Distinct(seeds), b.Distinct(seeds)) {
		differ("seed", x.SeedText(), y.SeedText())
	}
	if known {
		differ("start", cmp.Or(x.StartText(), ownLoad), cmp.Or(y.StartText(), ownLoad))
	}
	for _, name := range slices.Concat(HostApart(x.Host, y.Host), farApart(x.Host, y.Host)) {
		differ(name, x.Host.Value(name), y.Host.Value(name))
	}
	differ("engine", x.Engine, y.Engine)
	for _, name := range AppendNew(slices.Clone(x.OwnParams), y.OwnParams...) {
		differ(paramKnob+name, paramText(x.Params[name]), paramText(y.Params[name]))
	}
	if !versioned && x.Knobs["image"] == y.Knobs["image"] { // its tag may have moved
		version("image", func(t *result.Trial) string { return t.Versions.Value(result.ImageFact) })
	}
	version("rumbench version", func(t *result.Trial) string { return t.Versions.Value("rumbench") })
	explained := versioned || x.Knobs["binary"] != y.Knobs["binary"] ||
		x.Versions.Value("rumbench") != y.Versions.Value("rumbench")
	if !explained {
		version(result.ProgramFact, (*result.Trial).Program)
	}
	for _, name := range sortedNames(x.Knobs, y.Knobs) {
		mine, other := x.Knobs[name], y.Knobs[name]
		if name == "durability" || (name == "binary" || name == "image") && versioned {
			continue // already listed above, with its meaning
		}
		if name == "cache" {
			mine, other = x.Cache(), y.Cache()
		}
		if mine == other || x.Engine != y.Engine && (mine == "" || other == "") {
			continue // in the second case only one engine has the knob
		}
		absent := "the default"
		if name == "image" || name == "binary" {
			absent = "what is installed"
		}
		mine, other = cmp.Or(mine, absent), cmp.Or(other, absent)
		// The engines' own values under that name are more precise: they include defaults,
		// and show that asking for the default is no difference. Their values for caches are
		// prose.
		set := engine.KnobName(name)
		if has, hasOther := x.Setting(set), y.Setting(set); name != "cache" && has != "" && hasOther != "" {
			mine, other = has, hasOther
		}
		differ(name, mine, other)
	}
	out = append(out, ignored(a, b)...)
	for _, name := range foundSettings(a, b) {
		asked := func(d Difference) bool { return engine.KnobName(d.What) == name }
		mine, other := effective(a, name), effective(b, name)
		if mine != "" && other != "" && !slices.ContainsFunc(out, asked) {
			differ(name, mine, other)
		}
	}
	return out
}

// fleeting are facts of a host that differ from trial to trial, or only name it.
var fleeting = []string{"hostname", "load average", "extents per file", "filesystem used"}

// FactsApart returns which other facts of their hosts differ between all trials of two targets: no rule knows what
// they do.
func FactsApart(a, b *Target) (out []Difference) {
	for _, f := range a.Trials[0].Host {
		value := func(t *result.Trial) string { return t.Host.Value(f.Name) }
		mine, other := a.Distinct(value), b.Distinct(value)
		if len(mine) == 1 && len(other) == 1 && mine[0] != other[0] && other[0] != "" && !slices.Contains(fleeting, f.Name) {
			out = append(out, Difference{What: f.Name, Base: mine[0], New: other[0]})
		}
	}
	return out
}

// ignored returns the differences of two targets of one engine in what the kernel and the servers' logs show: a
// server may ignore a setting that it reports as in effect.
func ignored(a, b *Target) (out []Difference) {
	x, y := a.Trials[0], b.Trials[0]
	if x.Engine != y.Engine {
		return nil
	}
	for _, s := range x.Settings {
		mine, other := effective(a, s.Name), effective(b, s.Name)
		if s.Source == engine.Seen && other != "" && mine != other {
			out = append(out, Difference{What: s.Name, Base: mine, New: other})
		}
	}
	for _, w := range AppendNew(slices.Clone(x.ServerWarnings), y.ServerWarnings...) {
		d := Difference{What: "warnings in the server's log", Base: w, New: "none"}
		mine, other := warned(a, w), warned(b, w)
		if mine == 0 {
			d.Base, d.New = d.New, d.Base
		}
		if min(mine, other) == 0 && (mine == len(a.Trials) || other == len(b.Trials)) {
			out = append(out, d)
		}
	}
	return out
}

// warned returns in how many of a target's trials the server has warned of something.
func warned(t *Target, text string) (n int) {
	for _, trial := range t.Trials {
		if slices.Contains(trial.ServerWarnings, text) {
			n++
		}
	}
	return n
}

// ownLoad is how a trial comes by its data, unless it says otherwise.
const ownLoad = "the data that each trial has loaded"

// foundSettings returns the settings read back from either of two targets that may differ
// although they were not asked for: those of a server of the user, or of another version.
// Otherwise they follow from what was asked.
func foundSettings(a, b *Target) (names []string) {
	x, y := a.Trials[0], b.Trials[0]
	attached := x.Knobs["dsn"]+y.Knobs["dsn"] != ""
	alike := maps.Equal(x.Knobs, y.Knobs) && fmt.Sprint(x.Params) == fmt.Sprint(y.Params)
	if x.Engine != y.Engine || !attached && !alike && x.EngineVersion() == y.EngineVersion() {
		return nil
	}
	for _, s := range slices.Concat(x.Settings, y.Settings) {
		_, asked := x.Knobs[engine.OptionKnob+s.Name]
		named := s.Name == "durability" || strings.Contains(s.Name, "version")
		if s.Source == engine.ReadBack && !s.Aside && !asked && !named {
			names = AppendNew(names, s.Name)
		}
	}
	return names
}

// effective returns how a target's trials have something set; "" if it is unknown.
func effective(t *Target, name string) string {
	return strings.Join(t.Distinct(func(trial *result.Trial) string { return SettingText(name, trial.Setting(name)) }),
		" or ")
}

// SettingText returns the value of a setting, a size in a unit that people read.
func SettingText(name, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err == nil && n >= 1<<20 && (name == "cache" || strings.Contains(name, "size")) {
		return quantity.Bytes(n)
	}
	return value
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
func Durability(t *Target) string { return strings.Join(t.Distinct(levelOf), " or ") }

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

// Distinct returns the different values of a target's trials, without unknown
// ones: a server, say, may have been upgraded between them.
func (t *Target) Distinct(value func(*result.Trial) string) (out []string) {
	for _, trial := range t.Trials {
		if v := value(trial); v != "" {
			out = AppendNew(out, v)
		}
	}
	return out
}

// unnamed represents an unknown value in a difference.
const unnamed = "not known"

// sortedNames returns the names in two maps, sorted.
func sortedNames[V any](a, b map[string]V) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

func paramText(v any) string {
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
