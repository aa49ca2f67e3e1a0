// Package remark is the one table of what a reader should know before using a number: its code, when it
// applies, how it is worded for one step, of several targets and before a run, and how much it weighs.
//
// A remark is one entry of table.go. One with a condition over rows and facts (When) is found by itself, on
// results and, if it has a text for that (Before), in the dry run; others are found where their figures are
// counted (internal/account) or compared (internal/report), which name the code and its values.
package remark

import (
	"math"

	"rumbench/internal/metric"
)

// Doubt is how far a remark limits what a comparison concludes.
type Doubt int

// The doubts. A remark without one limits a number, not the comparison.
const (
	Fair Doubt = iota + 1 // some conclusions
	Poor                  // all of them
)

// Remark is an entry of the table. In its texts {name} is a value, and [ around {name}] is left out if the
// value is unknown, see metric.Kind.
type Remark struct {
	Code   metric.Code
	Text   string // of one step, trial or campaign; "": it is not stored
	Short  string // without values; "" if the text itself is short
	Effect metric.Effect
	Doubt  Doubt
	// Several is the text for several targets in a step, on the first screen: a value is the range over the
	// targets, {target} their names, {each} the text Each of all of them, {elsewhere} other steps that have it.
	Several, Each string
	// Unless is the code of a remark that says more: beside it this one is not shown.
	Unless metric.Code
	// Worst: only the target and step with the greatest {share} of the campaign are shown.
	Worst bool
	// Before is the text in the dry run, with {each} as above.
	Before, BeforeEach string
	// When returns the values of a target in a step to which the remark applies; nil if it does not.
	When func(*Facts) metric.Values
}

// table holds all remarks in order of rank, and byCode their places in it.
var (
	table  []Remark
	byCode = map[metric.Code]int{}
)

func enter(code metric.Code, r Remark) metric.Code {
	metric.Enter(code, metric.Kind{Text: r.Text, Short: r.Short, Effect: r.Effect, Rank: len(table)})
	r.Code, byCode[code] = code, len(table)
	table = append(table, r)
	return code
}

// Of returns the entry of a code; the zero Remark if there is none.
func Of(code metric.Code) Remark {
	if i, ok := byCode[code]; ok {
		return table[i]
	}
	return Remark{}
}

// Before returns what the dry run says of a code.
func Before(code metric.Code, values metric.Values) string {
	return metric.Fill(Of(code).Before, values)
}

// Facts are what conditions are about: a target in a step, as it is expected or was measured. Unknown
// numbers are NaN, and what is not about one step or one target has none.
type Facts struct {
	Step, Target string
	Seconds      float64 // the shortest window
	Searched     bool    // the step's rate was searched for
	OnlyReads    bool    // nothing has to be written later
	Cache        float64 // bytes
	Place        string  // what holds the data: "cache", or "memory"
	Warnings     []metric.Warning
	// Row returns a number of the step's whole; before a run those that can be estimated. Nil knows none.
	Row func(metric string) float64
}

func (f *Facts) row(name string) float64 {
	if f.Row == nil {
		return math.NaN()
	}
	return f.Row(name)
}

// BriefStep is the number of seconds that a step has to run to include recurring events, such as
// checkpoints.
const BriefStep = 10

func brief(f *Facts) metric.Values {
	if f.OnlyReads || f.Searched || !(f.Seconds > 0 && f.Seconds < BriefStep) {
		return nil
	}
	return metric.Values{"seconds": f.Seconds}
}

// someMisses is the number of misses per unit of work from which data are not in the cache: tables,
// indexes and versions may be more than live data.
const someMisses = 0.01

func fits(f *Facts) metric.Values {
	data := f.row(metric.LiveBytes)
	if !(data > 0 && data < f.Cache) || f.row(metric.CacheMisses) > someMisses {
		return nil
	}
	return metric.Values{"data": data, "cache": f.Cache, "place": f.Place}
}

// The shares of the processors' time, in percent, that other programs or other guests of the machine's host
// may take without a remark, and from which no number is good.
const (
	LittleShared, MuchShared = 5, 50
	LittleStolen, MuchStolen = 1, 10
)

// OthersShare returns the share of the processors, in percent, that other programs used; 0: the warning
// does not say.
func OthersShare(w metric.Warning) float64 {
	if _, share := metric.Ends(w.Values["share"]); w.Code == ProcessorsShared && share > 0 {
		return share
	}
	return 0
}
