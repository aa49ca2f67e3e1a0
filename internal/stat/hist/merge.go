package hist

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
)

// distJSON is a distribution on its way to another process.
type distJSON struct {
	// Bars are the buckets that hold any, as varints: how many buckets further on, and how many latencies.
	Bars     []byte `json:"bars,omitempty"`
	Overflow int64  `json:"overflow,omitempty"`
	Low      int64  `json:"low,omitempty"`
	High     int64  `json:"high,omitempty"`
	Sum      int64  `json:"sum,omitempty"`
}

// MarshalJSON encodes the distribution: nothing of it is lost.
func (d *Dist) MarshalJSON() ([]byte, error) {
	out := distJSON{Overflow: d.overflow, Low: d.low, High: d.high, Sum: d.sum}
	last := 0
	for position, n := range d.held().Export().Counts {
		if n > 0 {
			out.Bars = binary.AppendUvarint(binary.AppendUvarint(out.Bars, uint64(position-last)), uint64(n))
			last = position
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON has encoded, and refuses what it cannot have encoded. The distribution takes
// no more memory than its text until it is used.
func (d *Dist) UnmarshalJSON(b []byte) error {
	var in distJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*d = Dist{bars: in.Bars, overflow: in.Overflow, low: in.Low, high: in.High, sum: in.Sum}
	sound := in.Overflow >= 0
	for bucket, n := range bars(in.Bars) {
		sound = sound && n > 0 && bucket <= bucketOf(int64(Longest)) && d.packed <= math.MaxInt64-n
		d.packed += n
	}
	n := float64(d.Count())
	if sum := float64(in.Sum); !sound || in.Low < 0 || in.Low > in.High ||
		sum < n*float64(in.Low)*0.999 || sum > n*float64(in.High)*1.001 {
		return fmt.Errorf("a distribution of %d to %d ns, in all %d ns, of %d: that cannot be", in.Low, in.High, in.Sum,
			d.Count())
	}
	return nil
}

// bars returns the buckets that hold any, and how many each holds.
func bars(packed []byte) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		for position := 0; len(packed) > 0; {
			further, a := binary.Uvarint(packed)
			n, b := binary.Uvarint(packed[max(a, 0):])
			if a <= 0 || b <= 0 || further > uint64(bucketOf(int64(Longest))) {
				yield(0, -1) // cut, or no bucket
				return
			}
			packed = packed[a+b:]
			if position += int(further); !yield(position, int64(n)) {
				return
			}
		}
	}
}

// Merged returns the work of a group whose clients were in several processes. All have begun at one
// instant and counted the same intervals. A process with nothing to do in it has an empty group.
func Merged(parts []*Group, interval float64) Group {
	out := Group{Totals: NewTotals(parts[0].shape())}
	if parts[0].Undone != nil {
		out.Undone = NewDist()
	}
	if parts[0].Arrivals != nil {
		out.Arrivals = &Arrivals{}
	}
	for _, p := range parts {
		out.add(p)
	}
	out.Rates = mergedRates(parts, interval)
	out.Gaps = mergedGaps(parts, interval/2)
	return out
}

// shape returns the shape of totals, whose kinds are all alike.
func (t *Totals) shape() Shape {
	s := Shape{Kinds: len(t.Kinds), Parts: len(t.Parts)}
	for i := range t.Kinds {
		s.Paced, s.Attempts = t.Kinds[i].Response != nil, t.Kinds[i].Attempt != nil
	}
	return s
}

// add adds all but what needs all parts at a time.
func (g *Group) add(o *Group) {
	g.Merge(&o.Totals)
	for _, e := range o.Errors {
		g.Errors.Add(e)
	}
	g.CPU += o.CPU
	g.End, g.Plan = max(g.End, o.End), max(g.Plan, o.Plan)
	g.InPlan += o.InPlan
	g.Undone.Merge(o.Undone)
	if o.Arrivals != nil {
		g.Arrivals.Offered += o.Arrivals.Offered
		g.Arrivals.Shed += o.Arrivals.Shed
		g.Arrivals.Longest += o.Arrivals.Longest // of queues that are independent: at most so many
	}
	// Each seat is one process's, and empty in the others.
	g.Done = append(g.Done, make([]int64, max(0, len(o.Done)-len(g.Done)))...)
	for i, n := range o.Done {
		g.Done[i] += n
	}
	g.Lateness = append(g.Lateness, make([]Late, max(0, len(o.Lateness)-len(g.Lateness)))...)
	for i, l := range o.Lateness {
		g.Lateness[i].Half += l.Half
		g.Lateness[i].End += l.End
	}
}

// mergedRates adds up the rates of the intervals that all processes share. One that has missed a tick has
// a longer interval, which joins those of the others.
func mergedRates(parts []*Group, interval float64) (out []Rate) {
	tick := func(r Rate) int { return int(math.Round(r.To / interval)) }
	ends := map[int]int{} // the ticks at which intervals end, and of how many processes
	last, next := make([]int, len(parts)), make([]int, len(parts))
	for i, p := range parts {
		for _, r := range p.Rates {
			if index := tick(r); index > last[i] {
				ends[index]++
				last[i] = index
			}
		}
	}
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		for i := range parts {
			if last[i] < end { // it has no more
				ends[end]++
			}
		}
		if ends[end] < len(parts) {
			continue
		}
		sum := Rate{From: math.Inf(1)}
		for i, p := range parts {
			for ; next[i] < len(p.Rates) && tick(p.Rates[next[i]]) <= end; next[i]++ {
				r := p.Rates[next[i]]
				sum.From, sum.To = min(sum.From, r.From), max(sum.To, r.To)
				sum.Units, sum.Ops, sum.Oldest = sum.Units+r.Units, sum.Ops+r.Ops, max(sum.Oldest, r.Oldest)
			}
		}
		out = append(out, sum)
	}
	return out
}

// mergedGaps returns the spans in which no process completed anything, at least shortest seconds long. After
// its end, or if it has completed nothing at all, a process does not interrupt them.
func mergedGaps(parts []*Group, shortest float64) []Gap {
	common := []Gap{{0, math.Inf(1)}}
	for _, p := range parts {
		if !slices.ContainsFunc(p.Kinds, func(s Sums) bool { return s.Ops > 0 }) {
			continue
		}
		own := append(slices.Clone(p.Gaps), Gap{p.End.Seconds(), math.Inf(1)})
		var next []Gap
		for _, a := range common {
			for _, b := range own {
				if both := (Gap{max(a.From, b.From), min(a.To, b.To)}); both.To-both.From >= shortest {
					next = append(next, both)
				}
			}
		}
		common = next
	}
	return slices.DeleteFunc(common, func(g Gap) bool { return math.IsInf(g.To, 1) })
}
