package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/divided"
	"rumbench/internal/server"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

// greeting is the first line of an agent: what a login shell prints before it is skipped.
const greeting = "rumbench agent 3"

// welcome is the first line to an agent.
type welcome struct {
	Dir string `json:"dir"` // where it keeps the data of trials; "": the default
	// Lost is how long the other side may say nothing; 0: patience.
	Lost time.Duration `json:"lost,omitempty"`
	// Refused is why the agent may not join; "": it may.
	Refused string `json:"refused,omitempty"`
}

// The requests to an agent, on the subject to.OP, and what it reports, on from.OP.
const (
	opHello     = "hello"     // -> Hello
	opCheck     = "check"     // campaignFiles -> checked
	opClaim     = "claim"     // claim: begins it, as soon as no other benchmark runs
	opPrepare   = "prepare"   // -> returned
	opBenchmark = "benchmark" // number of times -> campaign.Benchmark
	opTrial     = "trial"     // order -> returned
	opPart      = "part"      // partOrder: runs clients of a trial here until it ends
	opRead      = "read"      // piece -> []byte
	opObserve   = "observe"   // observeRequest -> divided.Snapshot
	opListen    = "listen"    // listenerRequest -> an address
	opPath      = "path"      // pathOrder -> Measured
	opClock     = "clock"     // -> divided.Clock
	opEnd       = "end"       // ends the request that runs, in good order
	opClose     = "close"     // -> closed
	opClear     = "clear"     // removes what earlier campaigns have left
	isAlive     = "beat"      // in both directions
	isNote      = "note"      // a line for the user
	isLoad      = "load"      // loadLine: in both directions
)

// The times of beats.
const (
	beatEvery = 5 * time.Second // each costs an idle agent and its machine some work
	// silenceTimeout is how long a whole trial goes on without beats from the other side: a network may
	// be gone for a minute, and TCP sends again at intervals that double.
	silenceTimeout = 130 * time.Second
	// beatsInLost is how many beats there are in the time after which a machine is lost whose load is that of
	// others, too.
	beatsInLost = 6
)

// everyFor returns how often to beat if the other side may say nothing for so long.
func everyFor(lost time.Duration) time.Duration { return min(beatEvery, lost/beatsInLost) }

// heartbeat is when the other side was heard last, by a clock that nobody sets.
type heartbeat struct {
	began time.Time
	last  atomic.Int64 // nanoseconds after began
}

func newHeartbeat() *heartbeat { return &heartbeat{began: time.Now()} }

func (p *heartbeat) beat() { p.last.Store(int64(time.Since(p.began))) }
func (p *heartbeat) silence() time.Duration {
	return time.Since(p.began) - time.Duration(p.last.Load())
}

// Hello is what an agent says of its machine.
type Hello struct {
	Build program.Build `json:"build"`
	Host  string        `json:"host"`           // the same for all names of a machine
	Busy  string        `json:"busy,omitempty"` // the benchmark that runs there, if one does
	Left  []string      `json:"left,omitempty"` // directories of earlier campaigns
}

// campaignFiles are what a campaign's directory is made of.
type campaignFiles struct {
	Plan, Declared, Secrets []byte
	Builds                  result.Builds
	Programs                []string // of Builds, where they are on the machine
	Flags
	Part bool // the machine has clients or an observer, and starts no server
}

// claim begins a campaign on a machine.
type claim struct {
	State result.Campaign
	Part  bool // it has clients of trials of another machine, or observes a server of them
}

// partOrder is a trial with clients to run, and what names their process.
type partOrder struct {
	Dir   string `json:"dir"`
	Token int64  `json:"token"`
}

// loadLine is a line between a process of a trial, or of its clients, and the coordinator.
type loadLine struct {
	Child   int64            `json:"child"`           // the process, counted on its machine
	Dir     string           `json:"dir,omitempty"`   // the process has begun: its trial
	Token   int64            `json:"token,omitempty"` // of the order of a process with clients that has begun
	Over    bool             `json:"over,omitempty"`  // the process has ended, or is to
	Message *divided.Message `json:"message,omitempty"`
}

// checked is what a machine has for a plan.
type checked struct {
	Servers []server.Found `json:"servers"`
	Facts   observe.Facts  `json:"facts"`
}

// order is a trial to run.
type order struct {
	Dir     string `json:"dir"`
	Attempt int64  `json:"attempt"`
}

// file is a file of the campaign on a machine.
type file struct {
	Path   string `json:"path"` // in the campaign's directory
	Bytes  int64  `json:"bytes"`
	SHA256 []byte `json:"sha256"`
}

// piece is a part of a file to read; its length is at most pieceBytes.
type piece struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
}

const pieceBytes = 1 << 20

// returned are the files that a request has made.
type returned struct {
	Attempt int64  `json:"attempt"`
	Files   []file `json:"files"`
	// Preflight is what cannot run the plan; its logs are the files.
	Preflight *campaign.PreflightError `json:"preflight,omitempty"`
}

// closed is what a campaign leaves.
type closed struct {
	Kept string `json:"kept,omitempty"` // the directory of the data that the plan keeps
}

// answer is the answer to a request.
type answer struct {
	Error string          `json:"error,omitempty"`
	Hint  string          `json:"hint,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// rawAnswer begins an answer that is no JSON, but bytes: as JSON a file takes twice as long as its way.
const rawAnswer = 0

// answerOf makes an answer of a value or an error.
func answerOf(v any, err error) []byte {
	if b, raw := v.([]byte); raw && err == nil {
		return append([]byte{rawAnswer}, b...)
	}
	var a answer
	if err == nil {
		a.Value, err = json.Marshal(v)
	}
	if err != nil {
		a.Error, a.Hint = err.Error(), hint.Of(err)
	}
	b, _ := json.Marshal(a) // cannot fail
	return b
}

// indented returns a text of another machine, of which no line passes for one of this.
func indented(text string) string {
	return strings.ReplaceAll(escape.Clip(escape.Text(text), longestError), "\n", "\n  ")
}

const longestError = 10_000 // characters

// readAnswer reads the value of an answer, or returns its error.
func readAnswer(b []byte, v any) error {
	if into, raw := v.(*[]byte); raw && len(b) > 0 && b[0] == rawAnswer {
		*into = b[1:]
		return nil
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		return fmt.Errorf("read its answer: %w", err)
	}
	if a.Error != "" {
		return hint.With(errors.New(indented(a.Error)), indented(a.Hint))
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(a.Value, v)
}
