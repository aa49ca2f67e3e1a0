package workload

import "sync/atomic"

// Counting is a Stage of a step that several processes can run, whose check needs counts of the clients
// that are not in the totals.
type Counting interface {
	Stage
	// Counts returns the counts of this process's clients, after the last operation.
	Counts() []int64
	// Count takes the sums of the Counts of all processes, before Finish.
	Count(sums []int64)
}

// Values returns the values of some counts.
func Values(counts []*int64) (out []int64) {
	for _, n := range counts {
		out = append(out, *n)
	}
	return out
}

// AddTo adds to each of some counts.
func AddTo(counts []*int64, extra []int64) {
	for i, n := range counts {
		*n += extra[i]
	}
}

// Part is the share of one process in a step that several processes run, each on a machine of its own:
// seat i of every group belongs to process i modulo Of. The zero value is the whole step, or that of the
// process that opens and finishes the step.
type Part struct {
	Index int `json:"index"` // from 0
	Of    int `json:"of"`
}

// Joins reports whether another process opens the step first, and finishes it.
func (p Part) Joins() bool { return p.Of > 0 }

// Has reports whether a seat belongs to the part.
func (p Part) Has(seat int) bool { return p.Of <= 1 || seat%p.Of == p.Index }

// Deal deals numbered pieces of work to clients, each of which takes the next when it is free. Of a divided
// step each process deals its own: piece i belongs to the process of seat i modulo the seats.
type Deal struct {
	part  Part
	seats int // of all processes
	taken atomic.Int64
}

// NewDeal returns the deal of a part to seats first to last-1, numbered over all processes.
func NewDeal(part Part, first, last int) *Deal {
	if part.Of > 1 { // as if the first seat were 0
		part.Index = ((part.Index-first)%part.Of + part.Of) % part.Of
	}
	return &Deal{part: part, seats: last - first}
}

// Take returns the number of the next piece.
func (d *Deal) Take() int64 {
	n := d.taken.Add(1) - 1
	if d.part.Of <= 1 {
		return n
	}
	own := int64((d.seats - d.part.Index + d.part.Of - 1) / d.part.Of) // seats of the part; whoever takes has one
	return n/own*int64(d.seats) + int64(d.part.Index) + n%own*int64(d.part.Of)
}
