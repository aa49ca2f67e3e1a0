package trial

import (
	"math"
	"strconv"

	"rumbench/internal/plan"
)

// grid is the numbered rates that a search may try.
type grid struct{ *plan.Find }

// halvings is how often a search without a lower bound halves the rate before it
// gives up.
const halvings = 10

// rate returns rate k of those that a search may try: of the grid, clamped to From
// and To.
func (g grid) rate(k int) float64 {
	v := max(g.at(k), g.From)
	if g.To > 0 {
		v = min(v, g.To)
	}
	return v
}

// at returns rate k of the grid, of three digits. All searches with the same
// precision try the same rates, so that their steps can be compared.
func (g grid) at(k int) float64 {
	text := strconv.FormatFloat(math.Pow(1+g.Precision, float64(k)), 'g', 3, 64)
	v, _ := strconv.ParseFloat(text, 64) // just formatted
	return v
}

// nearest returns the number of the grid rate nearest to a rate.
func (g grid) nearest(rate float64) int {
	return int(math.Round(math.Log(rate) / math.Log1p(g.Precision)))
}

// last returns the number of the rate To.
func (g grid) last() int {
	k := g.nearest(g.To) - 1
	for g.at(k) < g.To {
		k++
	}
	return k
}

// first returns the number of the rate From.
func (g grid) first() int {
	k := g.nearest(g.From) + 1
	for g.at(k) > g.From {
		k--
	}
	return k
}

// halving returns the number of grid steps from a rate to half of it.
func (g grid) halving() int { return max(1, int(math.Round(math.Ln2/math.Log1p(g.Precision)))) }

// least returns the lowest rate that is tried below one that is known to break the
// promise.
func (g grid) least(k int) int {
	if g.From > 0 {
		return g.first()
	}
	return k - halvings*g.halving()
}

// MostProbes returns the greatest number of probes of a search.
func MostProbes(f *plan.Find) int {
	g := grid{f}
	bisect := func(steps int) int { return int(math.Ceil(math.Log2(float64(max(1, steps))))) }
	switch {
	case g.From > 0 && g.To > 0:
		return 2 + bisect(g.last()-g.first())
	case g.From > 0:
		return 1 + bisect(g.nearest(plan.GreatestRate)-g.first())
	case g.To > 0:
		return 1 + halvings + bisect(g.halving())
	}
	return halvings + bisect(g.halving())
}
