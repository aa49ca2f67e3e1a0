package price

import (
	"math"

	"rumbench/internal/stat"
)

// An index+log structure keeps rows in a log and collects its garbage. When it uses a share u
// of its space, space amplification is 1/u and write amplification 1/(1-u), so that for every u
// their excesses multiply to 1: (space-1)·(write-1) = 1. It can trade one for the other without
// limit, and its cost at its best point is a yardstick for structures that cannot. After
// "Tuning space and write amplification to minimize cost" (smalldatum.blogspot.com, 2020-03),
// whose f multiplies all writes; here it multiplies only the rewrites of garbage collection, as
// only they require a read before. The best point is the same.

// Yardstick is (space-1)·(write-1). Below 1 a structure beats an index+log of the same space
// amplification; above 1 the cheapest index+log is cheaper at every price, apart from the
// cost of reads. It is 0 for a structure that is perfect in one of the two.
func Yardstick(space, write float64) float64 { return (space - 1) * (write - 1) }

// Demand is the data and the load of an index+log structure.
type Demand struct {
	GB   float64 // of user data, as the card counts
	MBps float64 // 2^20 bytes per second that users write
	// Reads is the share of the rewrites of garbage collection that need a read: 0 to 1.
	Reads float64
	// IOKB is the size of its reads and writes; 0: as large as possible.
	IOKB float64
}

// Point is an index+log structure that uses a share of its space.
type Point struct {
	Used         float64 // 0 to 1
	Space, Write float64 // amplifications
	Bill         Bill
}

// At returns the structure with a share of its space used.
func (d Demand) At(c *Card, used float64) Point {
	p := Point{Used: used, Space: 1 / used, Write: 1 / (1 - used)}
	s := Storage{Bytes: d.GB * c.gb() * p.Space, WrittenBytes: d.MBps * mb * p.Write,
		ReadBytes: d.MBps * mb * (p.Write - 1) * d.Reads}
	if d.IOKB > 0 {
		s.ReadsPerS, s.WritesPerS = s.ReadBytes/1024/d.IOKB, s.WrittenBytes/1024/d.IOKB
	}
	p.Bill = c.Store(s)
	return p
}

// Optimum returns the cheapest point, and the shares between which the cost is at most 5 %
// above the minimum. The cost is convex: each of its parts is.
func (d Demand) Optimum(c *Card) (best Point, low, high float64) {
	const edge = 1e-6
	cost := func(used float64) float64 { return d.At(c, used).Bill.Sum() }
	best = d.At(c, minimum(cost, edge, 1-edge))
	cheap := func(used float64) bool { return cost(used) <= 1.05*best.Bill.Sum() }
	return best, stat.Border(cheap, best.Used, edge), stat.Border(cheap, best.Used, 1-edge)
}

// minimum returns the position of a convex function's minimum, by golden sections.
func minimum(f func(float64) float64, low, high float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	for range 100 {
		if a, b := high-ratio*(high-low), low+ratio*(high-low); f(a) <= f(b) {
			high = b
		} else {
			low = a
		}
	}
	return (low + high) / 2
}
