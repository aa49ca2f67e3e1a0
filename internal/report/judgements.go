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
)

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
func pageData(c *campaign, e *embedder, offsets []int) ([]page.Data, error) {
	rows, err := json.Marshal(e.out)
	if err != nil {
		return nil, err
	}
	rows = bytes.ReplaceAll(rows, []byte(`,{"target":`), []byte(",\n{\"target\":")) // a line for each run
	judgements, err := json.Marshal(judgementsOf(c, e, offsets))
	return []page.Data{{ID: "rows", JSON: rows}, {ID: "judgements", JSON: judgements}}, err
}

// judgementsOf judges the pairs of targets that the page can show; offsets are the
// first indexes of each target's numbers.
func judgementsOf(c *campaign, e *embedder, offsets []int) *embeddedJudgements {
	out := embeddedJudgements{About: aboutJudgements, Verdicts: []pageVerdict{}, From: offsets, Pairs: []judgementPair{}}
	shown := map[keyOfStep]bool{}
	for _, s := range c.steps {
		for _, k := range scoreKeys(s) {
			shown[keyOfStep{s, k}] = true
		}
	}
	all, scored := make([][]keyOfStep, len(c.Targets)), make([][]keyOfStep, len(c.Targets))
	scores := 0
	for i, t := range c.Targets {
		all[i] = keysOf(c, e, t)
		out.Score = append(out.Score, []int{})
		seen := map[keyOfStep]bool{}
		for k, at := range all[i] {
			if shown[at] && !seen[at] {
				out.Score[i], scored[i] = append(out.Score[i], k+offsets[i]), append(scored[i], at)
			}
			seen[at] = true
		}
		scores += len(scored[i])
	}
	out.Apart = classesOf(c)
	out.Some = scores*(len(c.Targets)-1) > mostVerdicts
	seen := map[pageVerdict]int{}
	for _, base := range c.Targets {
		for i, t := range c.Targets {
			switch {
			case t == base:
			case base.Index == 0: // all numbers
				out.Pairs = append(out.Pairs, judgedPair(c.judged(base, t), all[i], &out, seen))
			case !out.Some: // those of the main tables; not cached, as nothing else on the page uses them
				p := judgedPair(c.Judge(base, t), scored[i], &out, seen)
				p.Low, p.High = nil, nil
				out.Pairs = append(out.Pairs, p)
			}
		}
	}
	return &out
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

// judgedPair returns the judgements of a target's numbers against a base.
func judgedPair(j *compare.Judgement, keys []keyOfStep, out *embeddedJudgements,
	seen map[pageVerdict]int) judgementPair {
	p := judgementPair{Base: j.Base.Index, Of: j.New.Index}
	for _, at := range keys {
		p.add(j.Effect(at.step.Step, at.key), out, seen)
	}
	return p
}

type keyOfStep struct {
	step *step
	key  key
}

func keysOf(c *campaign, e *embedder, t *target) []keyOfStep {
	var out []keyOfStep
	for _, s := range c.steps {
		for _, kind := range e.runs[runOf{s, t}] {
			k := e.out.Kinds[kind]
			out = append(out, keyOfStep{s, key{Group: k.Group, Op: k.Op, Metric: k.Metric, Per: k.Per}})
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

func (p *judgementPair) add(e *compare.Effect, out *embeddedJudgements, seen map[pageVerdict]int) {
	index := -1
	low, high := math.NaN(), math.NaN()
	if e != nil && (e.Verdict != "" || e.Why != "") {
		m := verdict.MarkOf(e)
		index = indexOf(seen, &out.Verdicts, pageVerdict{string(e.Verdict), e.Why, m.Class, m.Sign})
		if !math.IsNaN(e.Low) && !math.IsInf(e.High, 0) {
			low, high = e.Low, e.High
		}
	}
	p.Verdict, p.Low, p.High = append(p.Verdict, index), append(p.Low, low), append(p.High, high)
}
