package workload

// Counting is a Stage of a step that several processes can run, whose check needs counts of the clients
// that are not in the totals.
type Counting interface {
	Stage
	// Counts returns the counts of this process's clients, after the last operation.
	Counts() []int64
	// Count takes the sums of the Counts of all processes, before Finish.
	Count(sums []int64)
}

// Part is the share of one process in a step that several processes run, each on a machine of its own:
// seat i of every group belongs to process i modulo Of. The zero value is the whole step.
type Part struct {
	Index int `json:"index"` // from 0
	Of    int `json:"of"`    // processes; 0 and 1 are the same
}

// Has reports whether a seat belongs to the part.
func (p Part) Has(seat int) bool { return p.Of <= 1 || seat%p.Of == p.Index }
