package published

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
)

// Figures are published figures for one step, next to the measured ones.
type Figures struct {
	Step    string   // "" if the plan names none
	Metrics []string // in the order of the catalogue
	// Pers are the metrics' denominators, from the first row that has one; "" if
	// none has.
	Pers []string
	Rows []FiguresRow
}

// FiguresRow is a published configuration next to its counterpart.
type FiguresRow struct {
	Name string
	Like string // the corresponding target; "": none
	// Target is that target; nil if it has no trials, or none corresponds. Base is
	// the counterpart of the first row, which the others are compared with, or
	// else the target itself.
	Target, Base *compare.Target
	Cells        []Figure // as the metrics
}

// Figure is a published number and the key of the measured one next to it.
type Figure struct {
	Published bool // false: it is not in the source
	Value     float64
	Per       string // its denominator; "" if the source gives none
	// Ratio is the value ÷ that of the first row, and Digits its number of
	// significant digits: 0.06 is about 3 times 0.02, not 3.00 times. NaN if it
	// has no meaning.
	Ratio  float64
	Digits int
	// Key is the measured number; if there is none, Why is the reason.
	Key compare.Key
	Why string
}

// Beside pairs a set of published figures with a campaign's numbers.
func Beside(c *compare.Campaign, p *plan.Published) (out []Figures) {
	for _, r := range p.Rows {
		if !slices.ContainsFunc(out, func(f Figures) bool { return f.Step == r.Step }) {
			out = append(out, figuresOf(c, r.Step, p.Rows))
		}
	}
	return out
}

func figuresOf(c *compare.Campaign, step string, all []plan.PublishedRow) Figures {
	rows := slices.DeleteFunc(slices.Clone(all), func(r plan.PublishedRow) bool { return r.Step != step })
	f := Figures{Step: step}
	for _, m := range metric.All() {
		per, known := "", false
		for _, r := range rows {
			if _, has := r.Figures[m.Name]; has {
				known = true
				if per == "" && hasPer(m.Name) {
					per = r.Per
				}
			}
		}
		if known {
			f.Metrics, f.Pers = append(f.Metrics, m.Name), append(f.Pers, per)
		}
	}
	for i := range rows {
		r := &rows[i]
		row := FiguresRow{Name: r.Name, Like: r.Like, Target: c.Target(r.Like), Base: c.Target(rows[0].Like)}
		if row.Base == nil {
			row.Base = row.Target
		}
		for _, m := range f.Metrics {
			row.Cells = append(row.Cells, figureOf(c, r, &rows[0], m))
		}
		f.Rows = append(f.Rows, row)
	}
	return f
}

func figureOf(c *compare.Campaign, r, first *plan.PublishedRow, name string) Figure {
	f := Figure{Ratio: math.NaN()}
	if f.Value, f.Published = r.Figures[name]; hasPer(name) {
		f.Per = r.Per
	}
	base, ok := first.Figures[name]
	if f.Published && ok && r != first && base != 0 && sameUnit(name, r.Per, first.Per) && !math.IsInf(f.Value/base, 0) {
		f.Ratio, f.Digits = f.Value/base, min(significant(f.Value), significant(base), 3)
	}
	s := c.Step(r.Step)
	switch {
	case c.Target(r.Like) == nil:
		f.Why = "no trial of " + r.Like + " has been begun"
	case r.Step == "":
		f.Why = "the plan names no step that these figures correspond to"
	case s == nil:
		f.Why = "no trial came to step " + r.Step
	default:
		if f.Key, ok = counterpart(s, name, r.Per); !ok {
			f.Why = "not measured here"
		}
	}
	return f
}

// hasPer reports whether a metric is per unit, or a rate of units.
func hasPer(name string) bool { return name == metric.RowsPerS || metric.IsCost(name) }

// sameUnit reports whether numbers with two denominators have the same unit, as
// rates of inserted and of indexed rows do. A missing denominator fits any.
func sameUnit(name, per, other string) bool {
	if !metric.IsCost(name) {
		per, other = per[strings.LastIndex(per, " ")+1:], other[strings.LastIndex(other, " ")+1:]
	}
	return !hasPer(name) || per == other || per == "" || other == ""
}

// counterpart returns the key of the step's number that is closest to a
// published one: with the same denominator, or else of the primary operation.
func counterpart(s *compare.Step, name, per string) (compare.Key, bool) {
	about := func(op string) func(compare.Key) bool { return func(k compare.Key) bool { return k.About(op) } }
	first, second := s.Primary, s.WritesPer
	if m := metric.ByName(name); m != nil && m.Per == metric.PerWritten {
		first, second = second, first
	}
	for _, fits := range []func(compare.Key) bool{
		func(k compare.Key) bool { return per != "" && k.Per == per },
		about(first),
		func(k compare.Key) bool { return s.Primary != "" && k.Group == s.Primary },
		func(k compare.Key) bool { return k.Group == "" && k.Op == "" && k.Per == "" },
		func(k compare.Key) bool { return metric.IsCost(name) && about(second)(k) },
	} {
		if k, ok := s.Find(name, fits); ok {
			return k, true
		}
	}
	return compare.Key{}, false
}

// significant counts the digits of a number as written; zeros before the point
// count.
func significant(v float64) int {
	written := strconv.FormatFloat(v, 'f', -1, 64)
	return max(1, len(strings.TrimLeft(strings.Replace(written, ".", "", 1), "0")))
}
