package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/pace"
)

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

// Rate is the arrival rate of operations for clients without their own rate, in
// steps that are bounded by time. One of At, Ramp and Steps is set.
type Rate struct {
	// At is operations per second; each of several is a separate step.
	At []float64
	// Ramp is the first and the last rate of a linear ramp over the step.
	Ramp []float64
	// Steps are rates one after the other, for equal parts of the step's time.
	Steps []float64
	Like  pace.Arrivals // the kind of arrivals, and how many operations may wait
}

// Find is a search, in each such step, for the highest arrival rate that keeps a
// promise about response times.
type Find struct {
	Promise    string        // "p99_ms < 10", however it was written
	Percentile float64       // of the promise; 100 for the maximum
	Below      time.Duration // the limit, exclusive
	From, To   float64       // bounds of the search; 0: none
	Precision  float64       // of the rate, as a share: 0.05 is 5 %
	Seconds    float64       // length of a probe; 0: the step's. See [Find.Length]
	Credit     float64       // the share of what is written by which put-off work may grow in a probe
	Hold       float64       // seconds for which the answer is held; negative: four probes, see [Find.Holds]
	Like       pace.Arrivals // the kind of arrivals, and how many operations may wait
}

// Restart are the steps before which the engine restarts.
type Restart struct {
	Before []string // names of steps; none: it does not
	Caches workload.Caches
}

// Start makes each trial begin from a copy of data that were loaded once. Its zero value means that
// each trial loads its own.
type Start struct {
	Copy  string // the step after which the data are copied, or OwnData
	Loads int    // how many times each target is loaded; the blocks of trials take turns at the copies
	Bases string // the directory in which loaded data are kept for later campaigns; "": they are not
}

// Between is what happens to the machine between trials.
type Between struct {
	Trim bool          // before each trial, the device learns which blocks of the data's file system are free
	Rest time.Duration // idle time after that; plans may call it cool_down, too
}

// Hooks are commands that run at one end of the parts of a campaign; "": none.
type Hooks struct{ Campaign, Trial, Step string }

// Any reports whether there is a command.
func (h Hooks) Any() bool { return h != Hooks{} }

// Profile describes the profiles of the trials. Its zero value means that there
// are none. Of a plan that does not say, CPU time is sampled.
type Profile struct {
	Mode  result.Profiling
	Hertz int // samples per second of CPU time
	// In extra trials alone: whether to trace which files the device reads and writes,
	// and how often per second to sample where threads sleep; 0: never.
	Files   bool
	Threads int
}

// Measured returns how the measured trials are profiled: those of a plan with extra ones are sampled.
func (p Profile) Measured() result.Profiling {
	switch p.Mode {
	case result.ProfileOff:
		return ""
	case result.ProfileExtra:
		return result.ProfileSampled
	}
	return p.Mode
}

// Seed determines the rows and choices of trials, and their order.
type Seed struct {
	Value uint64
	Fixed bool // all trials have it; else each block of one trial of each target draws its own from it
}

// Machine is what a target's engine and clients may use of the machine. Its zero value limits
// nothing.
type Machine struct {
	CPUs       CPUs  // of the engine
	ClientCPUs CPUs  // of the client of a server
	Memory     int64 // bytes of the engine, with the page cache of its files; 0: any
}

// CPUs are those of a list, or as many as a number says, or all.
type CPUs struct {
	Set    cpuset.Set
	Number int
}

// Published is a set of figures published elsewhere. Reports show it next to
// the measured figures; it is never part of a result.
type Published struct {
	Source   string // author, title, date, and where it can be read
	Hardware string // that it was measured on
	Note     string // such as corrections of units; may be empty
	Rows     []PublishedRow
}

// PublishedRow holds the figures of one configuration.
type PublishedRow struct {
	Name    string             // as published
	Like    string             // the target that corresponds to it; "" for none
	Step    string             // the step of the run that corresponds to it; "" for none
	Per     string             // the unit that its costs are per: "insert row"; "" if not given
	Figures map[string]float64 // by metric, in the metric's unit
}

// Fleet is the machines that a campaign uses. Its zero value is the machine that rumbench runs on.
type Fleet struct {
	Machines []Host // in the plan's order
	Cells    []Cell // over which blocks of trials are spread: each runs a trial at a time
	Mixed    bool   // their machines may be of different kinds
	Retries  int    // how often a block is run again whose machine was lost
	// Lost is how long a machine may say nothing if clients are on others than the server.
	Lost time.Duration
	// Address is where agents join, a host and a port; Wait is how long they are waited for.
	Address string
	Wait    time.Duration
}

// Cell is where a trial runs: one machine, or that of its server with those of its clients. A cluster has more
// machines with servers.
type Cell struct {
	Server   string
	Observed []string // of the other servers of a cluster
	Clients  []string // none: they are on the server's machine
}

// Host is a machine that is reached by ssh, or whose agent joins.
type Host struct {
	Name string `json:"name"`
	SSH  string `json:"ssh,omitempty"` // its destination, as ssh takes it; "": it joins
	Join bool   `json:"join,omitempty"`
	Dir  string `json:"dir,omitempty"` // where data are kept there, an absolute path; "": rumbench-fleet in the user's home
	// Listen is its address at which clients on other machines reach a server there; "": they cannot.
	Listen string `json:"listen,omitempty"`
}

// OwnData as the step means that each target's own data are copied.
const OwnData = "data"

// Any reports whether trials begin from copies.
func (s Start) Any() bool { return s.Copy != "" }

// Loaded reports whether the data that are copied are loaded by the plan's own steps.
func (s Start) Loaded() bool { return s.Any() && s.Copy != OwnData }

// String says what is where: "the server on db1, clients on c1, c2".
func (c Cell) String() string {
	clients := ", clients on " + strings.Join(c.Clients, ", ")
	switch {
	case len(c.Clients) == 0:
		return "on machine " + c.Server
	case len(c.Observed) > 0:
		return "servers on " + strings.Join(c.servers(), ", ") + clients
	}
	return "the server on " + c.Server + clients
}

// servers returns the names of the machines of servers.
func (c *Cell) servers() []string { return append([]string{c.Server}, c.Observed...) }

// Names returns the names of all its machines.
func (c *Cell) Names() []string { return append(c.servers(), c.Clients...) }

// Any reports whether the campaign runs on other machines.
func (f *Fleet) Any() bool { return len(f.Machines) > 0 }

// Divided reports whether clients are on other machines than their server.
func (f *Fleet) Divided() bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return len(c.Clients) > 0 })
}

// Host returns a machine; nil if there is none of the name.
func (f *Fleet) Host(name string) *Host {
	if i := slices.IndexFunc(f.Machines, func(h Host) bool { return h.Name == name }); i >= 0 {
		return &f.Machines[i]
	}
	return nil
}

// Used returns the machines of all cells.
func (f *Fleet) Used() (out []Host) {
	for i := range f.Cells {
		for _, name := range f.Cells[i].Names() {
			out = append(out, *f.Host(name))
		}
	}
	return out
}

// Observes reports whether a machine has a server of a cluster that is not its first.
func (f *Fleet) Observes(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return slices.Contains(c.Observed, name) })
}

// Uses reports whether a cell has a machine.
func (f *Fleet) Uses(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return slices.Contains(c.Names(), name) })
}

// Serves reports whether a machine has a server alone: its clients are on others.
func (f *Fleet) Serves(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool {
		return len(c.Clients) > 0 && slices.Contains(c.servers(), name)
	})
}

// Names returns the names of the cells: of their servers' machines.
func (f *Fleet) Names() []string {
	return quantity.Texts(f.Cells, func(c Cell) string { return c.Server })
}

func (c CPUs) String() string {
	if c.Number > 0 {
		return strconv.Itoa(c.Number)
	}
	if len(c.Set) > 0 {
		return "[" + c.Set.String() + "]"
	}
	return ""
}

// Limited reports whether anything is limited.
func (m *Machine) Limited() bool { return len(m.knobs()) > 0 }

// knobs returns what the plan asks for as texts, by the names of the keys.
func (m *Machine) knobs() map[string]string {
	out := map[string]string{"cpus": m.CPUs.String(), "client_cpus": m.ClientCPUs.String()}
	if m.Memory > 0 {
		out["memory"] = quantity.FormatSize(m.Memory)
	}
	maps.DeleteFunc(out, func(_, v string) bool { return v == "" })
	return out
}

// Choose returns the CPUs of the engine and of the client of a server among those that this process may
// use; nil: not limited.
func (m *Machine) Choose() (engine, client cpuset.Set, err error) {
	if client, err = cpuset.Choose(m.ClientCPUs.Set, m.ClientCPUs.Number, m.CPUs.Set); err != nil {
		return nil, nil, fmt.Errorf("client_cpus: %w", err)
	}
	if engine, err = cpuset.Choose(m.CPUs.Set, m.CPUs.Number, client); err != nil {
		return nil, nil, fmt.Errorf("cpus: %w", err)
	}
	return engine, client, nil
}

// Of returns the seed of the trials of a block, from 1. A sample of rows and keys is one draw:
// if all trials shared it, intervals over trials would be about that draw alone. The first
// block has the plan's own seed, so that one trial can be repeated. All are exact as JSON numbers.
func (s Seed) Of(block int) uint64 {
	if s.Fixed || block <= 1 {
		return s.Value
	}
	return uint64(gen.NewStream(s.Value, "seed of block").Uniform(uint64(block), 1<<53))
}

// Older returns the plan as versions ran it that knew one seed for all trials, levels that always ascend,
// and rates on credit: a campaign that they began is resumed so.
func (p *Plan) Older() *Plan {
	out := *p
	out.Seed.Fixed, out.Ascending = true, true
	if p.Find != nil {
		find := *p.Find
		find.Credit, find.Hold = 1, 0
		out.Find = &find
	}
	return &out
}
