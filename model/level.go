package model

import "fmt"

// Durability is what a committed operation survives. Engines map it to their
// own settings and read those back; it stands on the first line of every result.
type Durability string

// The durability levels. DurabilityInterval is neither weaker nor stronger than
// DurabilityProcess: it bounds what a crash of the operating system loses, and
// may lose something when a process is killed.
const (
	DurabilityNone     Durability = "none"     // nothing promised: no sync, the log may be off
	DurabilityInterval Durability = "interval" // any crash, but for about the last second of commits: log synced once a second
	DurabilityProcess  Durability = "process"  // kill -9 of the engine's process: log written to the operating system at commit
	DurabilityOS       Durability = "os"       // a crash of the operating system: log synced at commit
)

// Durabilities lists the levels.
func Durabilities() []Durability {
	return []Durability{DurabilityNone, DurabilityInterval, DurabilityProcess, DurabilityOS}
}

// Promise returns what every engine promises at the level, in a reader's words.
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

// Compression is how an engine compresses what it stores.
type Compression string

// The compression algorithms that can be asked for. "" leaves it to the engine.
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

// Capability is something that an engine may or may not be able to do. A
// workload names what it needs; a run that needs more than the engine has is
// refused before it starts.
type Capability string

// The capabilities.
const (
	CapTransactions Capability = "transactions" // begin, commit and rollback around several operations
	CapUnique       Capability = "unique"       // unique secondary indexes
	CapResults      Capability = "results"      // operations return the rows that were stored; the null engine's do not
)

// Has tells whether want is among caps.
func Has(caps []Capability, want Capability) bool {
	for _, c := range caps {
		if c == want {
			return true
		}
	}
	return false
}

// Missing returns an error that names the first needed capability that caps lack.
func Missing(caps, need []Capability) error {
	for _, n := range need {
		if !Has(caps, n) {
			return fmt.Errorf("it cannot do %s", n)
		}
	}
	return nil
}
