package report

import (
	"encoding/json"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/figure"
	"rumbench/internal/page"
)

// embeddedJudgements are what the page's script needs to mark numbers: all
// numbers against the first target, and those of the scorecard against every
// other, so that a reader can choose another base.
type embeddedJudgements struct {
	About    string          `json:"about"`
	Verdicts []pageVerdict   `json:"verdicts"`
	From     []int           `json:"from"`  // by target: its first number
	Score    [][]int         `json:"score"` // by target: its numbers in the scorecard and the like
	Pairs    []judgementPair `json:"pairs"`
	// Apart are the classes of targets in steps in which not all are comparable:
	// only targets of one class are compared.
	Apart map[string][]int `json:"apart,omitempty"`
	// Some: there are judgements against the first target only, because there are
	// too many targets.
	Some bool `json:"some,omitempty"`
}

// mostVerdicts is how many verdicts on numbers of the scorecard a page contains
// for readers who choose another base. Pairs grow with the square of the
// targets: beyond it only pairs with the first are judged.
const mostVerdicts = 50_000

const aboutJudgements = "Of target “of” against “base”, by index of targets: verdict[i], an index of verdicts or -1 for none, is of number from[of] + " +
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

// pageData returns what the page's script reads: the rows, and the judgements on them.
func pageData(c *campaign, e *embedder, from []int) ([]page.Data, error) {
	rows, err := e.json()
	if err != nil {
		return nil, err
	}
	judgements, err := json.Marshal(judgementsOf(c, e, from))
	return []page.Data{{ID: "rows", JSON: rows}, {ID: "judgements", JSON: judgements}}, err
}

// judgementsOf judges the pairs of targets that the page can show. from is the
// first index of each target's numbers.
func judgementsOf(c *campaign, e *embedder, from []int) *embeddedJudgements {
	out := embeddedJudgements{About: aboutJudgements, Verdicts: []pageVerdict{}, From: from, Pairs: []judgementPair{}}
	shown := map[keyOfStep]bool{}
	for _, s := range c.steps {
		for _, k := range scoreKeys(s) {
			shown[keyOfStep{s, k}] = true
		}
	}
	keys := make([][]keyOfStep, len(c.Targets))
	scores := 0
	for i, t := range c.Targets {
		keys[i] = keysOf(c, e, t)
		out.Score = append(out.Score, []int{})
		seen := map[keyOfStep]bool{}
		for k, at := range keys[i] {
			if shown[at] && !seen[at] {
				out.Score[i] = append(out.Score[i], k+from[i])
			}
			seen[at] = true
		}
		scores += len(out.Score[i])
	}
	out.Apart = classesOf(c)
	out.Some = scores*(len(c.Targets)-1) > mostVerdicts
	seen := map[pageVerdict]int{}
	for _, base := range c.Targets {
		if base.Index > 0 && out.Some {
			break
		}
		for i, t := range c.Targets {
			if t != base {
				out.Pairs = append(out.Pairs, judgedPair(c, base, t, keys[i], &out, seen))
			}
		}
	}
	return &out
}

// classesOf returns, for steps in which the work or the promises of targets
// differ, the classes of comparable targets.
func classesOf(c *campaign) map[string][]int {
	out := map[string][]int{}
	for _, s := range c.steps {
		var first []*target // of each class
		of := make([]int, len(c.Targets))
		for i, t := range c.Targets {
			of[i] = slices.IndexFunc(first, func(f *target) bool { return s.Unlike(f, t) == "" })
			if of[i] < 0 {
				of[i] = len(first)
				first = append(first, t)
			}
		}
		if len(first) > 1 {
			out[s.Name] = of
		}
	}
	return out
}

// judgedPair returns the judgement of a target: of all of its numbers against the first
// target, of those of the scorecard against any other.
func judgedPair(c *campaign, base, t *target, keys []keyOfStep, out *embeddedJudgements, seen map[pageVerdict]int) judgementPair {
	p := judgementPair{Base: base.Index, Of: t.Index}
	if base.Index == 0 {
		j := c.judged(base, t)
		for _, at := range keys {
			p.add(j.Effect(at.step.Step, at.key), out, seen)
		}
		return p
	}
	j := c.Judge(base, t, compare.DefaultRule()) // not cached: nothing else on the page uses it
	for _, number := range out.Score[t.Index] {
		at := keys[number-out.From[t.Index]]
		p.add(j.Effect(at.step.Step, at.key), out, seen)
	}
	p.Low, p.High = nil, nil
	return p
}

type keyOfStep struct {
	step *step
	key  key
}

// keysOf returns the keys of a target's numbers.
func keysOf(c *campaign, e *embedder, t *target) []keyOfStep {
	var out []keyOfStep
	for _, s := range c.steps {
		run, ok := e.runs[runOf{s, t}]
		if !ok {
			continue
		}
		for _, kind := range e.out.Shapes[e.out.Runs[run].Shape] {
			k := e.out.Kinds[kind]
			out = append(out, keyOfStep{s, key{Group: k.Group, Op: k.Op, Metric: k.Metric, Per: k.Per}})
		}
	}
	return out
}

// scoreKeys returns the keys of the tables in which the base can be chosen.
func scoreKeys(s *step) []key {
	keys := s.Keys("rows_per_s")
	for _, l := range layers() {
		for _, m := range l.measures {
			if k, ok := m.key(s); ok {
				keys = compare.AppendNew(keys, k)
			}
		}
	}
	for _, m := range spaceMeasures() {
		if k, ok := m.key(s); ok {
			keys = compare.AppendNew(keys, k)
		}
	}
	return keys
}

func (p *judgementPair) add(e *compare.Effect, out *embeddedJudgements, seen map[pageVerdict]int) {
	verdict := -1
	low, high := math.NaN(), math.NaN()
	if e != nil && (e.Verdict != "" || e.Why != "") {
		m := figure.MarkOf(e)
		verdict = indexOf(seen, &out.Verdicts, pageVerdict{string(e.Verdict), e.Why, m.Class, m.Sign})
		if !math.IsNaN(e.Low) && !math.IsInf(e.High, 0) {
			low, high = e.Low, e.High
		}
	}
	p.Verdict, p.Low, p.High = append(p.Verdict, verdict), append(p.Low, low), append(p.High, high)
}
