package divided

import (
	"context"
	"time"

	"rumbench/engine"
)

// Looking is what observers do: machines of further servers. They take no part in a load; the head asks them
// whenever it counts.
type Looking string

// What observers do.
const (
	CountAll   Looking = "counters" // the machine, the server's processes, the device under its data
	CountDisks Looking = "disks"    // all disks under its data
	AskMemory  Looking = "memory"   // of the server's processes
	SyncData   Looking = "sync"     // writes everything dirty of the data's file system
)

// Look is what the head wants of all observers.
type Look struct {
	Number int64   `json:"number"` // its answer has the same
	Target string  `json:"target"`
	Do     Looking `json:"do"`
}

// Sight is what an observer has found.
type Sight struct {
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

// lookTime is how long observers may take to count: the start of a load waits for them.
const lookTime = 600 * time.Millisecond

// syncTime is how long they may take to write what is dirty.
const syncTime = 10 * time.Minute

// Limit returns how long observers may take.
func (l *Look) Limit() time.Duration {
	switch l.Do {
	case SyncData:
		return syncTime
	case AskMemory: // it walks all pages
		return 10 * lookTime
	}
	return lookTime
}

// Look asks all observers, and returns what each has found, in the order of Observed.
func (h *Head) Look(ctx context.Context, target string, do Looking) []Sight {
	h.looking.Lock()
	defer h.looking.Unlock()
	h.looks++
	look := &Look{Number: h.looks, Target: target, Do: do}
	ctx, cancel := context.WithTimeout(ctx, look.Limit()+lookTime/2)
	defer cancel()
	h.Line.Say(Message{Kind: Looks, Look: look})
	for {
		select {
		case m := <-h.Line.sights:
			if m.Look != nil && m.Look.Number == look.Number && len(m.Sights) == len(h.Observed) {
				return m.Sights
			}
		case <-h.Line.over:
			cancel()
		case <-ctx.Done():
			out := make([]Sight, len(h.Observed))
			for i := range out {
				out[i].Failed = "the coordinator does not answer"
			}
			return out
		}
	}
}
