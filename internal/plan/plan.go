// Package plan reads a plan file into a checked Plan: which workload, on which
// targets, how often. It reports all problems of a wrong plan at once, with
// their positions, before anything starts.
//
// It runs nothing and opens no database; its knowledge about engines and
// workloads comes from the Catalog.
package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/result"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Catalog holds the engines and workloads that plans may name.
type Catalog interface {
	Engine(name string) (engine.Engine, bool)
	EngineNames() []string
	Workload(name string) (workload.Workload, bool)
	WorkloadNames() []string
	// ReadWorkload reads a workload from the content of a file, and WorkloadOf from a
	// map in a plan. Their errors are of type hint.Problems.
	ReadWorkload(file string, content []byte) (workload.Workload, error)
	WorkloadOf(n *strictyaml.Node) (workload.Workload, error)
}

// Order is the order of a campaign's trials.
type Order string

// The orders of trials.
const (
	// Interleaved runs blocks of one trial of each target, in a random order and
	// then in its reverse.
	Interleaved Order = "interleaved"
	Sequential  Order = "sequential" // all trials of a target, then the next target
	// Duet runs blocks of one trial of each of two targets at the same time,
	// each on half of the CPUs.
	Duet Order = "duet"
)

// Plan is a campaign that has been checked and can start. It has many fields
// because it holds all settings of a plan file.
type Plan struct {
	Name      string
	Workload  string
	Preset    string
	Params    workload.Params // resolved: preset and defaults filled in
	Later     []string        // the parameters on which the data that are copied do not depend
	Run       workload.Run
	Targets   []Target
	Leveled   bool // the targets are at levels of a knob: no single one is what all others are compared with
	Trials    int  // of each target; with Stop the greatest number
	Order     Order
	Stop      Stop
	Question  result.Question // that the comparison of the targets is to answer
	Rate      *Rate           // nil: clients without their own rate go as fast as they can
	Find      *Find           // nil: nothing is searched for
	Seed      Seed
	Ascending bool // levels of sweeps ascend in every block
	Start     Start
	Until     float64       // how many times its planned time a step may take until it is steady; 0: once
	Interval  time.Duration // of the time series
	Between   Between       // trials
	Fleet     Fleet         // the machines that it runs on
	// Before and After are commands of the user; they need the flag --hooks.
	Before, After Hooks
	Restart       Restart
	Keep          bool // keep data directories after a trial
	// ErrorsAllowed is the share of failed operations above which a step is invalid.
	ErrorsAllowed float64
	Calibrate     bool // measure the client on the null engine first
	Profile       Profile
	Published     []Published // figures from elsewhere, for the report
	Source        []byte      // the file with its overrides, as it will be stored
	Declared      []byte      // the file of the workload, as it will be stored; nil: there is none
	Secrets       []byte      // the content of SecretFile; usually empty
	Referred      []byte      // as Secrets, what is not stored: the plan refers to the environment
}

// ParamTexts returns the workload's parameters as texts, as campaigns record them:
// those that a target overrides as TARGET.NAME.
func (p *Plan) ParamTexts() map[string]string {
	out := map[string]string{}
	for name, value := range p.Params {
		out[name] = fmt.Sprint(value)
	}
	for _, t := range p.Targets {
		for _, name := range t.Own {
			out[t.Name+"."+name] = fmt.Sprint(t.Params[name])
		}
	}
	return out
}

// For returns the plan as a target runs it: with its parameters.
func (p *Plan) For(t *Target) *Plan {
	out := *p
	if t.Run != nil {
		out.Params, out.Run = t.Params, t.Run
	}
	return &out
}

// Stop is the condition under which a campaign may end before all of its trials
// are done: at the end of a block of one trial of each target. Its zero value
// means never.
type Stop struct {
	// Precision is the relative precision wanted of the comparison of the
	// targets: 0.02 is ±2 %. 0: none.
	Precision float64
	MinTrials int           // trials of each target before the precision is checked
	Budget    time.Duration // no block begins that is expected to end later than this; 0: no limit
}

// Target is an engine with its configuration.
type Target struct {
	Name    string // unique in the plan, and fit for a directory
	Loader  string // shared by targets that share loaded data, see LoadedAs; "" for others
	Engine  string
	Config  engine.Config // without Dir
	Machine Machine
	// Binaries are the rumbenches of which each runs a block of trials in turn; usually none, see Programs.
	Binaries []string
	Pull     Pull   // whether an image that is not on this machine is fetched before the campaign
	Data     string // absolute path of an existing data directory to use in place; "" for a private new one
	// Own names the parameters that the target overrides. Params and Run are then its
	// own, otherwise nil; see [Plan.For].
	Own    []string
	Params workload.Params
	Run    workload.Run
	// Knobs are the common knobs and options asked for, for printing. Sizes are
	// normalised, so that equal settings are equal texts.
	Knobs map[string]string
}

// Pull is whether an image is fetched.
type Pull string

// The values of Pull: an image is fetched if it is not on this machine, or never.
const (
	PullMissing Pull = "missing"
	PullNever   Pull = "never"
)

// LoadedAs returns the name under which the target's data are loaded: targets that differ only in what they
// may use of the machine share them.
func (t *Target) LoadedAs() string { return cmp.Or(t.Loader, t.Name) }

// maxTrials is the greatest number of trials of a target.
const maxTrials = 1000

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

// binder turns the nodes of a document into a plan.
type binder struct {
	strictyaml.Document
	places   []level // for hints at where an unknown key belongs
	cat      Catalog
	chosen   workload.Workload
	file     string // the plan's
	force    bool
	look     func(t *Target, kinds []string) bool // looks at the program of a server; nil: run nothing
	here     bool                                 // this is a machine of the plan's fleet
	cells    []*strictyaml.Node                   // of the fleet; nil: what is wrong with one is reported
	hostless bool                                 // a machine of the list was not understood, and is missing
	build    func(t *Target) error                // looks for the rumbench that runs a target's trials; nil: any will do
	attached []*bound                             // targets with a data source name
	paths    paths
	restart  *strictyaml.Node            // nil: the engines do not restart
	loaders  map[*strictyaml.Node]string // Target.Loader of targets at levels of the machine
}

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

// document returns an empty plan.
func document() strictyaml.Document {
	return strictyaml.Document{What: "plan", Least: "{workload: NAME, targets: [ENGINE]}"}
}

func defaultName(file string) string {
	base := filepath.Base(file)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); strings.Trim(name, "./-") != "" {
		return name
	}
	return "plan" // of a plan read from a pipe, for example
}

// section reads the map of a key, unless the key is absent or has something else; notMap are the reason and hint
// about that.
func section[T any](f strictyaml.Fields, key string, keys strictyaml.Table[T], dst *T,
	notMap ...string) (fields strictyaml.Fields, ok bool) {
	n := f.Value(key)
	if n == nil || len(notMap) > 0 && !f.In.Is(n, strictyaml.Mapping, notMap[0], notMap[1]) {
		return fields, false
	}
	fields = f.In.Fields(n, key, keys.Names())
	keys.Bind(fields, dst)
	return fields, n.Kind == strictyaml.Mapping
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
	readHooks(f, p)
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
