package report

import (
	"encoding/json"
	"html/template"
	"math"
	"slices"

	"rumbench/internal/compare"
)

// embeddedJudgements are what the page's script needs to mark numbers: in full
// against the first target, and the numbers of the scorecard against every
// other, so that a reader can take another target for the base.
type embeddedJudgements struct {
	About    string          `json:"about"`
	Verdicts []pageVerdict   `json:"verdicts"`
	From     []int           `json:"from"`  // by target: its first number
	Score    [][]int         `json:"score"` // by target: its numbers in the scorecard and the like
	Pairs    []judgementPair `json:"pairs"`
}

const aboutJudgements = "Of target “of” against “base”, by index of targets: verdict[i], an index of verdicts or -1 for none, is of number from[of] + i if base is 0, else of number score[of][i]; low and high are the bounds of the ratio's 95 % interval."

// pageVerdict is a verdict in all its forms.
type pageVerdict struct {
	Word  string `json:"word"`
	Why   string `json:"why,omitempty"`
	Class string `json:"class,omitempty"`
	Sign  string `json:"sign,omitempty"`
}

// judgementPair are the effects of a target against a base.
type judgementPair struct {
	Base    int   `json:"base"`
	Of      int   `json:"of"`
	Verdict []int `json:"verdict"`
	Low     lines `json:"low,omitempty"` // against the first target only
	High    lines `json:"high,omitempty"`
}

// judgementsJSON judges all pairs of targets. Each target's numbers are counted
// from a place on, as the embedder has it.
func (c *campaign) judgementsJSON(e *embedder, from []int) (template.JS, error) {
	out := embeddedJudgements{About: aboutJudgements, Verdicts: []pageVerdict{}, From: from, Pairs: []judgementPair{}}
	shown := map[*step][]key{}
	for _, s := range c.steps {
		shown[s] = s.scoreKeys()
	}
	keys := make([][]keyOfStep, len(c.Targets))
	for i, t := range c.Targets {
		keys[i] = c.keysOf(e, from[i], t)
		out.Score = append(out.Score, []int{})
		for k, at := range keys[i] {
			first := k == 0 || !slices.Contains(keys[i][:k], at)
			if first && slices.Contains(shown[at.step], at.key) {
				out.Score[i] = append(out.Score[i], k+from[i])
			}
		}
	}
	seen := map[pageVerdict]int{}
	for _, base := range c.Targets {
		for i, t := range c.Targets {
			if t == base {
				continue
			}
			p := judgementPair{Base: base.Index, Of: i}
			if base.Index == 0 {
				for _, at := range keys[i] {
					p.add(c.judged(base, t).Effect(at.step.Step, at.key), &out, seen)
				}
			} else {
				for _, number := range out.Score[i] {
					at := keys[i][number-from[i]]
					p.add(c.judged(base, t).Effect(at.step.Step, at.key), &out, seen)
				}
				p.Low, p.High = nil, nil
			}
			out.Pairs = append(out.Pairs, p)
		}
	}
	b, err := json.Marshal(out)
	return template.JS(b), err
}

type keyOfStep struct {
	step *step
	key  key
}

// keysOf are the keys of a target's numbers.
func (c *campaign) keysOf(e *embedder, from int, t *target) []keyOfStep {
	var out []keyOfStep
	for _, s := range c.steps {
		if len(s.Runs[t]) > 0 {
			for _, k := range e.keysAt(from + len(out)) {
				out = append(out, keyOfStep{s, k})
			}
		}
	}
	return out
}

// keysAt are the keys of the run whose numbers begin there.
func (e *embedder) keysAt(number int) []key {
	for _, r := range e.out.Runs {
		shape := e.out.Shapes[r.Shape]
		if number == 0 {
			keys := make([]key, len(shape))
			for i, kind := range shape {
				k := e.out.Kinds[kind]
				keys[i] = key{Group: k.Group, Op: k.Op, Metric: k.Metric, Per: k.Per}
			}
			return keys
		}
		number -= len(shape)
	}
	return nil
}

// scoreKeys are the keys of the tables in which the base can be chosen.
func (s *step) scoreKeys() []key {
	keys := s.Keys("rows_per_s")
	for _, l := range layers() {
		for _, m := range l.measures {
			if k, ok := m.key(s); ok {
				keys = appendOnce(keys, k)
			}
		}
	}
	for _, m := range spaceMeasures() {
		if k, ok := m.key(s); ok {
			keys = appendOnce(keys, k)
		}
	}
	return keys
}

func (p *judgementPair) add(e *compare.Effect, out *embeddedJudgements, seen map[pageVerdict]int) {
	verdict := -1
	var low, high *float64
	if e != nil && (e.Verdict != "" || e.Why != "") {
		m := markOf(e)
		verdict = indexOf(seen, &out.Verdicts, pageVerdict{string(e.Verdict), e.Why, m.class, m.sign})
		if !math.IsNaN(e.Low) && !math.IsInf(e.High, 0) {
			low, high = known(e.Low), known(e.High)
		}
	}
	p.Verdict, p.Low, p.High = append(p.Verdict, verdict), append(p.Low, low), append(p.High, high)
}
