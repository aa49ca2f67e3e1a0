// Package workload is the contract of a workload: tables, operations and steps
// in engine-neutral words. The folders below it hold the workloads, and
// workloadtest the conformance suite that every workload passes.
//
// It holds no clock and no statistics: clients perform operations one at a
// time and are timed from outside. It knows no engine by name.
package workload

import (
	"context"
	"errors"
	"time"

	"rumbench/engine"
	"rumbench/internal/pace"
	"rumbench/model"
)

// Workload makes runs of one kind. It holds no state.
type Workload interface {
	Info() Info
	// New makes a run from parameters that have been checked one by one
	// against Info; it refuses combinations that make no sense, with a
	// *ParamError where one parameter is to blame.
	New(p Params) (Run, error)
}

// Info describes a workload to people and to the planner.
type Info struct {
	Name    string
	Doc     string // one sentence
	Params  []Param
	Presets []Preset
}

// Run is a workload with its parameters chosen.
type Run interface {
	Schema() model.Schema
	// Needs returns the capabilities without which the run makes no sense.
	Needs() []model.Capability
	Steps() []Step
	// Estimate returns the greatest number of rows and live user bytes that the run reaches.
	Estimate() Live
}

// Live is how much user data a database holds.
type Live struct {
	Rows int64
	// Bytes are the sizes of the values of all rows, and of the entries of all
	// existing indexes (their columns and the key), without any overhead.
	Bytes int64
}

// Step is one phase of a run.
type Step struct {
	Name string
	Doc  string // what question it answers
	// Creates: the tables are created before the step; they must not exist.
	Creates bool
	// Settle, if set, makes this a step in which the engine comes to rest. It
	// has no groups.
	Settle *Settle
	Groups []Group
	// Seconds bounds the step in time: no operation begins later. 0: the step
	// ends when the groups with Work have done it.
	Seconds float64
	// Base and Axes place the step among others that do the same and differ in
	// numbers only, such as how many clients there are: the report draws these
	// as one curve. Base is "" for a step that stands alone.
	Base string
	Axes []Axis
	// Before names an earlier step that did the same before something was done
	// to the data; "": there is none. What it cost to do it is their ratio.
	Before string
	// Warmup: the step only readies the one that follows; nobody asks how fast
	// it is at which rate.
	Warmup bool
	// Access is what its primary operations do to rows, by which tables of many
	// tests group it. BeforeWrites: it has the numbers from before the writes, of
	// a test that comes again after them.
	Access       Access
	BeforeWrites bool
	// Primary names the operation kind that the step is about: its rate is the
	// step's throughput, and CPU, reads and context switches are reported per
	// unit of it. WritesPer names the one that writes are reported per.
	Primary   string
	WritesPer string
	// Open begins the step on a database that is open and has its tables.
	Open func(ctx context.Context, env Env) (Stage, error)
}

// Access is what operations do to rows.
type Access string

// The accesses. "" is OtherAccess.
const (
	PointAccess Access = "point" // rows are looked up by a key
	RangeAccess Access = "range" // rows are read in the order of an index, or all
	WriteAccess Access = "write" // insert, update, delete
	MixedAccess Access = "mixed" // several of these, in one number
	OtherAccess Access = "other" // none of them, or unknown
)

// Axis is a number in which steps of one base differ.
type Axis struct {
	Name  string // as columns are headed: "clients", "tables", "reads per write"
	Value float64
}

// Settle is the work of a settle step.
type Settle struct {
	// Floor is the least duration of the step: engines do background work that
	// cannot be waited for.
	Floor time.Duration
}

// Group is a number of clients that do the same.
type Group struct {
	Name    string
	Clients int
	Ops     []OpKind // what its clients' operations are
	// Work is how many operations each client does. 0: the group runs until
	// the groups with work are done, or the time is over.
	Work int64
	// Rate is how many operations a second each client is to begin. 0: each
	// begins when the one before has ended.
	Rate float64
	Pace pace.Kind
	// Arrivals, if set, makes the group an open system: its operations arrive
	// by one schedule for all clients, and whoever is free does the next. Rate
	// is then 0.
	Arrivals *pace.Arrivals
	// RowsPerOp is how many units an operation of a group with a rate does;
	// the promised rate in units is Rate × RowsPerOp × Clients.
	RowsPerOp int64
	// Parts name the statements that an operation is made of, where they are
	// timed one by one; see Outcome.Parts.
	Parts []string
	// Retry says what becomes of an operation that failed because others were
	// in the way, or whose key existed.
	Retry Retry
}

// Paced reports whether the group's operations have an intended start.
func (g *Group) Paced() bool { return g.Rate > 0 || g.Arrivals != nil }

// Schedule returns the schedule of one of the clients of a group with a rate, of
// which the group's seed makes the random ones repeatable. Clients do not start together.
func (g *Group) Schedule(seed uint64, client int) (*pace.Schedule, error) {
	return pace.New(g.Pace, g.Rate, float64(client)/float64(g.Clients), seed+uint64(client))
}

// Plan returns when a group with a rate is to have done its work, or, where that
// is bounded, its time is over.
func (g *Group) Plan(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return time.Duration(float64(g.Work) / g.Rate * float64(time.Second))
}

// GroupSeed returns the seed of the schedules of a step's group.
func GroupSeed(seed uint64, group int) uint64 { return seed + uint64(group)<<32 }

// Retry is what becomes of an operation that failed. Its zero value tries the
// same again at once, without end.
type Retry struct {
	Policy RetryPolicy
	// Max is how many attempts an operation has; 0: any number. After the last
	// it is given up, which is counted.
	Max int
	// Backoff is the longest pause before the second attempt; it doubles with
	// each further one, up to a second. The pause is a random part of it.
	Backoff time.Duration
}

// RetryPolicy is what is tried after a failure.
type RetryPolicy string

// The policies. "" is RetrySame.
const (
	RetrySame RetryPolicy = "same" // the same operation with the same values
	RetryNew  RetryPolicy = "new"  // another one with new values, as sysbench does: it runs away from the conflict
	RetryNone RetryPolicy = "none" // nothing: the operation is given up
)

// OpKind names a kind of operation that clients of a group perform.
type OpKind struct {
	Name string // "insert", "range market"
	Unit string // what Outcome.Rows counts and costs are divided by: "row", "query"
	// Upkeep operations are not asked for by the workload's schedule; they are
	// timed, but neither counted as work nor paced.
	Upkeep bool
	// Returns: Outcome.Bytes are those returned by reading, not written.
	Returns bool
	// Finds is what is known of how many rows its operations find.
	Finds Finds
	// Of names the kind that this one is a variety of, for costs and rates of
	// the whole: "range market" is of "query". "" means Name.
	Of string
}

// Finds is what is known of how many rows operations find.
type Finds uint8

// The kinds of knowledge.
const (
	FindsNothing   Finds = iota // they look for no rows, or the answer does not show how many there were
	FindsExactly                // each finds Outcome.Expected rows
	FindsOnAverage              // Outcome.Expected is the mean of a number that varies, as one of random rows does
)

// Whole returns the kind that costs and rates are summed under.
func (k OpKind) Whole() string {
	if k.Of != "" {
		return k.Of
	}
	return k.Name
}

// Env is what a step may use.
type Env struct {
	DB   engine.DB
	Seed uint64
	// Results is false on an engine that stores nothing: answers must not be
	// checked.
	Results bool
	// Previous is what the step before left; nil when this is the first one in
	// this process.
	Previous *Live
}

// Stage is a step being run.
type Stage interface {
	// Client makes the client for a seat. It is called for all seats before
	// the first operation, from one goroutine.
	Client(ctx context.Context, seat Seat) (Client, error)
	// Finish is called after the last operation with what the groups did. It
	// checks the step's invariants and tells what the database holds now.
	Finish(ctx context.Context, done Totals) (Finding, error)
}

// Seat is the place of a client.
type Seat struct {
	Group   int // position in Step.Groups
	Client  int // 0…Clients-1
	Session engine.Session
}

// Client performs operations for one seat, always from one goroutine.
type Client interface {
	// Do performs one operation and says in out what it was. After an error
	// whose class does not end the step, the next call tries the same
	// operation again. ErrDone ends the client early.
	//
	// A client undoes what a failed operation left, so that nothing of it
	// stays: it sends a rollback, whatever the error was.
	Do(ctx context.Context, out *Outcome) error
}

// Abandoner is a Client whose operations have values that it keeps for the
// next attempt. Abandon makes it forget them: the next operation is a new one.
type Abandoner interface {
	Abandon()
}

// Readier is a Client that has something to do before an operation that does
// not belong to its service time: making the rows, or waiting for other
// clients. Ready is called before every operation. It returns an error only
// when the context ends.
type Readier interface {
	Ready(ctx context.Context) error
}

// Finisher is a Client that has something to do after the last operation of its
// work, as part of the measured window: its own last writes, say. It is not an
// operation and has no latency, but its time and cost are the step's.
type Finisher interface {
	Finish(ctx context.Context) error
}

// ErrDone ends a client that has nothing more to do.
var ErrDone = errors.New("the client is done")

// Outcome is what one operation did. It is empty when Do is called, but for
// Parts, which hold what an attempt before left in them. A client that fails has said in Kind what it tried, and in the counts
// of statements what it had done by then.
type Outcome struct {
	Kind  int   // position in Group.Ops
	Rows  int64 // units done
	Bytes int64 // user bytes written (index entries included) or returned
	// Expected is how many rows the operation has to find, or to change, if the
	// database holds what the workload has put there; 0: that is not known. Found
	// is how many it found, of those that are expected if that is known. Fewer
	// are a finding, not an error.
	Expected, Found int64
	// Reads, Writes and Others count the statements executed: those that read,
	// those that changed something, and all else: begin, commit, rollback, and
	// writes that found nothing to change.
	Reads, Writes, Others int64
	// Parts times the statements of the operation; nil where nobody asks.
	Parts *Parts
}

// Parts are the times that the statements of one operation took. They are empty
// at an operation's first attempt. A further one that goes on behind the
// statements that are done adds to them; one that begins anew, as a transaction
// does, says so by Reset. Its methods do nothing on a nil pointer.
type Parts struct {
	// Clock is nanoseconds since some start.
	Clock func() int64
	Laps  []Lap
	// Kept is how many of Laps are of attempts before; the caller of Do sets it.
	Kept  int
	start int64
}

// Reset forgets all statements: the attempt does each of them again.
func (p *Parts) Reset() {
	if p != nil {
		p.Laps, p.Kept = p.Laps[:0], 0
	}
}

// Lap is the time of one statement.
type Lap struct {
	Part int // position in Group.Parts
	Time int64
}

// Start begins the time of a statement.
func (p *Parts) Start() {
	if p != nil {
		p.start = p.Clock()
	}
}

// Stop ends the time of a statement that was answered.
func (p *Parts) Stop(part int) {
	if p != nil {
		p.Laps = append(p.Laps, Lap{part, p.Clock() - p.start})
	}
}

// Totals is what was done in a step: per group, per operation kind.
type Totals [][]Total

// Total sums the operations of one kind in one group.
type Total struct {
	Ops, Rows, Bytes, Expected, Found int64
}

// Rows sums the units of an operation kind over all groups of a step.
func (t Totals) Rows(step *Step, kind string) (n int64) {
	for g := range t {
		for k := range t[g] {
			if step.Groups[g].Ops[k].Whole() == kind {
				n += t[g][k].Rows
			}
		}
	}
	return n
}

// Finding is what a step left and whether its invariants hold.
type Finding struct {
	Live Live
	// Broken lists invariants that do not hold: the step's result is wrong.
	Broken []string
	// ReadAll: to find out, whole tables were read.
	ReadAll bool
	// Notes are remarks that belong to the result without doubting it.
	Notes []string
}
