package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result/program"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Format is the version of the files' format; files from version oldest on are read, too. Version 2 is
// that of release 0.1, the first.
const (
	Format = 3
	oldest = 2
)

// Status is how far a trial or step came.
type Status string

// The statuses.
const (
	Running  Status = "running"  // no end was written: it is running or was killed
	Complete Status = "complete" // everything was done
	Partial  Status = "partial"  // it was interrupted by its user; measurements so far are valid
	Failed   Status = "failed"   // it could not continue; measurements so far are valid
	Invalid  Status = "invalid"  // it ran to its end, but its numbers must not be used: see the warnings
)

// Hosting is where an engine runs.
type Hosting string

// The hostings. Without one it is unknown, as for imported logs.
const (
	Embedded Hosting = "embedded" // in rumbench's own process, with the clients
	Server   Hosting = "server"   // in separate processes
)

// Unknown represents unknown durability and other unknown facts of a trial.
const Unknown = "unknown"

// Trial is the content of trial.json: one target × one workload × one repetition.
// It has many fields because they are those of the file.
type Trial struct {
	Format   int    `json:"format"`
	Campaign string `json:"campaign"` // the plan's name
	Target   string `json:"target"`
	Trial    int    `json:"trial"` // from 1
	// Order is the campaign's order of trials, and Slot the trial's place in it,
	// from 1. Trials of one number ran side by side unless it is "sequential".
	Order string `json:"order,omitempty"`
	Slot  int    `json:"slot,omitempty"`
	// Resumed is how often the campaign had been interrupted and resumed before.
	// Trials of one number ran side by side only if they agree in it.
	Resumed int `json:"resumed,omitempty"`
	// Machine is the one of the fleet that ran the trial; "": the one that rumbench runs on.
	Machine string `json:"machine,omitempty"`
	// Placement is nil unless the clients were on other machines than the server.
	Placement *Placement `json:"placement,omitempty"`
	// Lost: its machine was lost while it ran. That is no fault of its target.
	Lost       bool              `json:"lost,omitempty"`
	CPUs       string            `json:"cpus,omitempty"` // the processors of a trial of a duet, as "0-3"
	Engine     string            `json:"engine"`
	Hosting    Hosting           `json:"hosting,omitempty"`
	Structure  string            `json:"structure"` // "LSM tree"
	Workload   string            `json:"workload"`
	Preset     string            `json:"preset,omitempty"`
	Params     map[string]any    `json:"params"`
	OwnParams  []string          `json:"own_params,omitempty"` // the names of those that the plan sets for this target
	Knobs      map[string]string `json:"knobs"`                // the common knobs and options as asked for
	Durability string            `json:"durability"`
	Promise    string            `json:"promise,omitempty"` // events a commit survives; "": unknown
	Seed       uint64            `json:"seed"`
	// PlanSeed is the plan's seed if Seed is that of the trial's block, drawn from it; nil if all
	// trials have the same.
	PlanSeed *uint64       `json:"plan_seed,omitempty"`
	Interval float64       `json:"interval_s"`
	Status   Status        `json:"status"`
	Reason   string        `json:"reason,omitempty"` // why it is partial, failed or invalid
	Hint     string        `json:"hint,omitempty"`   // how the user can help
	Started  time.Time     `json:"started"`
	Ended    *time.Time    `json:"ended,omitempty"`
	Versions observe.Facts `json:"versions"` // rumbench, Go, engine
	// the program that ran the trial; nil in files older than the field
	Build    *program.Build   `json:"build,omitempty"`
	Settings []engine.Setting `json:"settings"`
	Host     observe.Facts    `json:"host"`
	// ServerWarnings are the kinds of warnings in a private server's log, with N for each number.
	ServerWarnings []string `json:"server_warnings,omitempty"`
	// Unseen is whether the server's processes were not found on the host: it may be on another
	// machine.
	Unseen bool `json:"unseen,omitempty"`
	// PageCache is whether the engine reads through the page cache of the operating system; "" if it is
	// unknown, or it does no I/O.
	PageCache engine.PageCache `json:"page_cache,omitempty"`
	// Start is how the trial came by its data; nil if it has loaded them.
	Start *Start `json:"start,omitempty"`
	// RoundTrip is how long a client waits for the answer of the server to a statement without work, in µs, before the
	// first step; 0: unknown.
	RoundTrip float64 `json:"round_trip_us,omitempty"`
	// Affects are the aspects that Settings and the options among Knobs affect, as the engine declares.
	Affects map[string]engine.Aspect `json:"affects,omitempty"`
	// Canary is how fast the machine was just before the trial; nil if that was not measured.
	Canary *observe.Canary `json:"canary,omitempty"`
	// Ceilings are the limits of the device, as probed before the campaign's trials;
	// nil if it was not probed, or may be a different device.
	Ceilings *observe.Ceilings `json:"ceilings,omitempty"`
	Hooks    []Hook            `json:"hooks,omitempty"` // the plan's commands that were run around the trial and its steps
	Steps    []Step            `json:"steps"`
	Warnings []metric.Warning  `json:"warnings,omitempty"`
	// Imported is the provenance of numbers that rumbench did not measure; nil if
	// it did.
	Imported *Imported `json:"imported,omitempty"`
	// Recorded is the command of the program that made the load, if that was
	// not rumbench: "sysbench oltp_read_only run"; "" for other trials.
	Recorded string `json:"recorded,omitempty"`
	// Profiled is how the trial was profiled; "" if it was not. Numbers of a trial that
	// was run for its profile alone are compared with nothing.
	Profiled Profiling `json:"profiled,omitempty"`
	// Dir is the directory that the trial was read from, Asked the question of its
	// campaign, and At the step that a trial without an end was in when it was read,
	// "" in none; they are not written.
	Dir   string   `json:"-"`
	Asked Question `json:"-"`
	At    string   `json:"-"`
}

// DurabilityText returns the durability with its meaning, if that is known.
func (t *Trial) DurabilityText() string {
	if t.Promise == "" {
		return t.Durability
	}
	return t.Durability + " (" + t.Promise + ")"
}

// Cache returns the requested size of the engine's cache, or the engine's own
// description if the size cannot be set. It is "" for the engine's default.
func (t *Trial) Cache() string { return cmp.Or(t.Knobs["cache"], t.Setting("cache")) }

// Setting returns how the engine has something set, as recorded; "" if that is not known.
func (t *Trial) Setting(name string) string {
	for _, s := range t.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// ImageFact is the fact among Versions that names the container image that the server was run from.
const ImageFact = "image"

// Contained reports whether the server ran in a container.
func (t *Trial) Contained() bool { return t.Versions.Value(ImageFact) != "" }

// CacheText returns the cache in a unit that people read.
func (t *Trial) CacheText() string {
	if n, err := quantity.ParseSize(t.Cache()); err == nil {
		return quantity.Bytes(n)
	}
	return t.Cache()
}

// Memory returns the bytes that the engine's reads can be served from: its limit of memory, or the
// cache of an engine that bypasses the page cache. limited is false if that is any free memory, and
// found if that is known.
func (t *Trial) Memory() (bytes int64, limited, found bool) {
	if n, err := quantity.ParseSize(t.Knobs["memory"]); err == nil {
		return n, true, true
	}
	if t.PageCache != engine.CacheBypassed {
		return 0, false, t.PageCache != ""
	}
	n, err := quantity.ParseSize(t.Cache())
	return n, true, err == nil
}

// SeedText returns how the trials of the campaign are seeded: "1 for all trials", or "per block,
// from 1"; "" if it is not known.
func (t *Trial) SeedText() string {
	switch {
	case t.Imported != nil || t.Recorded != "":
		return ""
	case t.PlanSeed != nil:
		return fmt.Sprintf("per block, from %d", *t.PlanSeed)
	}
	return fmt.Sprintf("%d for all trials", t.Seed)
}

// EngineVersion returns the version that a server reports, or that of the
// linked or imported engine; "" if none is known.
func (t *Trial) EngineVersion() string {
	return cmp.Or(t.Versions.Value("server"), t.Versions.Value(t.Engine), t.Versions.Value("engine"))
}

// ProgramFact is the fact that names the program that ran a trial, by its digest.
const ProgramFact = "program"

// Program returns the digest of the program that ran the trial, shortened; "" if it is unknown.
func (t *Trial) Program() string {
	if t.Build == nil || t.Build.SHA256 == "" {
		return ""
	}
	return "sha256 " + t.Build.SHA256[:min(12, len(t.Build.SHA256))]
}

// Imported is the provenance of a trial made from another tool's logs. Facts
// that such logs do not contain (durability, settings, the seed, an interval,
// the start time) have no value in the trial: they are unknown, not zero.
type Imported struct {
	Tool  string   `json:"tool"`           // with its version: "sysbench 1.0.20"
	Mode  string   `json:"mode"`           // the arithmetic: "correct", or "compatible" with published scripts
	Files []string `json:"files"`          // that were read
	CPUs  int      `json:"cpus,omitempty"` // of the host; 0: unknown
}

// Step is one step of a trial. It has many fields because they are those of the
// file.
type Step struct {
	Name    string    `json:"name"`
	Doc     string    `json:"doc,omitempty"`
	Status  Status    `json:"status"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // the measured window
	// Alone is, in a duet, how many of the last seconds this step ran after the
	// other trial's had ended.
	Alone float64 `json:"alone_s,omitempty"`
	// Base and Axes place the step among others that differ only in these numbers;
	// "" and none for a step outside any sweep.
	Base string `json:"base,omitempty"`
	Axes []Axis `json:"axes,omitempty"`
	// Search is the result of a search for a rate. Its probes are the steps
	// NAME@RATE; nil if there was none.
	Search *Search `json:"search,omitempty"`
	// Uncounted: a probe of a search that shows nothing, as other programs disturbed it.
	Uncounted bool `json:"uncounted,omitempty"`
	// Warmup: the step only prepared the next one; it is never judged.
	Warmup bool `json:"warmup,omitempty"`
	// Caches is what a restart did with the page cache: of the restart's own step, and of the step that
	// follows it; "" for other steps.
	Caches workload.Caches `json:"caches,omitempty"`
	// Creates: its tables were created before it.
	Creates bool `json:"creates,omitempty"`
	// Judged are the metrics by which the workload judges the step unless the plan
	// asks for others; none if the workload is not about the step, and in imported
	// logs.
	Judged []string `json:"judged,omitempty"`
	// Access and BeforeWrites are as the workload declared them; "" in
	// imported logs: see [Trial.TestOf].
	Access       workload.Access `json:"access,omitempty"`
	BeforeWrites bool            `json:"before_writes,omitempty"`

	// Touches are as the workload declared them.
	Touches []workload.Touch `json:"touches,omitempty"`

	// OwnSQL are the operations for which the engine executed custom SQL.
	OwnSQL []string `json:"own_sql,omitempty"`

	Primary   string                `json:"primary"`    // the operation kind that the step is about
	WritesPer string                `json:"writes_per"` // the operation kind that writes are reported per
	Groups    []Group               `json:"groups,omitempty"`
	Rows      []metric.Row          `json:"rows"`
	Stalls    []metric.Span         `json:"stalls,omitempty"`
	Curves    []metric.Curve        `json:"curves,omitempty"`
	Settle    []engine.SettleAction `json:"settle,omitempty"`
	Structure engine.Structure      `json:"structure,omitzero"` // at the end
	Counters  []CounterChange       `json:"counters,omitempty"`
	Notes     []metric.Warning      `json:"notes,omitempty"`
	Warnings  []metric.Warning      `json:"warnings,omitempty"`
	Profile   *StepProfile          `json:"profile,omitempty"` // nil if the step was not profiled
	Format2Step
}

// Test is how tables of many tests classify a step.
type Test struct {
	Access workload.Access
	// WarmUp: it prepares other tests. BeforeWrites: it has the numbers from
	// before the writes.
	WarmUp, BeforeWrites bool
}

// TestOf returns the class of a step: as declared by its workload, or, if that
// was not recorded, by names.
func (t *Trial) TestOf(s *Step) Test {
	if s.Access == "" {
		return testByName(t.Workload, s)
	}
	return Test{s.Access, s.Warmup, s.BeforeWrites}
}

// Prepares reports whether a step only prepares those that the workload is about: a
// load, an index build, a rest, a warm-up.
func (t *Trial) Prepares(s *Step) bool {
	loads := s.Creates || s.Access == "" && s == &t.Steps[0] && s.WritesRows()
	return s.Primary == "" || s.Warmup || s.Primary == indexOp || loads
}

// Restarts reports whether the engine restarted in the step itself.
func (s *Step) Restarts() bool { return s.Caches != "" && s.Primary == "" }

// WritesRows reports whether the step's primary operations are counted in rows
// that they write, or build an index of.
func (s *Step) WritesRows() bool {
	if s.Access == "" {
		return accessOf(s.Primary) == workload.WriteAccess || s.Primary == indexOp
	}
	counted := slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Units[s.Primary] == rowUnit })
	return counted && (s.Access == workload.WriteAccess || s.Access == workload.OtherAccess)
}

// Counts returns what the step's throughput counts: its operations, or what they index.
func (s *Step) Counts() string {
	if s.Primary != indexOp {
		return s.Primary
	}
	unit := rowUnit
	for i := range s.Groups {
		unit = cmp.Or(s.Groups[i].Units[indexOp], unit)
	}
	return "indexed " + quantity.Plural(unit)
}

// Single reports whether a row belongs to a single operation kind, not to a
// whole of several.
func (s *Step) Single(row *metric.Row) bool {
	return slices.ContainsFunc(s.Groups,
		func(g Group) bool { return g.Name == row.Group && slices.Contains(g.Ops, row.Op) })
}

// rowUnit is the unit of operations that count rows.
const rowUnit = "row"

// Axis is a number that differs between steps of one base.
type Axis = workload.Axis

// Group describes a group of clients.
type Group struct {
	Name    string  `json:"name"`
	Clients int     `json:"clients"`
	Rate    float64 `json:"rate,omitempty"` // promised units a second of the whole group; 0: closed loop
	// RateOf is the operation that Rate counts, if not the group's units:
	// transactions, for a log that counts queries.
	RateOf string `json:"rate_of,omitempty"`
	Pace   string `json:"pace,omitempty"`
	// Open: operations arrive by one schedule for all clients, on average at Rate,
	// which counts operations. Queue is how many may wait; 0: any number.
	Open  bool  `json:"open,omitempty"`
	Queue int64 `json:"queue,omitempty"`
	// LeadIn is for how many seconds operations arrived before the window.
	LeadIn float64 `json:"lead_in_s,omitempty"`
	// Ramp is how the rate of an open group changes over time; empty if it does
	// not.
	Ramp []Ramp   `json:"ramp,omitzero"`
	Ops  []string `json:"ops"`
	// Shares are the planned shares of its operations, if there are several and the
	// shares are known.
	Shares map[string]float64 `json:"shares,omitempty"`
	// Parts are the statements of its operations, if they are timed individually.
	Parts []string `json:"parts,omitempty"`
	// Units are what operations count, by their kinds: "row", "query"; nil if that
	// was not recorded.
	Units map[string]string `json:"units,omitempty"`
	// Of maps kinds that are varieties to their whole: "range market" belongs
	// to "query". Both have rates and latencies.
	Of map[string]string `json:"of,omitempty"`
	Format2Group
}

// RateUnit returns the suffix of the promised rate: " of transaction", or "" if
// it counts the group's units.
func (g *Group) RateUnit() string {
	if g.RateOf == "" {
		return ""
	}
	return " of " + g.RateOf
}

// Promised returns the rate that is promised for an operation of the group; 0 if
// there is none.
func (g *Group) Promised(op string) float64 {
	if g.RateOf != "" && g.RateOf != op {
		return 0
	}
	return g.Rate
}

// Extremes returns the least and the greatest rate of a group with a changing rate; 0
// for others.
func (g *Group) Extremes() (low, high float64) {
	if len(g.Ramp) == 0 {
		return 0, 0
	}
	low = math.Inf(1)
	for _, r := range g.Ramp {
		low, high = min(low, r.From, r.To), max(high, r.From, r.To)
	}
	return low, high
}

// Ramp is a stretch of time in which a rate changes linearly.
type Ramp = pace.Segment

// CounterChange is a counter's change over a step, or a gauge's value at its end.
type CounterChange = observe.Change
