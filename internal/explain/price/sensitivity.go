package price

import (
	"cmp"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// Move is the change of a price, as a share of itself, if one thing is halved or doubled
// and everything else stays; NaN if that is beyond the measured range.
type Move struct {
	What            string
	Halved, Doubled float64
}

// Moves returns the changes that move the price of a need, the greatest first. Changes of
// less than 1 % are left out.
func (c *Card) Moves(n *Need) (out []Move) {
	price := c.Price(n).Sum()
	card, need := *c, *n
	writes := []*float64{&need.WritesPerS.Value, &need.WrittenBytes.Value}
	reads := []*float64{&need.ReadsPerS.Value, &need.ReadBytes.Value}
	processors := []*float64{&need.Cores.Value}
	for _, entry := range []struct {
		subject string
		amounts []*float64
	}{
		{rateMove, slices.Concat(processors, reads, writes)}, {"writes per operation", writes},
		{"reads per operation", reads}, {"CPU per operation", processors}, {"space", []*float64{&need.Disk.Value}},
		{"memory", []*float64{&need.Memory.Value}}, {"KB that count as one I/O", []*float64{&card.IOKB}},
		{"endurance of a device", []*float64{&card.Device.TB}},
	} {
		extra := func(f float64) float64 {
			card, need = *c, *n
			for _, a := range entry.amounts {
				*a *= f
			}
			return card.Price(&need).Sum()/price - 1
		}
		m := Move{entry.subject, extra(0.5), extra(2)}
		if entry.subject == rateMove && 2*n.Rate > n.Most.Value {
			m.Doubled = math.NaN()
		}
		if m.size() >= 0.01 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b Move) int { return cmp.Compare(b.size(), a.size()) })
	return out
}

const rateMove = "operations per second"

func (m Move) size() float64 {
	if math.IsNaN(m.Doubled) {
		return math.Abs(m.Halved)
	}
	return max(math.Abs(m.Halved), math.Abs(m.Doubled))
}

// fanout returns the data size of a target with an LSM tree, in memtables; 0 for others.
func (m measured) fanout() float64 {
	var list []float64
	for _, r := range m.step.Runs[m.target] {
		if v := r.Step.Structure; v.Shape == engine.Leveled && v.Memtable > 0 {
			list = append(list, float64(v.Memtable))
		}
	}
	data := m.step.Number(m.target, compare.Key{Metric: metric.DataBytes})
	if len(list) == 0 || data.Missing != "" {
		return 0
	}
	return data.Value / stat.Median(list)
}
