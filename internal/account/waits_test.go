package account_test

import (
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/model"
	"rumbench/workload"
)

var (
	resting = engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "idle"}
	working = engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU}
)

// The rule for the client, on made-up figures of a machine with as many
// processors as rumbench may use, or more.
func TestJudgeClient(t *testing.T) {
	const n, many = 4.0, 16
	for _, c := range []struct {
		name                   string
		closed, looks          int
		rest                   float64
		client, queued, server float64 // processors
		serverQueued, busy     float64
		paused                 float64
		warning, note          string
	}{
		{name: "it fills its processors", closed: many, looks: 20, rest: 0.75, client: 0.95 * n, server: 0.5, busy: 0.95*n + 0.5, warning: "the client was the bottleneck"},
		{name: "it shares them with the server", closed: many, looks: 20, rest: 0.75, client: 0.5 * n, queued: n, server: 0.45 * n, busy: 0.98 * n, warning: "the client was the bottleneck"},
		{name: "it shares them, and the server has more", closed: many, looks: 20, rest: 0.75, client: 0.45 * n, queued: n, server: 0.5 * n, busy: 0.98 * n, note: "both shared the processors"},
		{name: "it fills a quota, and the server has more", closed: many, looks: 20, rest: 0.75, client: 0.9 * n, queued: 2 * n, server: 2 * n, busy: 3 * n, warning: "the client was the bottleneck"},
		{name: "it is held back, and the server has more", closed: many, looks: 20, rest: 0.75, client: 0.1 * n, queued: n, server: 0.3 * n, busy: 0.42 * n, warning: "the client was the bottleneck"},
		{name: "it shares them with other programs", closed: many, looks: 20, rest: 0.75, client: 0.25 * n, queued: n, server: 0.25 * n, busy: 0.98 * n, note: "other programs"},
		{name: "they pause", closed: many, looks: 20, rest: 0.75, paused: 0.7, client: 0.1 * n, queued: 0.01 * n, server: 0.1 * n, busy: 0.2 * n, note: "for 70 % of their time these had no operation in progress"},
		{name: "processors are free", closed: many, looks: 20, rest: 0.75, client: 0.1 * n, queued: 0.01 * n, server: 0.1 * n, busy: 0.2 * n, note: "processors to spare"},
		{name: "it is the server that waits for processors", closed: many, looks: 20, rest: 0.75, client: 0.45 * n, queued: n, server: 0.5 * n, serverQueued: 2 * n, busy: 0.98 * n},
		{name: "below the bound", closed: many, looks: 20, rest: 0.25, client: 0.95 * n, server: n, busy: 2 * n},
		{name: "it fills a quota, and the server waits for other processors", closed: many, looks: 20, rest: 0.75, client: 0.95 * n, server: n, serverQueued: 2 * n, busy: 2 * n, warning: "the client was the bottleneck"},
		{name: "few clients", closed: n, looks: 20, rest: 1, client: 0.95 * n, server: n, busy: 2 * n},
		{name: "few looks", closed: many, looks: 9, rest: 0.75, client: 0.95 * n, server: n, busy: 2 * n},
		{name: "no closed loop", closed: 0, looks: 20, rest: 0.75, client: 0.95 * n, server: n, busy: 2 * n},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := func(processors float64) float64 { return processors * 10e9 }
			server := time.Duration(ns(c.serverQueued))
			seen := int64(c.rest * float64(many*c.looks))
			groups := queryGroups()
			for i := range groups { // of 10 s each client's, busy but for its pauses
				for range 10 * queryStep().Groups[i].Clients {
					groups[i].Kinds[0].Service.Record(int64(1e9 * (1 - c.paused)))
				}
			}
			s := newStep(queryStep(), groups, &account.Observed{Hosted: true, InWindow: counted("client.cpu_ns", ns(c.client), "process.cpu_ns", ns(c.server), "host.cpu.busy_ns", ns(c.busy)),
				Sessions: &account.Sessions{Closed: c.closed, Looks: c.looks, Seen: map[engine.SessionActivity]int64{resting: seen, working: int64(many*c.looks) - seen},
					Server: &server, Client: time.Duration(ns(c.queued)), Processors: n}})
			s.Operations()
			rate := metric.Find(s.Rows, "rows_per_s", "query", "")
			if got := metric.Has(s.Warnings, remark.ClientBound); got != (c.warning != "") || got != metric.Has(rate.Warnings, remark.ClientBound) || !strings.Contains(texts(s), c.warning) {
				t.Errorf("%q, want %q", s.Warnings, c.warning)
			}
			notes := strings.Join(metric.Texts(s.Notes), "; ")
			expect.True(t, (notes != "") == (c.note != "") && strings.Contains(notes, c.note), notes, c.note)
		})
	}
}

// What a server timed itself is divided like any other cost.
func TestTimedWaits(t *testing.T) {
	step := &workload.Step{Name: "x", Primary: "add", Groups: []workload.Group{{Name: "add", Clients: 1, Ops: []workload.OpKind{{Name: "add", Unit: "row"}}}}}
	s := newStep(step, []hist.Group{did(hist.Counts{Ops: 10, Work: model.Work{Rows: 10}})}, &account.Observed{InWindow: []observe.Change{
		{Name: engine.WaitTime, Labels: `event="a",role="log"`, Kind: engine.Counter, Value: 1e6},
		{Name: engine.WaitTime, Labels: `event="b",role="log"`, Kind: engine.Counter, Value: 3e6},
		{Name: engine.Waits, Labels: `event="a",role="log"`, Kind: engine.Counter, Value: 7},
		{Name: engine.WaitTime, Labels: `event="c",role="io"`, Kind: engine.Counter},
	}})
	s.Operations()
	if got := metric.Find(s.Rows, "timed_wait_us", "log", ""); got == nil || got.Value != 400 || got.N != 7 || got.Per != "add row" {
		t.Errorf("%+v", got)
	}
	if got := metric.Find(s.Rows, "timed_wait_us", "io", ""); got == nil || got.Value != 0 {
		t.Errorf("%+v", got)
	}
}

// Samples cannot see sessions at work for less than their threads ran: then some that seem to wait
// for their clients count as running.
func TestSeenLate(t *testing.T) {
	for _, c := range []struct {
		name          string
		ran           time.Duration // of 10 s in which 4 sessions are looked at 100 times
		client, works int64
		want          int64 // at work
	}{
		{"seen as long as they ran", 12 * time.Second, 280, 120, 120},
		{"within the error of samples", 13 * time.Second, 280, 120, 120},
		{"seen too rarely", 20 * time.Second, 300, 100, 200},
		{"waits are work", 5 * time.Second, 300, 100, 100},
		{"no more than there are", 60 * time.Second, 300, 100, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions := &account.Sessions{Closed: 4, Looks: 100, Seen: map[engine.SessionActivity]int64{resting: c.client, working: c.works},
				Threads: &account.Threads{ThreadTimes: observe.ThreadTimes{CPU: c.ran}, Number: 4}}
			s := newStep(queryStep(), queryGroups(), &account.Observed{Hosted: true, Sessions: sessions})
			s.Operations()
			row := metric.Find(s.Rows, metric.WaitShare, string(engine.RoleCPU), "")
			expect.True(t, row != nil && row.N == c.want && metric.Has(s.Notes, remark.SeenLate) == (c.want != c.works),
				row, s.Notes)
		})
	}
}
