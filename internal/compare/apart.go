package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// HostApart returns the facts that determine the speed of two hosts and differ. Unknown ones do not.
func HostApart(x, y observe.Facts) []string {
	return slices.DeleteFunc(observe.FactsThat(observe.SetsSpeed), func(name string) bool {
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
		if mine, other := a.Either(read), b.Either(read); mine != "" && other != "" {
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
	found := x.SeedText() != "" && y.SeedText() != ""
	if found && !slices.Equal(a.Distinct(seeds), b.Distinct(seeds)) {
		differ("seed", x.SeedText(), y.SeedText())
	}
	if found {
		differ("start", cmp.Or(x.StartText(), ownLoad), cmp.Or(y.StartText(), ownLoad))
	}
	for _, name := range slices.Concat(HostApart(x.Host, y.Host), farApart(x.Host, y.Host)) {
		differ(name, x.Host.Value(name), y.Host.Value(name))
	}
	differ("engine", x.Engine, y.Engine)
	if x.Imported == nil && y.Imported == nil {
		differ("profile", string(cmp.Or(x.Profiled, result.ProfileOff)), string(cmp.Or(y.Profiled, result.ProfileOff)))
	}
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
		mine, other := cmp.Or(effective(a, name), byDefault(a, b, name)), cmp.Or(effective(b, name), byDefault(b, a, name))
		if mine != "" && other != "" && !slices.ContainsFunc(out, asked) {
			differ(name, mine, other)
		}
	}
	return out
}

// paramKnob begins the names of parameters that are treated as knobs.
const paramKnob = "params."

// FactsApart returns which other facts of their hosts differ between all trials of two targets: no rule knows what
// they do.
func FactsApart(a, b *Target) (out []Difference) {
	fleeting := observe.FactsThat(observe.NamesHost | observe.Varies)
	for _, f := range a.Trials[0].Host {
		value := func(t *result.Trial) string { return t.Host.Value(f.Name) }
		mine, other := a.Distinct(value), b.Distinct(value)
		if len(mine) == 1 && len(other) == 1 && mine[0] != other[0] && !slices.Contains(fleeting, f.Name) {
			out = append(out, Difference{What: f.Name, Base: mine[0], New: other[0]})
		}
	}
	return out
}

// ignored returns the differences of two targets in what the host imposes and, of one engine, in what the kernel and
// the servers' logs show: a server may ignore a setting that it reports as in effect.
func ignored(a, b *Target) (out []Difference) {
	x, y := a.Trials[0], b.Trials[0]
	alike := x.Engine == y.Engine
	planned := x.Knobs["cpus"]+y.Knobs["cpus"] != "" // which is among the knobs
	for _, s := range x.Settings {
		mine, other := effective(a, s.Name), effective(b, s.Name)
		if planned && engine.KnobAspect(s.Name) == engine.AspectProcessors {
			continue
		}
		if (s.Source == engine.Imposed || alike && s.Source == engine.Seen) && other != "" && mine != other {
			out = append(out, Difference{What: s.Name, Base: mine, New: other, Affects: engine.KnobAspect(s.Name)})
		}
	}
	if !alike {
		return out
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
		if slices.Contains([]string{engine.ReadBack, engine.Changed}, s.Source) && !s.Aside && !asked && !named {
			names = AppendNew(names, s.Name)
		}
	}
	return names
}

// effective returns how a target's trials have something set; "" if it is unknown.
func effective(t *Target, name string) string {
	return t.Either(func(trial *result.Trial) string { return SettingText(name, trial.Setting(name)) })
}

// byDefault returns that a target has a setting by default: of two of one engine the other has changed it, and this one
// reports what was changed, but not this.
func byDefault(t, other *Target, name string) string {
	x, y := t.Trials[0], other.Trials[0]
	changed := func(s engine.Setting) bool { return s.Source == engine.Changed }
	named := func(s engine.Setting) bool { return s.Name == name && changed(s) }
	reported := x.Setting("connection") != "" || slices.ContainsFunc(x.Settings, changed)
	if reported && slices.ContainsFunc(y.Settings, named) {
		return "the default"
	}
	return ""
}

// SettingText returns the value of a setting, a size in a unit that people read.
func SettingText(name, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	if err == nil && n >= 1<<20 && (name == "cache" || strings.Contains(name, "size")) {
		return quantity.Bytes(n)
	}
	return value
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

// farApart returns which facts that vary from trial to trial are far apart: shares of the file system by 20
// points, and extents per file, from 16 on, by a factor of 2.
func farApart(x, y observe.Facts) (names []string) {
	number := func(f observe.Facts, name string) float64 {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(f.Value(name), " %"), 64) // 0: unknown
		return v
	}
	if a, b := number(x, observe.UsedFact), number(y, observe.UsedFact); a > 0 && b > 0 && math.Abs(a-b) >= 20 {
		names = append(names, observe.UsedFact)
	}
	a, b := number(x, observe.ExtentsFact), number(y, observe.ExtentsFact)
	if low, high := min(a, b), max(a, b); low > 0 && high >= 16 && high >= 2*low {
		names = append(names, observe.ExtentsFact)
	}
	return names
}
