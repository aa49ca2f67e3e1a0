package engine

import "context"

// Structure is how a database keeps tables and indexes. A zero field is unknown, or
// does not apply to the structure.
type Structure struct {
	Shape    Shape `json:"shape"`
	Page     int64 `json:"page_bytes,omitempty"`     // of a B-tree
	Commit   int64 `json:"commit_bytes,omitempty"`   // of CopyOnWrite: written by each commit besides pages of data
	LogRoom  int64 `json:"log_room_bytes,omitempty"` // how far the log may grow before pages have to be written
	Memtable int64 `json:"memtable_bytes,omitempty"` // how large memtables grow before they are flushed
	Block    int64 `json:"block_bytes,omitempty"`    // of an LSM tree whose blocks are not compressed
	Filters  bool  `json:"filters,omitempty"`        // of an LSM tree: a look-up by key reads one block
}

// Shape is the kind of a structure.
type Shape string

// The shapes that are known.
const (
	InPlace     Shape = "in place"      // a B-tree whose pages are updated where they are
	CopyOnWrite Shape = "copy on write" // a B-tree whose pages are copied when they change
	Leveled     Shape = "leveled"       // an LSM tree whose tables are merged into levels
)

// Structured is a DB that knows its structure. The zero Structure is an unknown one.
type Structured interface {
	Structure(ctx context.Context) (Structure, error)
}
