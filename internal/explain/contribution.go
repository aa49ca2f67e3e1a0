package explain

import (
	"math"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Contribution is an item's contribution to the logarithm of a ratio: a number k such
// that the ratio of new to base is exp of the sum of all items' k. It is additive LMDI-I:
// B. W. Ang, "LMDI decomposition approach: a guide for implementation", Energy Policy 86
// (2015). Bounds and p-values are NaN if there are too few trials.
type Contribution struct {
	Item      Item
	Base, New float64 // means over the trials
	Log       float64 // k
	Low, High float64 // its 95 % interval
	// P is the p-value of the contribution being 0. Adjusted is P corrected for all items
	// of the step that may be named (Holm), NaN for the others; for a total it is P.
	P, Adjusted float64
	agreed      bool
	bounds      [2]float64 // of Log, by differences alone: of shares
}

// leastLog is the smallest difference worth reporting.
const leastLog = 0.02

// Proven reports whether the item is known to contribute, by more than a negligible amount.
func (c *Contribution) Proven() bool {
	return c.Adjusted < compare.Alpha && c.agreed && c.Low*c.High > 0 && math.Abs(c.Log) >= leastLog
}

// Factor returns the ratio that the item alone accounts for.
func (c *Contribution) Factor() float64 { return math.Exp(c.Log) }

// logMean is the logarithmic mean. With it, differences of items sum to the logarithm of
// the ratio of their sums.
func logMean(x, y float64) float64 {
	switch d := (y - x) / x; {
	case x == y, math.Abs(d) <= 1e-9:
		return (x + y) / 2
	case math.Abs(d) < 0.5: // where a quotient loses what makes the difference
		return (y - x) / math.Log1p(d)
	}
	return (y - x) / math.Log(y/x)
}

// sample is a number on two targets, split in each run.
type sample struct {
	ledger      Ledger
	base, other []sheet
	design      stat.Design
	// trials are those of the two sides, whose machines or loads, the unit, count once each; none if trials do.
	trials [2][]*result.Trial
	unit   compare.Unit
	// clients are the numbers of clients of the runs, if they differ: X = clients ÷ time
	// per unit, so the clients are a separate item.
	clients [2][]float64
	// parts are the sheets of Running, by subsystem, which have the scale of the whole; nil if a run was not sampled.
	parts *sample
	whole *sample // that a sample of parts belongs to
}

// align makes the sheets split alike: what only some of them know is merged into what all know.
func (s *sample) align() {
	s.together(Running, Client)
	if s.ledger == Time {
		s.together(Uncovered, Running)
	}
	s.together(Uncovered, Queue)
	s.together(Uncovered, Reads)
	for _, item := range []Item{TextLog, BinaryLog, TempWrites, CommitPages} {
		s.uncounted(item)
	}
}

// complete gives runs whose CPU time was not split the mean shares of those on their side that were,
// and reports whether these are enough.
func (s *sample) complete() bool {
	for i, parts := range [][]sheet{s.parts.base, s.parts.other} {
		var shares sheet
		split := 0
		for _, x := range parts {
			for _, e := range x {
				shares = shares.add(entry{item: e.item, value: e.value / x.total()})
			}
			if len(x) > 0 {
				split++
			}
		}
		if split < min(compare.LeastTrials, len(parts)) {
			return false
		}
		for k := range parts {
			if len(parts[k]) > 0 {
				continue
			}
			cpu := [][]sheet{s.base, s.other}[i][k].find(Running).value
			for _, e := range shares {
				parts[k] = append(parts[k], entry{item: e.item, value: cpu * e.value / float64(split)})
			}
		}
	}
	return true
}

// uncounted merges an item of writes into what is not counted unless all sheets know it: where it
// is not known it is not 0.
func (s *sample) uncounted(item Item) {
	has := func(i Item) func(sheet) bool {
		return func(x sheet) bool { return slices.ContainsFunc(x, func(e entry) bool { return e.item == i }) }
	}
	beyond := Padding
	if slices.ContainsFunc(slices.Concat(s.base, s.other), has(Uncounted)) {
		beyond = Uncounted
	}
	if s.ledger == Parts {
		s.mergeUneven(has(item), beyond, item)
	}
}

// mergeUneven merges items in all sheets if some, and not all, of the sheets have something.
func (s *sample) mergeUneven(has func(sheet) bool, as Item, list ...Item) {
	all := slices.Concat(s.base, s.other)
	if !slices.ContainsFunc(all, has) || !slices.ContainsFunc(all, func(x sheet) bool { return !has(x) }) {
		return
	}
	for _, sheets := range [][]sheet{s.base, s.other} {
		for i := range sheets {
			sheets[i] = sheets[i].merge(as, list...)
		}
	}
}

// together merges an item into another if it is known in only some of the sheets: of clients it is 0 where it is not.
func (s *sample) together(as, item Item) {
	s.mergeUneven(func(x sheet) bool {
		return slices.ContainsFunc(x, func(e entry) bool { return e.item == item && (e.value > 0 || item != Client) })
	}, as, item)
}

// uneven reports whether one engine counts items that the other does not: factors, or parts
// of its writes. A missing item is then no difference.
func (s *sample) uneven() bool {
	base, other := s.base[0], s.other[0]
	switch {
	case s.ledger.product():
		return len(base) != len(other)
	case s.ledger != Parts:
		return false // a role of sessions may have the name of a part
	}
	counts := func(x sheet) bool {
		return slices.ContainsFunc(x, func(e entry) bool { return slices.Contains(account.Parts(), account.Part(e.item)) })
	}
	return counts(base) != counts(other)
}

// items returns all items, in the order of the sheets.
func (s *sample) items() (out []Item) {
	for _, x := range slices.Concat(s.base, s.other) {
		for _, e := range x {
			out = compare.AppendNew(out, e.item)
		}
	}
	if len(s.clients[0]) > 0 {
		out = append(out, Clients)
	}
	return out
}

// scale returns the divisor of the items: the logarithmic mean of the mean totals. All
// runs share it. With one for each pair, the two values of a pair would depend on each
// other, and equal targets would differ too often.
func (s *sample) scale() float64 {
	if s.whole != nil {
		return s.whole.scale()
	}
	return logMean(s.means(sheet.total))
}

// empty reports whether the whole number is one item that is no cause: then there is
// nothing to split.
func (s *sample) empty() bool {
	sheets := slices.Concat(s.base, s.other)
	some := slices.DeleteFunc(s.items(), func(item Item) bool {
		return item != Clients && !slices.ContainsFunc(sheets, func(x sheet) bool { return x.find(item).value != 0 })
	})
	return len(some) == 0 || len(some) == 1 && some[0].slack()
}

// units returns the numbers of the runs, or their means over the units that count once each.
func (s *sample) units(base, other []float64) (x, y []float64) {
	if len(s.trials[0]) == 0 {
		return base, other
	}
	return s.unit.Means(base, s.trials[0]), s.unit.Means(other, s.trials[1])
}

// means returns the means of both sides.
func (s *sample) means(value func(sheet) float64) (base, other float64) {
	x, y := s.units(stat.Values(s.base, value), stat.Values(s.other, value))
	return stat.Mean(x), stat.Mean(y)
}

// terms returns, for an item, numbers of the runs, or of the units that count once each, whose mean
// difference is its contribution.
func (s *sample) terms(item Item) (base, other []float64) {
	if item == Clients {
		return s.units(stat.Values(s.clients[0], math.Log), stat.Values(s.clients[1], math.Log))
	}
	scale := s.scale()
	term := func(x sheet) float64 {
		if e := x.find(item); s.ledger.product() {
			return s.ledger.sign() * math.Log(e.value)
		} else {
			return s.ledger.sign() * e.value / scale
		}
	}
	return s.units(stat.Values(s.base, term), stat.Values(s.other, term))
}

// contribution tests an item.
func (s *sample) contribution(item Item) Contribution {
	c := s.test(s.terms(item))
	c.Item = item
	c.bounds = [2]float64{c.Low, c.High}
	c.Base, c.New = s.means(func(x sheet) float64 { return x.find(item).value })
	if !s.ledger.product() && item != Clients {
		s.testRatio(&c)
	}
	if item == Clients {
		c.Base, c.New = stat.Mean(s.clients[0]), stat.Mean(s.clients[1])
	}
	if extra := s.sampling(item); extra > 0 && !math.IsNaN(c.Low) {
		c.Low, c.High = c.Log-math.Hypot(c.Log-c.Low, extra), c.Log+math.Hypot(c.High-c.Log, extra)
	}
	return c
}

// testRatio tests an item of a sum by the ratio of its values: noise is a share of them, so that a small
// item that grows to a large one is told from chance. What is less than a hundredth of the whole counts as nothing.
func (s *sample) testRatio(c *Contribution) {
	little, scale := 0.01*s.scale(), s.scale()
	logs := func(list []sheet) []float64 {
		return stat.Values(list, func(x sheet) float64 { return math.Log(x.find(c.Item).value + little) })
	}
	x, y := s.units(logs(s.base), logs(s.other))
	if min(len(x), len(y)) < compare.LeastTrials {
		return
	}
	d := stat.Decide(x, y, s.design, 1-compare.Alpha)
	c.P, c.agreed = d.P, d.Agreed
	change := func(log float64) float64 { return s.ledger.sign() * (c.Base + little) * math.Expm1(log) / scale }
	low, high := change(d.Interval.Low), change(d.Interval.High)
	c.Low, c.High = min(low, high, c.Log), max(low, high, c.Log)
}

// test compares terms of two sides.
func (s *sample) test(base, other []float64) Contribution {
	nan := math.NaN()
	c := Contribution{Log: stat.Mean(other) - stat.Mean(base), Low: nan, High: nan, P: nan, Adjusted: nan}
	if min(len(base), len(other)) >= compare.LeastTrials {
		d := stat.Decide(base, other, s.design, 1-compare.Alpha)
		c.P, c.agreed = d.P, d.Agreed
		c.Low, c.High = min(d.Interval.Low, c.Log), max(d.Interval.High, c.Log)
	}
	return c
}

// sampling returns the error of an item that was estimated from samples of sessions: an
// item seen n times is known to 2√n. The trials' own differences include it, but three
// trials may agree by chance.
func (s *sample) sampling(item Item) float64 {
	if s.ledger.product() {
		return 0
	}
	sum, scale := 0.0, s.scale()
	for _, list := range [][]sheet{s.base, s.other} {
		for _, sheet := range list {
			if e := sheet.find(item); e.seen > 0 {
				one := 2 * e.value / math.Sqrt(float64(e.seen)) / scale / float64(len(list))
				sum += one * one
			}
		}
	}
	return math.Sqrt(sum)
}

// totalLog tests the sum of all contributions: the logarithm of the ratio.
func (s *sample) totalLog() Contribution {
	c := s.exclude(nil)
	total := sheet.total
	if s.ledger.product() {
		total = sheet.product
	}
	c.Base, c.New = s.means(total)
	return c
}

// exclude tests the sum of the contributions of all items except some, which may be parts of Running.
func (s *sample) exclude(some []Item) Contribution {
	c := s.test(s.totals(some))
	c.Adjusted = c.P
	return c
}

// totals returns for each run the sum of the terms of all items except some.
func (s *sample) totals(but []Item) (base, other []float64) {
	base, other = s.terms("") // none: zeros
	clear(base)
	clear(other)
	add := func(part *sample, item Item, sign float64) {
		x, y := part.terms(item)
		for i := range x {
			base[i] += sign * x[i]
		}
		for i := range y {
			other[i] += sign * y[i]
		}
	}
	for _, item := range s.items() {
		if !slices.Contains(but, item) {
			add(s, item, 1)
		}
	}
	for _, item := range but {
		if _, ok := item.Subsystem(); ok {
			add(s.parts, item, -1)
		}
	}
	return base, other
}
