// Package workload is the contract of a workload: tables, operations and steps,
// independent of engines. The packages below it are the workloads, and
// workloadtest is the conformance suite that every workload passes.
//
// It holds no clock and no statistics: clients perform operations one at a time
// and are timed from outside. It knows no engine by name.
package workload

import (
	"context"
	"errors"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload/pace"
)

// Workload creates runs of one kind. It holds no state.
type Workload interface {
	Info() Info
	// New returns a run with parameters that have each been checked against Info. It
	// refuses invalid combinations, with a *ParamError if one parameter is to blame.
	New(p Params) (Run, error)
}

// NewRun returns a run of a workload with a preset, or "", and parameters that
// have been parsed.
func NewRun(w Workload, preset string, given map[string]any) (Run, error) {
	p, err := w.Info().Resolve(preset, given)
	if err != nil {
		return nil, err
	}
	return w.New(p)
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
	// Needs returns the capabilities that the run needs.
	Needs() []model.Capability
	Steps() []Step
	// Estimate returns the peak of rows and live user bytes when these steps are run: its own,
	// possibly with arrivals at a rate.
	Estimate(steps []Step) Live
}

// Speaker is a Run that includes statements in custom SQL.
type Speaker interface {
	// Speaks returns the engines on which the run is possible; nil: all.
	Speaks() []string
}

// Live is the amount of user data in a database.
type Live struct {
	Rows int64
	// Bytes is the size of the values of all rows, and of the entries of all
	// existing indexes (their columns and the key), without overhead.
	Bytes int64
	// Partial: other tables may hold rows, too, whose number is unknown.
	Partial bool `json:",omitempty"`
}

// Touch is the number of entries of an index that a unit of work reads or changes, each
// anywhere in the index with the same probability. Accesses in index order are left out:
// they share their pages.
type Touch struct {
	Table   string  `json:"table"`
	Index   string  `json:"index,omitempty"` // "": the table itself, in the order of its key
	PerUnit float64 `json:"per_unit"`
	Changes bool    `json:"changes,omitempty"`
}

// Step is one phase of a run. It has many fields: one per property that the load loop,
// the planner or the report needs.
type Step struct {
	Name string
	Doc  string // the question that it answers
	// Creates is whether the tables are created before the step; they must not
	// exist.
	Creates bool
	// Whole is whether later steps need everything that the step does, however
	// little data there is: not even a preflight shortens it.
	Whole bool
	// Builds is how many indexes the step's operations build; 0: they build none.
	Builds int
	// Settle, if set, makes this a step in which the engine comes to rest. Such a step
	// has no groups.
	Settle *Settle
	// Restart, if set, makes this a step in which the engine restarts. It has no groups either.
	Restart *Restart
	Groups  []Group
	// Seconds limits the step in time: no operation begins later. 0: the step
	// ends when the groups with Work are done.
	Seconds float64
	// Base and Axes locate the step among similar ones that differ only in numbers, such
	// as the number of clients: the report draws them as one curve. Base is "" for a step
	// that has no similar ones.
	Base string
	Axes []Axis
	// Before names the same step before the data was changed; "": there is none.
	// The ratio of both is the cost of the change.
	Before string
	// Warmup is whether the step only prepares the next one, so that its own rate is
	// irrelevant.
	Warmup bool
	// Grows is whether each operation may add rows, so that the data grow with throughput.
	Grows bool
	// Judged are the metrics that decide whether a target is better in this step, unless
	// others are requested: a handful over all steps together. None: the workload is not
	// about this step. The names are those of rumbench list metrics.
	Judged []string
	// Access is the way in which its primary operations access rows; tables of many tests
	// group them by it. BeforeWrites is whether the test is repeated after writes.
	Access       Access
	BeforeWrites bool
	// Primary names the operation kind that the step is about: its rate is the step's
	// throughput, and CPU, reads and context switches are reported per unit of it. Writes
	// are reported per unit of the kind that WritesPer names.
	Primary   string
	WritesPer string
	Unsized   bool // the size of what its operations write is unknown
	// Touches are the random index accesses of one unit of the primary operation kind, if
	// known: models of structures predict costs from them.
	Touches []Touch
	// Divides is whether several processes can run the step, each its own seats, see [Part]: their stages
	// share nothing but the database and [Counting], and only one of them is finished. Its Open changes
	// nothing then.
	Divides bool
	// Open starts the step on an open database with its tables.
	Open func(ctx context.Context, env Env) (Stage, error)
}

// Loads reports whether the step's effect is independent of time: it ends when its work is done.
func (s *Step) Loads() bool {
	return s.Seconds == 0 && !slices.ContainsFunc(s.Groups, func(g Group) bool { return g.Paced() })
}

// CheckRates returns an error if a group is to begin more operations than any engine can do.
func CheckRates(steps []Step) error {
	for _, s := range steps {
		for _, g := range s.Groups {
			rate := g.Rate * float64(g.Clients)
			if g.Arrivals != nil {
				for _, part := range g.Arrivals.Segments {
					rate = max(rate, part.From, part.To)
				}
			}
			if rate > pace.Fastest {
				return hint.Errorf("a rate that no engine reaches is the same as none: leave it out",
					"step %s, group %s: %g operations per second are more than %g", s.Name, g.Name, rate, pace.Fastest)
			}
		}
	}
	return nil
}

// Planned returns the planned length of the step's window in seconds; 0 if it has
// none.
func (s *Step) Planned() float64 {
	if s.Seconds > 0 {
		return s.Seconds
	}
	var longest float64
	for _, g := range s.Groups {
		if g.Work > 0 && g.Rate > 0 {
			longest = max(longest, float64(g.Work)/g.Rate)
		}
	}
	return longest
}

// Growing returns how many operations the steps that grow do at most, if clients without a rate
// do no more than guess a second.
func Growing(steps []Step, guess float64) (n float64) {
	for i := range steps {
		s := &steps[i]
		if !s.Grows {
			continue
		}
		for _, g := range s.Groups {
			switch a := g.Arrivals; {
			case g.Work > 0:
				n += float64(g.Work) * float64(g.Clients)
			case a != nil:
				n += a.Until(s.Seconds) + a.LeadIn*a.Segments[0].From
			default:
				n += s.Seconds * guess
			}
		}
	}
	return n
}

// Access is how operations access rows.
type Access string

// The accesses. "" is OtherAccess.
const (
	PointAccess Access = "point" // lookup by key
	RangeAccess Access = "range" // ranges of an index, or whole tables
	WriteAccess Access = "write" // insert, update, delete
	MixedAccess Access = "mixed" // several of these, in one number
	OtherAccess Access = "other" // none of them, or unknown
)

// Axis is a number in which steps with the same base differ.
type Axis struct {
	Name  string  `json:"name"` // the heading of a column: "clients", "tables", "reads per write"
	Value float64 `json:"value"`
}

// Settle is the work of a settle step.
type Settle struct {
	// Floor is the minimum duration of the step, for background work whose end
	// cannot be observed.
	Floor time.Duration
}

// Group is a number of clients with the same operations.
type Group struct {
	Name    string
	Clients int
	Ops     []OpKind // the kinds of operations
	// Work is the number of operations of each client. 0: the group runs until
	// the groups with work are done, or the time is over.
	Work int64
	// Rate is the number of operations per second that each client starts. 0: each
	// operation starts when the previous one has ended (closed loop).
	Rate float64
	Pace pace.Kind
	// Arrivals, if set, makes the group an open system: operations arrive by one
	// schedule for all clients, and the next free client executes them. Rate is
	// then 0.
	Arrivals *pace.Arrivals
	// RowsPerOp is the number of units per operation in a group with a rate; the
	// promised rate in units is Rate × RowsPerOp × Clients.
	RowsPerOp int64
	// Parts names the statements of an operation, if they are timed individually;
	// see Outcome.Parts.
	Parts []string
	// Retry is the policy for an operation that failed because of concurrent
	// transactions, or because its key existed.
	Retry Retry
}

// Paced reports whether the group's operations have an intended start.
func (g *Group) Paced() bool { return g.Rate > 0 || g.Arrivals != nil }

// Schedule returns the schedule of a client of a group with a rate. The seed of
// the group makes random schedules repeatable. Clients do not start together.
func (g *Group) Schedule(seed uint64, client int) (*pace.Schedule, error) {
	return pace.New(g.Pace, g.Rate, float64(client)/float64(g.Clients), seed+uint64(client))
}

// Plan returns the planned duration of a group with a rate: limit if it is set, else the
// time in which the group should complete its work.
func (g *Group) Plan(limit time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return quantity.AsDuration(float64(g.Work) / g.Rate)
}

// GroupSeed returns the seed of the schedules of a step's group.
func GroupSeed(seed uint64, group int) uint64 { return seed + uint64(group)<<32 }

// Retry is the policy for a failed operation. The zero value retries it at once and
// without limit.
type Retry struct {
	Policy RetryPolicy
	// Max is the number of attempts after which an operation is given up, which is
	// counted; 0: no limit.
	Max int
	// Backoff is the maximum pause before the second attempt; it doubles with
	// each further one, up to a second. The pause is a random share of it.
	Backoff time.Duration
}

// RetryPolicy is the kind of attempt that follows a failure.
type RetryPolicy string

// The policies. "" is RetrySame.
const (
	RetrySame RetryPolicy = "same" // the same operation with the same values
	RetryNew  RetryPolicy = "new"  // new values, as in sysbench: it avoids the conflict
	RetryNone RetryPolicy = "none" // nothing: the operation is given up
)

// OpKind names a kind of operation that clients of a group perform.
type OpKind struct {
	Name string // "insert", "range market"
	Unit string // the unit that Outcome.Rows counts and by which costs are divided: "row", "query"
	// Share is its planned share of the group's operations; 0: unknown.
	Share float64
	// Upkeep is whether operations are not part of the workload's schedule: they
	// are timed, but neither counted as work nor paced.
	Upkeep bool
	// Event is whether each operation is rare and affects other operations, so that
	// charts mark it.
	Event bool
	// Returns is whether Outcome.Bytes are returned by reads, not written.
	Returns bool
	// Finds is the knowledge about the number of rows that operations find.
	Finds Finds
	// Rules are the requirements of a standard for the operations; nil: none.
	Rules *Rules
	// Of names the kind of which this kind is a variant, for combined costs and rates:
	// "range market" is a variant of "query". "" means Name.
	Of string
}

// Rules are the requirements of a standard for the operations of a kind.
type Rules struct {
	P90 time.Duration // the maximum 90th percentile of their times
	// MostPerMinute is the maximum number of operations per minute of the group's
	// clients, because they wait between operations; 0: they do not wait.
	MostPerMinute float64
}

// Finds is the knowledge about the number of rows that operations find.
type Finds uint8

// The kinds of knowledge about rows found.
const (
	FindsNothing   Finds = iota // they search for no rows, or the result does not show how many
	FindsExactly                // each finds Outcome.Expected rows
	FindsOnAverage              // Outcome.Expected is the mean of a random number
)

// Whole returns the kind under which costs and rates are summed.
func (k OpKind) Whole() string {
	if k.Of != "" {
		return k.Of
	}
	return k.Name
}

// Stage is a running step.
type Stage interface {
	// Client returns the client of a seat. It is called for all seats before the first
	// operation, from one goroutine.
	Client(ctx context.Context, seat Seat) (Client, error)
	// Finish is called after the last operation with the totals of the groups. It checks
	// the step's invariants and returns the state of the database.
	Finish(ctx context.Context, done Totals) (Finding, error)
}

// Seat identifies a client of a step.
type Seat struct {
	Group   int // position in Step.Groups
	Client  int // 0…Clients-1
	Session engine.Session
}

// Client performs operations for one seat, always from one goroutine.
type Client interface {
	// Do performs one operation and describes it in out. After an error whose
	// class does not end the step, the next call retries the same operation.
	// ErrDone ends the client early.
	//
	// A client undoes a failed operation completely: it sends a rollback, whatever
	// the error was.
	Do(ctx context.Context, out *Outcome) error
}

// Abandoner is a Client that keeps the values of an operation for the next
// attempt. Abandon drops them, so that the next operation is a new one.
type Abandoner interface {
	Abandon()
}

// Readier is a Client that prepares operations outside their service time: it
// generates rows, or waits for other clients. Ready is called before every
// operation. An error ends the client if it is ErrDone or the context has ended, else
// the step.
type Readier interface {
	Ready(ctx context.Context) error
}

// Waiter is a Readier that may wait a long time for other clients. Waits reports whether
// Ready would wait, so that a scheduler of clients can skip it.
type Waiter interface {
	Waits() bool
}

// Finisher is a Client that completes its work after the last operation, within the
// measured window: pending writes, for example. This is not an operation and has no
// latency, but its time and cost count for the step.
type Finisher interface {
	Finish(ctx context.Context) error
}

// ErrDone ends a client that has nothing more to do.
var ErrDone = errors.New("the client is done")

// Outcome describes one operation. It is empty when Do is called, except for Parts, which
// keep those of earlier attempts. After a failure, Kind and the counts of statements
// describe the failed attempt.
type Outcome struct {
	Kind int // position in Group.Ops
	model.Work
	// Parts times the statements of the operation; nil if they are not timed.
	Parts *Parts
}

// Parts are the times of the statements of one operation. They are empty at its first
// attempt. A further attempt that continues after the completed statements adds to them;
// an attempt that starts over, such as that of a transaction, calls Reset first. The
// methods do nothing on a nil pointer.
type Parts struct {
	// Clock returns nanoseconds since some start.
	Clock func() int64
	Laps  []model.Lap
	// Kept is the number of Laps from earlier attempts; the caller of Do sets it.
	Kept  int
	start int64
}

// Reset drops all statements: the attempt repeats each of them.
func (p *Parts) Reset() {
	if p != nil {
		p.Laps, p.Kept = p.Laps[:0], 0
	}
}

// Start starts the timing of a statement.
func (p *Parts) Start() {
	if p != nil {
		p.start = p.Clock()
	}
}

// Stop ends the timing of a completed statement.
func (p *Parts) Stop(part int) {
	if p != nil {
		p.Laps = append(p.Laps, model.Lap{Part: part, Time: p.Clock() - p.start})
	}
}

// Totals are the totals of a step by group and operation kind.
type Totals [][]Total

// Total sums the operations of one kind in one group.
type Total struct {
	Ops int64
	model.Work
}

// And returns the totals of two runs of the same groups; t may be nil.
func (t Totals) And(extra Totals) Totals {
	for g := range t {
		for k := range t[g] {
			extra[g][k].Ops += t[g][k].Ops
			extra[g][k].Add(&t[g][k].Work)
		}
	}
	return extra
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

// Finding is the state after a step and whether its invariants hold.
type Finding struct {
	Live Live
	// Broken lists violated invariants: the step's result is wrong.
	Broken []string
	// ReadAll is whether the checks read whole tables.
	ReadAll bool
	// Notes are remarks about a valid result.
	Notes []string
	// OwnSQL are the operations in which the engine executed custom SQL.
	OwnSQL []string
}
