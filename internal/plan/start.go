package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"rumbench/engine/fsize"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

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
	s, previous := Start{}, len(b.Problems)
	fields, ok := section(f, "start", startKeys, &s, "start is a map", "as in start: {copy: STEP}")
	if !ok {
		return
	}
	s.Bases = b.paths.read(fields, "bases", creatable)
	switch {
	case len(b.Problems) > previous || p.Run == nil:
		return // already reported
	case s.Copy == "":
		b.At(fields.Of, "start does not say after which step the data are copied", "as in start: {copy: "+example(p)+"}")
	case s.Copy != OwnData:
		checkCopied(b, fields.Value("copy"), p, s.Copy)
	}
	if len(b.Problems) == previous {
		b.refuse(startExclusions(fields, p, &s)...)
	}
	if s.Loads == 0 {
		s.Loads = min(maxLoads, p.Trials) // fewer prove less: each counts once
	}
	p.Start = s
	if len(b.Problems) == previous && s.Loaded() {
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
	names := stepNames(p.Steps(), anyStep)
	switch position := slices.Index(names, name); {
	case position < 0:
		b.At(n, fmt.Sprintf("the plan has no step %q", name), hint.OneOf(name, names))
	case position == len(names)-1:
		b.At(n, fmt.Sprintf("no step follows %s: there would be nothing to do with the copies", name),
			"copy the data after an earlier step, or remove start")
	}
}
