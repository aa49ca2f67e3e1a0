package report

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
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
	"op, metric, unit, per, source and labels. Each trial has its value, its n and, under i, the indexes of its " +
	"warnings and of their codes; null: it has none. Disturbed are the i of numbers that may hold what other programs " +
	"did, at_least those of lower bounds. Few are those of percentiles of fewer than 10 / (1 - p) samples: the value is " +
	"the greatest of these n. The page shows medians over the trials that are not left out."

// rowKind is the content of a row except its value.
type rowKind struct {
	Group  string `json:"group,omitempty"`
	Op     string `json:"op,omitempty"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Per    string `json:"per,omitempty"`
	Source string `json:"source,omitempty"`

	Labels metric.Labels `json:"labels,omitzero"`

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

// embedder collects the rows of campaigns.
type embedder struct {
	out      embedded
	kinds    map[rowKind]int
	warnings map[string]int
	count    int                     // of numbers
	keys     map[*target][]keyOfStep // of the numbers of a target, in their order
	places   map[*metric.Row]int     // index of each row
}

type keyOfStep struct {
	step *step
	key  key
}

func newEmbedder() *embedder {
	return &embedder{
		out: embedded{About: aboutRows}, kinds: map[rowKind]int{}, warnings: map[string]int{},
		keys: map[*target][]keyOfStep{}, places: map[*metric.Row]int{},
	}
}

// add adds the rows of a campaign, and sets its indexes of them.
func (e *embedder) add(c *campaign) {
	c.places = e.places
	for _, t := range c.Targets {
		for _, s := range c.steps {
			if len(s.Runs[t]) > 0 {
				e.addRuns(s, t)
			}
		}
	}
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
			index := slices.Index(order, kinds[i][k])
			et.put(index, row, r.Step)
			if len(row.Warnings) > 0 {
				et.Warnings[index] = e.warningsOf(row)
			}
			e.places[row] = e.count + index
		}
		out.Trials = append(out.Trials, et)
	}
	for _, kind := range order {
		k := e.out.Kinds[kind]
		own := key{Group: k.Group, Op: k.Op, Metric: k.Metric, Per: k.Per, Labels: k.Labels}
		e.keys[t] = append(e.keys[t], keyOfStep{s, own})
	}
	e.out.Runs = append(e.out.Runs, out)
	e.count += len(order)
}

func (e *embedder) kindsOf(rows []metric.Row) []int {
	out := make([]int, len(rows))
	seen := map[rowKind]int{}
	for i, r := range rows {
		kind := rowKind{Group: r.Group, Op: r.Op, Metric: r.Metric, Unit: r.Unit, Per: r.Per, Source: r.Source,
			Labels: r.Labels}
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
		position := 0
		for _, kind := range run {
			i := slices.Index(order, kind)
			if i < 0 {
				order = slices.Insert(order, position, kind)
				i = position
			}
			position = i + 1
		}
	}
	return order
}

func (e *embedder) shape(kinds []int) int {
	position := slices.IndexFunc(e.out.Shapes, func(o []int) bool { return slices.Equal(o, kinds) })
	if position < 0 {
		position = len(e.out.Shapes)
		e.out.Shapes = append(e.out.Shapes, kinds)
	}
	return position
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
func (t *embeddedTrial) put(index int, row *metric.Row, s *result.Step) {
	t.Values[index], t.N[index] = row.Value, row.N
	if row.Disturbed {
		t.Disturbed = append(t.Disturbed, index)
	}
	if row.AtLeast {
		t.AtLeast = append(t.AtLeast, index)
	}
	if !row.Few() {
		return
	}
	t.Few = append(t.Few, index)
	if t.Values[index] = math.NaN(); s.Greatest(row) != nil {
		t.Values[index] = s.Greatest(row).Value
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

// embeddedJudgements are the judgements that the page's script needs to mark
// numbers: all numbers against the first target, and those of the main tables
// against every other, so that a reader can choose another base.
type embeddedJudgements struct {
	About    string          `json:"about"`
	Verdicts []pageVerdict   `json:"verdicts"`
	From     []int           `json:"from"`  // by target: its first number
	Score    [][]int         `json:"score"` // by target: its numbers in the main tables
	Pairs    []judgementPair `json:"pairs"`
	// Apart are the classes of targets in steps where not all targets are comparable:
	// only targets of one class are compared.
	Apart map[string][]int `json:"apart,omitempty"`
	// Some: there are judgements against the first target only, because there are
	// too many targets.
	Some bool `json:"some,omitempty"`

	index map[pageVerdict]int // of the verdicts
}

// mostVerdicts is the number of verdicts on numbers of the main tables that a
// page contains for readers who choose another base. Pairs grow with the square
// of the targets: beyond it only pairs with the first are judged.
const mostVerdicts = 50_000

const aboutJudgements = "Of target “of” against “base”, by index of targets: verdict[i], an index of " +
	"verdicts or -1 for none, is of number from[of] + " +
	"i if base is 0, else of number score[of][i]; low and high are the bounds of the ratio's 95 % interval."

// pageVerdict is a verdict in all its forms.
type pageVerdict struct {
	Word  string `json:"word"`
	Why   string `json:"why,omitempty"`
	Class string `json:"class,omitempty"`
	Sign  string `json:"sign,omitempty"`
}

// judgementPair are the effects of a target against a base.
type judgementPair struct {
	Base    int         `json:"base"`
	Of      int         `json:"of"`
	Verdict []int       `json:"verdict"`
	Low     page.Values `json:"low,omitempty"` // against the first target only
	High    page.Values `json:"high,omitempty"`
}

// pageData returns the data for the page's script: the rows, and the judgements on
// them.
func pageData(c *campaign, e *embedder) ([]page.Data, error) {
	rows, err := json.Marshal(e.out)
	if err != nil {
		return nil, err
	}
	rows = bytes.ReplaceAll(rows, []byte(`,{"target":`), []byte(",\n{\"target\":")) // a line for each run
	judgements, err := json.Marshal(judgementsOf(c, e))
	return []page.Data{{ID: "rows", JSON: rows}, {ID: "judgements", JSON: judgements}}, err
}

// judgementsOf judges the pairs of targets that the page can show.
func judgementsOf(c *campaign, e *embedder) *embeddedJudgements {
	out := embeddedJudgements{About: aboutJudgements, Verdicts: []pageVerdict{}, Pairs: []judgementPair{},
		Apart: classesOf(c), index: map[pageVerdict]int{}}
	shown := map[keyOfStep]bool{}
	for _, s := range c.steps {
		for _, k := range scoreKeys(s) {
			shown[keyOfStep{s, k}] = true
		}
	}
	scored := make([][]keyOfStep, len(c.Targets))
	count, scores := 0, 0
	for i, t := range c.Targets {
		out.From, out.Score = append(out.From, count), append(out.Score, []int{})
		seen := map[keyOfStep]bool{}
		for k, at := range e.keys[t] {
			if shown[at] && !seen[at] {
				out.Score[i], scored[i] = append(out.Score[i], count+k), append(scored[i], at)
			}
			seen[at] = true
		}
		count, scores = count+len(e.keys[t]), scores+len(scored[i])
	}
	out.Some = scores*(len(c.Targets)-1) > mostVerdicts
	for _, base := range c.Targets {
		for i, t := range c.Targets {
			switch {
			case t == base:
			case base.Index == 0: // all numbers
				out.add(c.judged(base, t), e.keys[t])
			case !out.Some: // those of the main tables; not cached, as nothing else on the page uses them
				p := out.add(c.Judge(base, t), scored[i])
				p.Low, p.High = nil, nil
			}
		}
	}
	return &out
}

// add adds the effects on some numbers.
func (out *embeddedJudgements) add(j *compare.Judgement, keys []keyOfStep) *judgementPair {
	p := judgementPair{Base: j.Base.Index, Of: j.New.Index}
	for _, at := range keys {
		index, low, high := -1, math.NaN(), math.NaN()
		if e := j.Effect(at.step.Step, at.key); e != nil && (e.Verdict != "" || e.Why != "") {
			m := verdict.MarkOf(e)
			index = indexOf(out.index, &out.Verdicts, pageVerdict{string(e.Verdict), e.Why, m.Class, m.Sign})
			if !math.IsNaN(e.Low) && !math.IsInf(e.High, 0) {
				low, high = e.Low, e.High
			}
		}
		p.Verdict, p.Low, p.High = append(p.Verdict, index), append(p.Low, low), append(p.High, high)
	}
	out.Pairs = append(out.Pairs, p)
	return &out.Pairs[len(out.Pairs)-1]
}

// classesOf returns, for steps in which the work or the promises of targets differ,
// the classes of comparable targets.
func classesOf(c *campaign) map[string][]int {
	out := map[string][]int{}
	for _, s := range c.steps {
		var first []*target // of each class
		list := make([]int, len(c.Targets))
		for i, t := range c.Targets {
			list[i] = slices.IndexFunc(first, func(f *target) bool { return s.Unlike(f, t) == "" })
			if list[i] < 0 {
				list[i] = len(first)
				first = append(first, t)
			}
		}
		if len(first) > 1 {
			out[s.Name] = list
		}
	}
	return out
}

// scoreKeys returns the keys of the tables whose base can be chosen.
func scoreKeys(s *step) []key {
	measures := slices.Concat(mainMeasures, spaceMeasures())
	keys := s.Keys(metric.RowsPerS)
	for _, m := range measures {
		if k, ok := m.key(s); ok {
			keys = compare.AppendNew(keys, k)
		}
	}
	return keys
}
