package published

import (
	"math"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Colour is the colour of a cell on published pages; as a string it is a CSS
// class.
//
// The rules here are the published ones, with their oddities: fixed limits for
// every number, however noisy it is. They are for pages that must look like
// published ones. Package compare judges differences.
type Colour string

// The colours, as insert benchmark pages use them.
const (
	None   Colour = ""
	Red    Colour = "pub-red"    // in the worst quarter, or a missed promised rate
	Green  Colour = "pub-green"  // in the best quarter
	Grey   Colour = "pub-grey"   // to be ignored: a promised rate of the same step was missed
	Yellow Colour = "pub-yellow" // a ratio clearly below 1
	Blue   Colour = "pub-blue"   // a ratio clearly above 1
)

// Sign returns a sign with the colour's meaning, for readers who cannot see
// colours.
func (c Colour) Sign() string {
	return map[Colour]string{Red: "−", Green: "+", Grey: "×", Yellow: "↓", Blue: "↑"}[c]
}

// Rate is a cell of a table of absolute rates.
type Rate struct {
	Value float64 // NaN: unknown
	// Missed: a rate promised in the same step was not kept. An unknown rate was
	// not missed; loads have no promises.
	Missed bool
}

// Rates returns the colours of a column of absolute rates: red up to a quarter
// of the way from the least to the greatest, green from three quarters on.
// Rates count as they are printed, as whole numbers. The greatest is taken from
// steps without missed promises, the least from all. Nothing is red if the
// least is at least 80 % of the greatest. A low rate is red even if it is to be
// ignored.
func Rates(column []Rate) []Colour {
	low, greatest := math.Inf(1), math.Inf(-1)
	for _, r := range column {
		if math.IsNaN(r.Value) {
			continue
		}
		low = min(low, math.RoundToEven(r.Value))
		if !r.Missed {
			greatest = max(greatest, math.RoundToEven(r.Value))
		}
	}
	quarter := math.Floor((greatest - low) / 4)
	bottom, top := low+quarter, greatest-quarter
	if low >= 0.8*greatest {
		bottom = 0
	}
	if math.IsInf(greatest, -1) { // all missed: none is good, and none is known to be bad
		bottom, top = 0, math.Inf(1)
	}
	out := make([]Colour, len(column))
	for i, r := range column {
		switch v := math.RoundToEven(r.Value); {
		case math.IsNaN(v):
		case v <= bottom:
			out[i] = Red
		case r.Missed:
			out[i] = Grey
		case v >= top:
			out[i] = Green
		}
	}
	return out
}

// RatioOf returns the colour of a ratio of rates: blue above 1.05, yellow below
// 0.95. The ratio is rounded to whole percent first, so the limits are in fact
// 1.055 and 0.945. The base has no colour.
func RatioOf(value, base float64) Colour {
	percent := math.RoundToEven(100 * (value / base)) // rounds like printf("%.0f")
	switch {
	case !quantity.Finite(percent):
		return None
	case percent > 105:
		return Blue
	case percent < 95:
		return Yellow
	}
	return None
}

// Promise returns the colour of a rate next to its promise, both of all clients
// together: red if it did not keep it.
func Promise(value, promised float64) Colour {
	if math.IsNaN(value) || math.IsNaN(promised) || account.HeldAverage(value, promised) {
		return None
	}
	return Red
}

// Colours returns the colours of a test's cells: of its rates or of their
// ratios to the base. Only rates have published colours.
func Colours(r *compare.Relative, row *compare.RelativeRow, absolute bool) []Colour {
	out := make([]Colour, len(row.Cells))
	if m := r.Metric; m != nil && (m.Unit != "1/s" || m.Better != "higher") {
		return out
	}
	var rates []Rate
	for i := range row.Cells {
		c := &row.Cells[i]
		rates = append(rates, Rate{Value: Round(c.Number), Missed: row.Step.Refused(r.Targets[i], metric.SLAMissed)})
	}
	if absolute {
		return Rates(rates)
	}
	for i := range out {
		out[i] = RatioOf(rates[i].Value, rates[0].Value)
	}
	return out
}

// Promised is a group of clients with its promised rate and the rate that it
// kept: the median over the trials, NaN if unknown.
type Promised struct {
	Step   *compare.Step
	Name   string // of the group, with the unit of its rate
	Rate   float64
	Held   []float64 // by target
	Colour []Colour
}

// PromisedRates returns the promised rates of all tests.
func PromisedRates(r *compare.Relative) (out []Promised) {
	for _, group := range r.Groups {
		for _, row := range group.Rows {
			for _, g := range row.Step.Groups() {
				if g.Rate == 0 {
					continue
				}
				p := Promised{Step: row.Step, Name: g.Name + g.RateUnit(), Rate: g.Rate}
				for _, t := range r.Targets {
					held := stat.Median(heldBy(row.Step.Used(t), g.Name))
					p.Held, p.Colour = append(p.Held, held), append(p.Colour, Promise(held, g.Rate))
				}
				out = append(out, p)
			}
		}
	}
	return out
}

func heldBy(runs []compare.Run, group string) (held []float64) {
	for _, run := range runs {
		for _, g := range run.Step.Groups {
			if g.Name == group && g.SLA != nil {
				held = append(held, g.SLA.Achieved)
			}
		}
	}
	return held
}
