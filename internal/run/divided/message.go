// Package divided runs the clients of a trial's steps in several processes, each on a machine of its own.
// The head has the server and everything that is measured of it, and no clients. Each part has the clients
// of its seats. The conductor between them passes on what the head wants, agrees with all on the instant at
// which a load begins, and adds up what the parts return. None knows a network: lines carry their messages.
package divided

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
	"rumbench/internal/stat/hist"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Kind is what a message is about.
type Kind string

// The head asks, and the conductor answers when all parts have done it. A part answers the conductor in the
// same way.
const (
	Open     Kind = "open"     // a step: it has a Task. The answer is Opened
	Opened   Kind = "opened"   // the sessions are open: it has Prepared
	Load     Kind = "load"     // it has Numbers. The answer is Ready
	Ready    Kind = "ready"    // the clients wait for their start
	Arm      Kind = "arm"      // of the head: all is counted, choose an instant. To a part: it is At
	Armed    Kind = "armed"    // the part knows the instant, Ahead of it
	Go       Kind = "go"       // to the head: all know it
	Disarm   Kind = "disarm"   // it does not hold. To the head: count again
	Tick     Kind = "tick"     // an Interval has ended
	Led      Kind = "led"      // no client that the load waits for is at work in the part
	Stop     Kind = "stop"     // none is in any part
	Ended    Kind = "ended"    // the load has ended in all parts; Done follows
	Done     Kind = "done"     // the load has ended, with an Outcome
	Abandon  Kind = "abandon"  // end the load now
	Check    Kind = "check"    // of a Whole task: check the step. It has Totals. The answer is Checked
	Checked  Kind = "checked"  // it has a Verdict
	Close    Kind = "close"    // the step is over: close its sessions. The answer is Closed
	Closed   Kind = "closed"   // they are
	Failed   Kind = "failed"   // what was asked for cannot be done, with a Failure
	Observe  Kind = "observe"  // of the head, at any time: it has a Request for observers. The answer is Observed
	Observed Kind = "observed" // it has the Request, and Snapshots
)

// Message is a line between a process and its conductor. Fields that its kind does not need are empty.
type Message struct {
	Kind    Kind     `json:"kind"`
	Task    *Task    `json:"task,omitempty"`
	Numbers *Numbers `json:"numbers,omitempty"`
	// At is an instant on the receiver's clock, see [Clock].
	At int64 `json:"at,omitempty"`
	// Ahead is how long before that instant the part has learnt it.
	Ahead    time.Duration `json:"ahead,omitempty"`
	Interval *Interval     `json:"interval,omitempty"`
	Outcome  *Outcome      `json:"outcome,omitempty"`
	Failure  *Failure      `json:"failure,omitempty"`

	Prepared *Prepared       `json:"prepared,omitempty"`
	Totals   workload.Totals `json:"totals,omitempty"`
	Verdict  *Verdict        `json:"verdict,omitempty"`

	Request   *ObserverRequest `json:"request,omitempty"`
	Snapshots []Snapshot       `json:"snapshots,omitempty"` // of the observers, in their order
}

// Prepared is what clients have prepared.
type Prepared struct {
	Ops []*model.Op `json:"ops"` // each once
	// Statements are how many a client has prepared at most, of each group.
	Statements []int64 `json:"statements"`
	// Dealt are how many sessions each gateway has; none: there is one server.
	Dealt []int `json:"dealt,omitempty"`
}

// Join adds what clients of another part have prepared.
func (p *Prepared) Join(o *Prepared) {
	seen := map[string]bool{}
	for _, op := range p.Ops {
		seen[TextOf(op)] = true
	}
	for _, op := range o.Ops {
		if text := TextOf(op); !seen[text] {
			seen[text], p.Ops = true, append(p.Ops, op)
		}
	}
	p.Statements = append(p.Statements, make([]int64, max(0, len(o.Statements)-len(p.Statements)))...)
	for g, n := range o.Statements {
		p.Statements[g] = max(p.Statements[g], n)
	}
	p.Dealt = append(p.Dealt, make([]int, max(0, len(o.Dealt)-len(p.Dealt)))...)
	for i, n := range o.Dealt {
		p.Dealt[i] += n
	}
}

// TextOf returns a text that only equal operations have.
func TextOf(op *model.Op) string { return fmt.Sprintf("%+v", *op) }

// Verdict is the end of a step that a part has whole.
type Verdict struct {
	Finding workload.Finding `json:"finding"`
	// Knowledge is as in Task, after the step.
	Knowledge []byte `json:"knowledge,omitempty"`
}

// Task is a step whose clients are to be readied.
type Task struct {
	Step string        `json:"step"` // its name in the plan
	Part workload.Part `json:"part"`
	engine.Route
	// Whole: the part is the only one. It opens and checks the step, which may be one that does not divide.
	Whole   bool    `json:"whole,omitempty"`
	Numbers Numbers `json:"numbers"`
	// The rest is the step's environment.
	Seed     uint64         `json:"seed"`
	Results  bool           `json:"results"`
	Previous *workload.Live `json:"previous,omitempty"`
	Copied   *uint64        `json:"copied,omitempty"`
	// Knowledge is what the workload's run knows after earlier steps, see [workload.Knowing].
	Knowledge []byte `json:"knowledge,omitempty"`
}

// Numbers are those of a step and its load, in which a load may differ from the plan's step: it is shorter in
// a preflight, and has other rates in a search.
type Numbers struct {
	Seconds  float64       `json:"seconds"`
	Groups   []Group       `json:"groups"`
	Interval time.Duration `json:"interval"`
	Seed     uint64        `json:"seed"`
	Limit    time.Duration `json:"limit,omitempty"`
	Longest  float64       `json:"longest,omitempty"`
}

// Group are the numbers of a group of clients.
type Group struct {
	Clients  int            `json:"clients"`
	Work     int64          `json:"work"`
	Rate     float64        `json:"rate"`
	Arrivals *pace.Arrivals `json:"arrivals,omitempty"`
	Kinds    []OpKind       `json:"kinds"` // of its operations
	Shape    hist.Shape     `json:"shape"`
}

// OpKind is a kind of operation: whether it is upkeep, and whether the step is about it.
type OpKind struct {
	Upkeep  bool `json:"upkeep,omitempty"`
	Primary bool `json:"primary,omitempty"`
}

// NumbersOf returns the numbers of a load.
func NumbersOf(c *drive.Config) *Numbers {
	n := &Numbers{Seconds: c.Step.Seconds, Interval: c.Interval, Seed: c.Seed, Limit: c.Limit, Longest: c.Longest}
	for i := range c.Step.Groups {
		g := &c.Step.Groups[i]
		group := Group{Clients: g.Clients, Work: g.Work, Rate: g.Rate, Arrivals: g.Arrivals, Shape: drive.ShapeOf(g)}
		for k := range g.Ops {
			group.Kinds = append(group.Kinds, OpKind{g.Ops[k].Upkeep, g.Ops[k].Whole() == c.Step.Primary && !g.Ops[k].Upkeep})
		}
		n.Groups = append(n.Groups, group)
	}
	return n
}

// Of returns the step with these numbers.
func (n *Numbers) Of(step *workload.Step) (*workload.Step, error) {
	out := *step
	if out.Seconds = n.Seconds; len(n.Groups) != len(step.Groups) {
		return nil, errors.New("the step has " + quantity.Count(len(step.Groups), "group") + " here")
	}
	out.Groups = append([]workload.Group{}, step.Groups...)
	for i, g := range n.Groups {
		o := &out.Groups[i]
		o.Clients, o.Work, o.Rate, o.Arrivals = g.Clients, g.Work, g.Rate, g.Arrivals
	}
	return &out, nil
}

// Interval is the work of all clients of a process in an interval.
type Interval struct {
	drive.Interval
	Machines []Use `json:"machines"` // of the parts, in their order
}

// Use is what an interval cost a machine of clients.
type Use struct {
	Machine string `json:"machine"`
	observe.Use
}

// Outcome is the end of a load.
type Outcome struct {
	Result *drive.Result `json:"result"`
	// Counts are those of [workload.Counting], summed over parts.
	Counts  []int64  `json:"counts,omitempty"`
	Reports []Report `json:"reports"` // of the parts, in their order
	// Spread is how far apart the parts began, and Bound the bound of the error of their clocks.
	Spread time.Duration `json:"spread"`
	// Lag is by how much the server's counters may lag, after the sessions have reported their counts.
	Lag   time.Duration `json:"lag"`
	Bound time.Duration `json:"bound"`
}

// Failure is why something could not be done.
type Failure struct {
	Text    string       `json:"text"`
	Class   engine.Class `json:"class,omitempty"`
	Hint    string       `json:"hint,omitempty"`
	Lost    bool         `json:"lost,omitempty"`    // a machine was lost
	Machine string       `json:"machine,omitempty"` // which, if that is known
}

// LostError is the error of a load of which a machine was lost, or did not do its part: what its clients did
// is unknown. It is no fault of the target.
type LostError struct {
	Machine string // "" if it may be any
	Text    string
}

func (e *LostError) Error() string { return e.Text }

// FailureOf describes an error.
func FailureOf(err error) *Failure {
	f := &Failure{Text: err.Error(), Class: engine.ClassOf(err), Hint: hint.Of(err)}
	if lost, is := errors.AsType[*LostError](err); is {
		f.Lost, f.Machine = true, lost.Machine
	}
	return f
}

// Err returns the error of a failure.
func (f *Failure) Err() error {
	if f.Lost {
		return &LostError{f.Machine, f.Text}
	}
	return engine.Classify(f.Class, hint.With(errors.New(f.Text), f.Hint))
}

// Clock returns nanoseconds on a clock that all processes of a machine share, and that nobody sets.
func Clock() int64 { return start.clock + int64(time.Since(start.at)) }

// Instant returns an instant on [Clock] as a time.
func Instant(instant int64) time.Time { return start.at.Add(time.Duration(instant - start.clock)) }

// start is an instant on both clocks. Their difference does not change: Go's has the same source.
var start = func() (s struct {
	clock int64
	at    time.Time
}) {
	for shortest, n := time.Hour, 0; n < 10; n++ { // the one that was not interrupted
		var t unix.Timespec
		at := time.Now()
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // Linux always has it
		if took := time.Since(at); took < shortest {
			shortest, s.clock, s.at = took, t.Nano(), at
		}
	}
	return s
}()
