package report

import (
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
)

// embedded are the rows of a page as embedded in it. Rows of the same step and
// target share their names, so that a large campaign fits: number i of a run is
// of kind Shapes[run.Shape][i].
//
// Numbers are indexed through all runs from 0. A cell of the page refers to its
// number by that index.
type embedded struct {
	About    string        `json:"about"`
	Kinds    []rowKind     `json:"kinds"`
	Shapes   [][]int       `json:"shapes"`
	Warnings []string      `json:"warnings"`
	Codes    []metric.Code `json:"warning_codes"` // of the warnings; "" for those without one
	Runs     []embeddedRun `json:"runs"`
}

const aboutRows = "Number i of a run, of target and step, is of kind shapes[run.shape][i]: kinds gives its group, " +
	"op, metric, unit, per and source. Each trial has its value, its n and, under i, the indexes of its warnings and of " +
	"their codes; null: it has none. Disturbed are the i of numbers that may hold what other programs did, at_least " +
	"those of lower bounds. Few are those of percentiles of fewer than 10 / (1 - p) samples: the value is the greatest " +
	"of these n. The page shows medians over the trials that are not left out."

// rowKind is the content of a row except its value.
type rowKind struct {
	Group  string `json:"group,omitempty"`
	Op     string `json:"op,omitempty"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Per    string `json:"per,omitempty"`
	Source string `json:"source,omitempty"`

	nth int // of the rows with these names in a run
}

// embeddedRun are the trials of a target in a step.
type embeddedRun struct {
	Target string          `json:"target"`
	Step   string          `json:"step"`
	Shape  int             `json:"shape"`
	Trials []embeddedTrial `json:"trials"`
}

type embeddedTrial struct {
	Trial    int           `json:"trial"`
	LeftOut  bool          `json:"left_out,omitempty"` // the page's numbers do not include this trial
	Values   page.Numbers  `json:"values"`
	N        []int64       `json:"n"`
	Warnings map[int][]int `json:"warnings,omitempty"`
	// Disturbed are the numbers that may include other programs' activity.
	Disturbed []int `json:"disturbed,omitempty"`
	// AtLeast are the numbers that are lower bounds.
	AtLeast []int `json:"at_least,omitempty"`
	// Few are the percentiles with too few samples.
	Few []int `json:"few,omitempty"`
}

// runOf identifies a run of the page.
type runOf struct {
	step   *step
	target *target
}

// embedder collects the rows of campaigns.
type embedder struct {
	out      embedded
	kinds    map[rowKind]int
	warnings map[string]int
	count    int                 // of numbers
	runs     map[runOf][]int     // kinds of the numbers of a run
	places   map[*metric.Row]int // index of each row
}

func newEmbedder() *embedder {
	return &embedder{
		out: embedded{About: aboutRows}, kinds: map[rowKind]int{}, warnings: map[string]int{},
		runs: map[runOf][]int{}, places: map[*metric.Row]int{},
	}
}

// add adds the rows of a campaign, and sets its indexes of them. It returns the
// first index of each target's numbers.
func (e *embedder) add(c *campaign) (offsets []int) {
	c.places = e.places
	for _, t := range c.Targets {
		offsets = append(offsets, e.count)
		for _, s := range c.steps {
			if len(s.Runs[t]) > 0 {
				e.addRuns(s, t)
			}
		}
	}
	return offsets
}

func (e *embedder) addRuns(s *step, t *target) {
	runs, used := s.Runs[t], s.Used(t)
	kinds := make([][]int, len(runs))
	for i, r := range runs {
		kinds[i] = e.kindsOf(r.Step.Rows)
	}
	order := merged(kinds)
	out := embeddedRun{Target: t.Name, Step: s.Name, Shape: e.shape(order)}
	for i, r := range runs {
		et := embeddedTrial{Trial: r.Trial.Trial, Values: page.Numbers(page.Gaps(len(order))), N: make([]int64, len(order)),
			Warnings: map[int][]int{}}
		et.LeftOut = !slices.ContainsFunc(used, func(u run) bool { return u.Step == r.Step })
		for k := range r.Step.Rows {
			row := &r.Step.Rows[k]
			at := slices.Index(order, kinds[i][k])
			et.put(at, row, r.Step)
			if len(row.Warnings) > 0 {
				et.Warnings[at] = e.warningsOf(row)
			}
			e.places[row] = e.count + at
		}
		out.Trials = append(out.Trials, et)
	}
	e.runs[runOf{s, t}] = order
	e.out.Runs = append(e.out.Runs, out)
	e.count += len(order)
}

func (e *embedder) kindsOf(rows []metric.Row) []int {
	out := make([]int, len(rows))
	seen := map[rowKind]int{}
	for i, r := range rows {
		kind := rowKind{Group: r.Group, Op: r.Op, Metric: r.Metric, Unit: r.Unit, Per: r.Per, Source: r.Source}
		seen[kind]++
		kind.nth = seen[kind]
		out[i] = indexOf(e.kinds, &e.out.Kinds, kind)
	}
	return out
}

// merged returns an order of all kinds that keeps the order of each run, if
// there is one.
func merged(runs [][]int) []int {
	order := slices.Clone(runs[0])
	for _, run := range runs[1:] {
		at := 0
		for _, kind := range run {
			i := slices.Index(order, kind)
			if i < 0 {
				order = slices.Insert(order, at, kind)
				i = at
			}
			at = i + 1
		}
	}
	return order
}

func (e *embedder) shape(kinds []int) int {
	at := slices.IndexFunc(e.out.Shapes, func(o []int) bool { return slices.Equal(o, kinds) })
	if at < 0 {
		at = len(e.out.Shapes)
		e.out.Shapes = append(e.out.Shapes, kinds)
	}
	return at
}

func (e *embedder) warningsOf(r *metric.Row) []int {
	var out []int
	for _, w := range r.Warnings {
		out = append(out, indexOf(e.warnings, &e.out.Warnings, w.Text))
		if len(e.out.Codes) < len(e.out.Warnings) { // it is a new one
			e.out.Codes = append(e.out.Codes, w.Code)
		}
	}
	return out
}

// put adds a row as it may be quoted, see result.Step.Shown.
func (t *embeddedTrial) put(at int, row *metric.Row, s *result.Step) {
	t.Values[at], t.N[at] = row.Value, row.N
	if row.Disturbed {
		t.Disturbed = append(t.Disturbed, at)
	}
	if row.AtLeast {
		t.AtLeast = append(t.AtLeast, at)
	}
	if !row.Few() {
		return
	}
	t.Few = append(t.Few, at)
	if t.Values[at] = math.NaN(); s.Greatest(row) != nil {
		t.Values[at] = s.Greatest(row).Value
	}
}

// indexOf returns the index of v in the list, appending it if it is new.
func indexOf[T comparable](index map[T]int, list *[]T, v T) int {
	i, ok := index[v]
	if !ok {
		i = len(*list)
		index[v] = i
		*list = append(*list, v)
	}
	return i
}
