package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Start makes each trial begin from a copy of data that were loaded once. Its zero value means that
// each trial loads its own.
type Start struct {
	Copy  string // the step after which the data are copied, or OwnData
	Loads int    // how many times each target is loaded; the blocks of trials take turns at the copies
	Bases string // the directory in which loaded data are kept for later campaigns; "": they are not
}

// OwnData as the step means that each target's own data are copied.
const OwnData = "data"

const maxLoads = 20

var startKeys = strictyaml.Table[Start]{
	strictyaml.Valued("copy", "The step after which the data are copied; data: the targets' own data are.",
		strictyaml.Text, func(s *Start, v string) { s.Copy = v }),
	strictyaml.Valued("loads", "How many times each target is loaded, each with its own seed. "+
		"Default: as many as there are trials, 20 at most.",
		strictyaml.Integer(1, maxLoads), func(s *Start, v int) { s.Loads = v }),
	strictyaml.Part[Start]("bases", "A directory that keeps loaded data for later campaigns, relative to the plan. "+
		"By default they are removed at the end.", strictyaml.Text.Shape),
}

// Any reports whether trials begin from copies.
func (s Start) Any() bool { return s.Copy != "" }

// Loaded reports whether the data that are copied are loaded by the plan's own steps.
func (s Start) Loaded() bool { return s.Any() && s.Copy != OwnData }

// Load returns which load the trials of a block begin from, both from 1: 0 if that is none of the plan's.
func (s Start) Load(block int) int {
	if !s.Loaded() {
		return 0
	}
	return (block-1)%s.Loads + 1
}

// Loading returns the steps that load the data, which are run once for each load.
func (p *Plan) Loading() []workload.Step { return p.Steps()[:p.copied()] }

// Following returns the steps of every trial: those after the data are copied.
func (p *Plan) Following() []workload.Step { return p.Steps()[p.copied():] }

// copied returns how many steps come before the data are copied.
func (p *Plan) copied() int {
	steps := p.Steps()
	return 1 + slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == p.Start.Copy })
}

// Loads reports whether a target loads data, of those that share them: it is the first.
func (p *Plan) Loads(name string) bool {
	own := slices.IndexFunc(p.Targets, func(t Target) bool { return t.Name == name })
	if own < 0 {
		return true // of a calibration
	}
	same := func(t Target) bool { return t.LoadedAs() == p.Targets[own].LoadedAs() }
	return slices.IndexFunc(p.Targets, same) == own
}

// DataSeed returns the seed of the data that the trials of a block begin with; nil if it is their own.
func (p *Plan) DataSeed(block int) *uint64 {
	if !p.Start.Any() {
		return nil
	}
	seed := p.Seed.Of(p.Start.Load(block)) // of data from elsewhere the plan's own
	return &seed
}

func readStart(b *binder, f strictyaml.Fields, p *Plan) {
	n := f.Value("start")
	if n == nil || !b.Is(n, strictyaml.Mapping, "start is a map", "as in start: {copy: STEP}") {
		return
	}
	s, before := Start{}, len(b.Problems)
	fields := b.Fields(n, "start", startKeys.Names())
	startKeys.Bind(fields, &s)
	s.Bases = b.paths.read(fields, "bases", creatable)
	loads := fields.Value("loads")
	switch {
	case len(b.Problems) > before || p.Run == nil:
		return // already reported
	case s.Copy == "":
		b.At(n, "start does not say after which step the data are copied", "as in start: {copy: "+example(p)+"}")
	case s.Copy == OwnData && (loads != nil || s.Bases != ""):
		b.At(n, "data that exist are not loaded", "remove loads and bases")
	case s.Copy != OwnData:
		checkCopied(b, fields.Value("copy"), p, s.Copy)
	}
	switch {
	case len(b.Problems) > before:
	case p.Order == Duet:
		b.At(n, "the trials of a duet run side by side from their beginning, and copies are not made at the same time",
			"remove start, or set order: interleaved")
	case s.Loads > p.Trials:
		b.At(loads, fmt.Sprintf("%s for %s: some would never be used", quantity.Count(s.Loads, "load"),
			quantity.Count(p.Trials, "trial")), "lower loads, or raise trials")
	}
	if s.Loads == 0 {
		s.Loads = min(maxLoads, p.Trials) // fewer prove less: each counts once
	}
	p.Start = s
	if len(b.Problems) == before && s.Loaded() {
		p.Later = later(b, p)
	}
}

// later returns the parameters on which the copied data do not depend: those that change nothing of steps
// that load. A step is one only if it loads at their defaults, too: others may have been given work to do.
func later(b *binder, p *Plan) (names []string) {
	params := maps.Clone(p.Params)
	for _, param := range b.chosen.Info().Params {
		if param.Later {
			names, params[param.Name] = append(names, param.Name), param.Default
		}
	}
	run, err := made(b.chosen, params)
	if len(names) == 0 || err != nil {
		return nil
	}
	usual := run.Steps()
	for _, s := range p.Loading() {
		i := slices.IndexFunc(usual, func(o workload.Step) bool { return o.Name == s.Name })
		if i < 0 || !usual[i].Loads() || !s.Loads() {
			return nil
		}
	}
	return names
}

// creatable refuses a path that is there and no directory, or where none can be made.
func creatable(path string) error {
	if _, err := os.Stat(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	path = fsize.Existing(path)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return cmp.Or(err, fmt.Errorf("%s is no directory", path))
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return nil
}

// example returns the step after which data are most likely to be copied.
func example(p *Plan) string {
	steps := p.Steps()
	for i := range steps[1:] {
		if s := &steps[i+1]; !s.Creates && s.Settle == nil && s.Builds == 0 && !s.Warmup {
			return steps[i].Name
		}
	}
	return steps[0].Name
}

// checkCopied refuses a step that the plan does not have, or that nothing follows.
func checkCopied(b *binder, n *strictyaml.Node, p *Plan, name string) {
	names := quantity.Texts(p.Steps(), func(s workload.Step) string { return s.Name })
	switch at := slices.Index(names, name); {
	case at < 0:
		b.At(n, fmt.Sprintf("the plan has no step %q", name), hint.OneOf(name, names))
	case at == len(names)-1:
		b.At(n, fmt.Sprintf("no step follows %s: there would be nothing to do with the copies", name),
			"copy the data after an earlier step, or remove start")
	}
}

func creates(s workload.Step) bool { return s.Creates }

// checkStart refuses a target whose data cannot be copied.
func checkStart(b *binder, t *bound, info engine.Info, p *Plan) {
	if !p.Start.Any() {
		return
	}
	at := cmp.Or(t.fields.Of.Get("data"), t.fields.Of.Get("dsn"), t.node)
	switch {
	case t.Config.Server.DSN != "":
		b.At(at, t.Name+": rumbench does not copy the data of a server that it has not started", "remove start, or dsn")
	case info.SpaceFactor == 0:
		b.At(at, t.Name+": "+t.Engine+" stores nothing that could be copied", "remove start, or the target")
	case p.Start.Loaded() && t.Data != "":
		b.At(at, t.Name+" has data of its own, which are not loaded", "set start: {copy: data}, or remove data")
	case !p.Start.Loaded() && t.Data == "" && t.fields.Of.Get("data") == nil:
		b.At(at, t.Name+" has no data that could be copied",
			"name them, as data: DIR, or set copy to the step that loads them")
	case !p.Start.Loaded() && p.Run != nil && slices.ContainsFunc(p.For(&t.Target).Steps(), creates):
		b.At(at, t.Name+" has data, and a step of the workload would create them", "leave that step out, if the workload "+
			"has a parameter for it, or set copy to the step that loads")
	case info.Forgets != "":
		b.At(at, t.Name+": start: "+info.Forgets, "remove start, or the target")
	}
}
