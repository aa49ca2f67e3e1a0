package model

import (
	"fmt"
	"slices"
)

// Durability is the kind of failure that a committed operation survives.
// Engines map it to their own settings and read those back; the first line of
// every result shows it.
type Durability string

// The durability levels. DurabilityInterval is neither weaker nor stronger than
// DurabilityProcess: it bounds the loss from a crash of the operating system,
// and may lose something when a process is killed.
const (
	DurabilityNone Durability = "none" // nothing promised: no sync, the log may be off
	// any crash loses at most about the last second of commits: log synced once a second
	DurabilityInterval Durability = "interval"
	// kill -9 of the engine's process: log written to the operating system at commit
	DurabilityProcess Durability = "process"
	DurabilityOS      Durability = "os" // a crash of the operating system: log synced at commit
)

// Durabilities lists the levels.
func Durabilities() []Durability {
	return []Durability{DurabilityNone, DurabilityInterval, DurabilityProcess, DurabilityOS}
}

// Promise returns the promise that every engine makes at the level, as a sentence.
func (d Durability) Promise() string {
	switch d {
	case DurabilityNone:
		return "nothing is promised"
	case DurabilityInterval:
		return "any crash, of the engine or of the operating system, loses at most about the last second of commits"
	case DurabilityProcess:
		return "commits survive kill -9 of the engine; a crash of the operating system may lose them"
	case DurabilityOS:
		return "commits survive a crash of the operating system"
	}
	return ""
}

// Compression is the algorithm that an engine compresses its stored data with.
type Compression string

// The compression algorithms. "" leaves the choice to the engine.
const (
	CompressionNone   Compression = "none"
	CompressionLZ4    Compression = "lz4"
	CompressionZstd   Compression = "zstd"
	CompressionZlib   Compression = "zlib"
	CompressionSnappy Compression = "snappy"
)

// Compressions lists the algorithms.
func Compressions() []Compression {
	return []Compression{CompressionNone, CompressionLZ4, CompressionZstd, CompressionZlib, CompressionSnappy}
}

// Capability is an optional feature of an engine. A workload names those it
// needs; a run that needs more than the engine has is refused before it starts.
type Capability string

// The capabilities.
const (
	CapTransactions Capability = "transactions" // begin, commit and rollback around several operations
	CapUnique       Capability = "unique"       // unique secondary indexes
	CapResults      Capability = "results"      // operations return the rows that were stored; the null engine's do not
)

// Missing returns an error that names the first capability of need that caps
// does not contain.
func Missing(caps, need []Capability) error {
	for _, n := range need {
		if !slices.Contains(caps, n) {
			return fmt.Errorf("it cannot do %s", n)
		}
	}
	return nil
}
