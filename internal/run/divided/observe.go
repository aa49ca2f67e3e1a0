package divided

import (
	"context"
	"time"

	"rumbench/engine"
)

// ObserverTask is what observers do: machines of further servers. They take no part in a load; the head asks them
// whenever it counts.
type ObserverTask string

// What observers do.
const (
	CountAll   ObserverTask = "counters" // the machine, the server's processes, the device under its data
	CountDisks ObserverTask = "disks"    // all disks under its data
	AskMemory  ObserverTask = "memory"   // of the server's processes
	SyncData   ObserverTask = "sync"     // writes everything dirty of the data's file system
)

// ObserverRequest is what the head wants of all observers.
type ObserverRequest struct {
	Number int64        `json:"number"` // its answer has the same
	Target string       `json:"target"`
	Task   ObserverTask `json:"do"`
}

// Snapshot is what an observer has found.
type Snapshot struct {
	Failed  string   `json:"failed,omitempty"` // why nothing is known
	Sources []Source `json:"sources,omitempty"`
	// Memory is that of the server's processes, in bytes, and MemorySource as observe.Process.Memory returns it.
	Memory       int64  `json:"memory,omitempty"`
	MemorySource string `json:"memory_source,omitempty"`
}

// Source is what a collector has found.
type Source struct {
	Name   string         `json:"name"`
	Points []engine.Point `json:"points"`
	Failed string         `json:"failed,omitempty"`
}

// observeTime is how long observers may take to count: the start of a load waits for them.
const observeTime = 600 * time.Millisecond

// syncTime is how long they may take to write what is dirty.
const syncTime = 10 * time.Minute

// Limit returns how long observers may take.
func (l *ObserverRequest) Limit() time.Duration {
	switch l.Task {
	case SyncData:
		return syncTime
	case AskMemory: // it walks all pages
		return 10 * observeTime
	}
	return observeTime
}

// Observe asks all observers, and returns what each has found, in the order of Observed.
func (h *Head) Observe(ctx context.Context, target string, do ObserverTask) []Snapshot {
	h.observing.Lock()
	defer h.observing.Unlock()
	h.requests++
	request := &ObserverRequest{Number: h.requests, Target: target, Task: do}
	ctx, cancel := context.WithTimeout(ctx, request.Limit()+observeTime/2)
	defer cancel()
	h.Line.Say(Message{Kind: Observe, Request: request})
	for {
		select {
		case m := <-h.Line.snapshots:
			if m.Request != nil && m.Request.Number == request.Number && len(m.Snapshots) == len(h.Observed) {
				return m.Snapshots
			}
		case <-h.Line.over:
			cancel()
		case <-ctx.Done():
			out := make([]Snapshot, len(h.Observed))
			for i := range out {
				out[i].Failed = "the coordinator does not answer"
			}
			return out
		}
	}
}
