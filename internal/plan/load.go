package plan

import (
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/text/strictyaml"
)

// Option changes how a plan is loaded.
type Option func(*binder)

// Forced sets whether targets get settings that are refused without --force.
func Forced(force bool) Option { return func(b *binder) { b.force = force } }

// Looking makes Load look at the programs of the servers that targets start,
// before their engines check the plan. Without it they are not checked: reading a
// plan runs nothing.
//
// kinds are the kinds of servers that a target's program may be of. absent means that the program
// is still to be fetched: its engine does not check the target then.
func Looking(look func(t *Target, kinds []string) (absent bool)) Option {
	return func(b *binder) { b.look = look }
}

// OnMachine is for a machine of the plan's fleet: what targets start is here, and Plan.Fleet is left
// out. Elsewhere the programs of such a plan are not looked at.
func OnMachine() Option { return func(b *binder) { b.here = true } }

// Building makes Load look for the rumbench program that runs the trials of
// each target. The error states why there is none.
func Building(build func(t *Target) error) Option { return func(b *binder) { b.build = build } }

// Load reads a plan from src, the content of file, with the overrides of sets,
// each of the form key=value. The error about a wrong plan is of type hint.Problems.
func Load(file string, src []byte, sets []string, cat Catalog, options ...Option) (*Plan, error) {
	b := &binder{cat: cat, file: file, paths: paths{plan: file}, Document: document()}
	b.Meant = b.meant
	for _, o := range options {
		o(b)
	}
	root := b.ReadFile(file, src)
	for _, s := range sets {
		override(&b.Document, root, s)
	}
	var p *Plan
	if root != nil {
		p = b.plan(root, defaultName(file))
		src = b.paths.relocate(root, src)
		if len(sets) > 0 {
			src = root.YAML() // the plan with the overrides is the one that runs
		}
		b.seal(p, root, src)
	}
	if len(b.Problems) > 0 {
		strictyaml.SortProblems(b.Problems)
		return nil, b.Problems
	}
	return p, nil
}

func defaultName(file string) string {
	base := filepath.Base(file)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); strings.Trim(name, "./-") != "" {
		return name
	}
	return "plan" // of a plan read from a pipe, for example
}

func (b *binder) plan(root *strictyaml.Node, name string) *Plan {
	p := &Plan{
		Name: name, Trials: 1, Order: Interleaved, Seed: Seed{Value: defaultSeed},
		Interval: time.Second, Calibrate: true,
	}
	b.adopt(root, "workload", planKeys.Names())
	b.adopt(root, "targets", planKeys.Names())
	b.places = b.levels(root)
	f := b.Fields(root, "the plan", planKeys.Names())
	planKeys.Bind(f, p)
	b.stop(f, p)
	b.workload(f, p)
	b.rate(f, p)
	b.find(f, p)
	readRestart(b, f, p)
	b.question(f, p)
	readProfile(b, f, p)
	for key, dst := range map[string]*Hooks{"before": &p.Before, "after": &p.After} { // commands that it wants to run
		section(f, key, hookKeys, dst, key+" is not a map of commands", "as in "+key+": {trial: sync}")
	}
	readStart(b, f, p)
	readBetween(b, f, p)
	readFleet(b, f, p)
	if n := f.Value("until"); n != nil && p.Until > 0 {
		b.refuse(untilExclusions(n, p)...)
	}
	b.targets(f, p)
	b.published(f, p)
	return p
}
