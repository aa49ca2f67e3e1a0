package hist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// distJSON is a distribution on its way to another process: its histogram in HDR V2 form.
type distJSON struct {
	HDR      []byte `json:"hdr"`
	Overflow int64  `json:"overflow,omitempty"`
	Low      int64  `json:"low"`
	High     int64  `json:"high"`
	Sum      int64  `json:"sum"`
}

// MarshalJSON encodes the distribution: nothing of it is lost.
func (d *Dist) MarshalJSON() ([]byte, error) {
	if d.Count() == 0 {
		return []byte("{}"), nil
	}
	b, err := d.h.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode a distribution: %w", err)
	}
	return json.Marshal(distJSON{b, d.overflow, d.low, d.high, d.sum})
}

// UnmarshalJSON decodes what MarshalJSON has encoded.
func (d *Dist) UnmarshalJSON(b []byte) error {
	var in distJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*d = *NewDist()
	if len(in.HDR) == 0 {
		return nil
	}
	h, err := hdr.Decode(in.HDR)
	if err != nil {
		return fmt.Errorf("decode a distribution: %w", err)
	}
	if dropped := d.h.Merge(h); dropped > 0 {
		return fmt.Errorf("decode a distribution: %d latencies are out of range", dropped)
	}
	d.overflow, d.low, d.high, d.sum = in.Overflow, in.Low, in.High, in.Sum
	return nil
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
	tick := func(seconds float64) int { return int(math.Round(seconds / interval)) }
	last := func(p *Group) float64 {
		if len(p.Rates) == 0 {
			return 0
		}
		return p.Rates[len(p.Rates)-1].To
	}
	longest := slices.MaxFunc(parts, func(a, b *Group) int { return cmp.Compare(last(a), last(b)) })
	var ends []int // that all have, or that come after their last
	for _, r := range longest.Rates {
		shared := func(p *Group) bool {
			return tick(last(p)) <= tick(r.To) ||
				slices.ContainsFunc(p.Rates, func(o Rate) bool { return tick(o.To) == tick(r.To) })
		}
		if !slices.ContainsFunc(parts, func(p *Group) bool { return !shared(p) }) {
			ends = append(ends, tick(r.To))
		}
	}
	before := math.MinInt
	for _, end := range ends {
		sum := Rate{From: math.Inf(1)}
		for _, p := range parts {
			for _, r := range p.Rates {
				if at := tick(r.To); at > before && at <= end {
					sum.From, sum.To = min(sum.From, r.From), max(sum.To, r.To)
					sum.Units, sum.Ops, sum.Oldest = sum.Units+r.Units, sum.Ops+r.Ops, max(sum.Oldest, r.Oldest)
				}
			}
		}
		out, before = append(out, sum), end
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
