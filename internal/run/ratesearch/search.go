// Package ratesearch decides which rates to try in a search for the highest
// rate that keeps a promise, and evaluates the probes. It is pure: it measures
// nothing, reads no clock, and knows neither promises nor servers.
package ratesearch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// Most is the greatest number of probes of a search: those that count, and those
// that were disturbed and do not.
const Most = mostCounted + mostDisturbed

const (
	mostCounted   = 20
	mostDisturbed = 4
	// deepest and highest are the shares of the closed loop's rate between which a
	// search without bounds looks.
	deepest, highest = 0.01, 2
	// near is the usual distance of the answer from the start of the search, as
	// a logarithm of the ratio.
	near = 0.25
	// spoiled is the share of probes that break the promise at any rate, for
	// example by a stall, and lucky the share that keep it at any rate.
	spoiled, lucky = 0.05, 0.005
	// steps is the number of steps between tried rates that make up the
	// precision, and shades the number of possible answers for each step.
	steps, shades = 2, 2
	// first is the number of probes that look for the answer's neighbourhood.
	// All others are made at its ends.
	first = 7
	// far is the ratio of the ends of an interval; a wider interval is halved.
	far = 1.5
	// outside is the probability that the answer lies below the interval, and
	// also that it lies above; ends is the same for the rates tried to make it
	// small.
	outside, ends = 0.02, 0.05
)

// chances are how likely it is that probes disagree over a range of a width, the
// logarithm of a ratio of rates.
var chances = []struct{ width, share float64 }{{0.01, 0.4}, {0.03, 0.25}, {0.08, 0.2}, {0.16, 0.1}, {0.32, 0.05}}

// Plan is the information known before a search.
type Plan struct {
	Precision float64 // of the answer, as a share
	From, To  float64 // bounds of the rates to try, both inclusive; 0: none
	Lowest    float64 // at lower ones a probe has too few operations
	Closed    float64 // the rate of a closed loop
	// Ease is the promised limit ÷ the closed loop's value: above 1 the closed
	// loop kept the promise itself.
	Ease float64
}

// Search is a search in progress.
//
// It holds the probability of each possible answer after the probes so far. The
// chance that a probe keeps the promise falls from one to nothing around the
// answer, over a range of unknown width; a probe anywhere may be spoiled. So no
// single probe decides: rates with contradicting probes are tried again.
//
// The first rates are those that the answer lies above or below with equal
// probability, as in a bisection. The next are the ends of the range in which
// it lies, from both sides, until the range is as small as the precision.
type Search struct {
	Plan
	step      float64     // the logarithm of the ratio of neighbouring rates
	answers   []float64   // logarithms of rates
	weights   [][]float64 // of each answer, by chance
	tried     []triedRate // by rate
	counted   int         // probes
	disturbed int         // probes that do not count
}

// triedRate is a rate that was tried.
type triedRate struct {
	rate        float64
	kept, broke int // probes that count
}

// New returns a search.
func New(p Plan) *Search {
	s := &Search{Plan: p, step: math.Log1p(p.Precision) / steps}
	if s.From == 0 {
		s.From = s.round(deepest * min(p.Closed, cmp.Or(p.To, p.Closed)))
	}
	s.From = max(s.From, p.Lowest)
	if s.To == 0 {
		s.To = s.round(highest * max(p.Closed, s.From))
	}
	// Bounds far from the closed loop's rate are where the answer is looked for all the same.
	start := math.Log(min(max(p.Closed*startAt(p.Ease), s.From), s.To))
	below := func(answer float64) float64 { return 0.5 + math.Atan((answer-start)/near)/math.Pi }
	// One more answer at either end represents all beyond.
	shade := s.step / shades
	n := int(math.Ceil((math.Log(s.To)-math.Log(s.From))/shade)) + 2
	for i := range n {
		place := math.Log(s.From) + (float64(i)-0.5)*shade
		low, high := below(place-shade/2), below(place+shade/2)
		switch i {
		case 0:
			low = 0
		case n - 1:
			high = 1
		}
		prior := make([]float64, len(chances))
		for j, c := range chances {
			prior[j] = (high - low) * c.share
		}
		s.answers, s.weights = append(s.answers, place), append(s.weights, prior)
	}
	return s
}

// startAt returns the share of the closed loop's rate at which a search starts.
// A closed loop whose clients wait longer than the limit has too many clients
// that wait for each other; and random arrivals come in bunches.
func startAt(ease float64) float64 { return min(0.9, 0.75*math.Pow(ease, 0.3)) }

// round returns the nearest rate that may be tried. All searches with the same
// precision and bounds try the same rates, of three digits, so that their probes
// can be compared.
func (s *Search) round(rate float64) float64 {
	text := strconv.FormatFloat(math.Exp(s.step*math.Round(math.Log(rate)/s.step)), 'g', 3, 64)
	v, _ := strconv.ParseFloat(text, 64) // just formatted
	switch {
	case s.To > 0 && max(rate, v) >= s.To:
		return s.To
	case min(rate, v) <= s.From:
		return s.From
	}
	return v
}

// Add adds a probe of a rate, and returns whether it counts. One that broke the
// promise while other programs disturbed it shows nothing, unless there are too
// many of them; one that kept it kept it in spite of them.
func (s *Search) Add(rate float64, kept, disturbed bool) bool {
	if disturbed && !kept && s.disturbed < mostDisturbed {
		s.disturbed++
		return false
	}
	s.counted++
	i, found := slices.BinarySearchFunc(s.tried, rate,
		func(r triedRate, rate float64) int { return cmp.Compare(r.rate, rate) })
	if !found {
		s.tried = slices.Insert(s.tried, i, triedRate{rate: rate})
	}
	if kept {
		s.tried[i].kept++
	} else {
		s.tried[i].broke++
	}
	s.weigh(math.Log(rate), kept)
	return true
}

// weigh multiplies the weight of each possible answer with the probability that
// it gives the probe.
func (s *Search) weigh(rate float64, kept bool) {
	sum := 0.0
	for i, answer := range s.answers {
		for j, c := range chances {
			p := lucky + (1-lucky-spoiled)*(1+math.Erf((answer-rate)/(c.width*math.Sqrt2)))/2
			if !kept {
				p = 1 - p
			}
			s.weights[i][j] *= p
			sum += s.weights[i][j]
		}
	}
	for _, w := range s.weights {
		for j := range w {
			w[j] /= sum
		}
	}
}

// quantile returns the rate below which the answer lies with a probability.
func (s *Search) quantile(p float64) float64 {
	sum := 0.0
	for i, w := range s.weights {
		for _, v := range w {
			sum += v
		}
		if sum >= p {
			return math.Exp(s.answers[i])
		}
	}
	return math.Exp(s.answers[len(s.answers)-1])
}

// Next returns the rate to try next; ok is false if the search is over.
func (s *Search) Next() (rate float64, ok bool) {
	if s.counted >= mostCounted || s.precise() {
		return 0, false
	}
	low, high := s.interval()
	middle := s.quantile(0.5)
	switch {
	case s.counted < first:
		return s.round(middle), true
	case low > 0 && high > far*low && !math.IsInf(high, 1): // the answer is at an unexpected rate
		return s.round(math.Sqrt(low * high)), true
	case s.counted%2 == 0:
		if rate = s.round(s.quantile(ends)); rate <= low { // the end is known, and one inside may be better
			rate = max(s.round(math.Sqrt(low*middle)), s.round(low*math.Exp(s.step)))
		}
	default:
		if rate = s.round(s.quantile(1 - ends)); rate >= high {
			rate = min(s.round(math.Sqrt(high*middle)), s.round(high*math.Exp(-s.step)))
		}
	}
	return rate, true
}

// precise reports whether nothing more needs to be known.
func (s *Search) precise() bool {
	const rounding = 1.01 // rates have three digits
	low, high := s.interval()
	return low > 0 && high <= low*(1+s.Precision)*rounding || s.quantile(outside) > s.To || s.quantile(1-outside) < s.From
}

// interval returns the nearest rates that were tried below and above all
// probable answers; 0 and infinity if there is none. The bounds of the search are
// such rates if most of their own probes agree.
func (s *Search) interval() (low, high float64) {
	start, end := s.quantile(outside), s.quantile(1-outside)
	high = math.Inf(1)
	for _, r := range s.tried {
		if r.rate <= start || r.rate == s.From && r.kept > r.broke {
			low = r.rate
		}
		if r.rate >= end || r.rate == s.To && r.broke > r.kept {
			high = min(high, r.rate)
		}
	}
	return low, high
}

// Answer is the result of a search.
type Answer struct {
	// Kept is the highest rate at which more probes kept the promise than broke
	// it, and Broke the lowest rate above it at which it was broken; 0: there
	// is none.
	Kept, Broke float64
	// Low and High are the rates between which the boundary lies; 0 and
	// infinite if that side is open.
	Low, High float64
	Probes    int  // all
	Disturbed int  // of these, the probes that do not count
	Precise   bool // the interval is as small as was asked for
}

// Answer returns the result of the probes so far.
func (s *Search) Answer() Answer {
	a := Answer{Probes: s.counted + s.disturbed, Disturbed: s.disturbed, Precise: s.precise()}
	a.Low, a.High = s.interval()
	middle := s.quantile(0.5) * math.Exp(s.step/2)
	for _, r := range s.tried {
		switch {
		case r.kept > r.broke && r.rate <= middle:
			a.Kept, a.Broke = r.rate, 0
		case r.broke > 0 && a.Broke == 0:
			a.Broke = r.rate
		}
	}
	if a.Low = min(a.Low, a.Kept); a.Broke > 0 {
		a.High = max(a.High, a.Broke)
	}
	return a
}
