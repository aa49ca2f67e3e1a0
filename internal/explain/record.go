package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Record is a cause as a line of JSON. Unknown numbers are left out. It has many fields,
// so that a line stands by itself.
type Record struct {
	Step     string   `json:"step"`
	Base     string   `json:"base"`
	New      string   `json:"new"`
	Metric   string   `json:"metric"`
	Per      string   `json:"per,omitempty"`
	Ledger   Ledger   `json:"ledger,omitempty"`
	Item     Item     `json:"item"`
	From     *float64 `json:"from,omitempty"`
	To       *float64 `json:"to,omitempty"`
	Log      *float64 `json:"kappa,omitempty"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Share    *float64 `json:"share,omitempty"`
	Proven   bool     `json:"proven"`
	Evidence Evidence `json:"evidence,omitempty"`
	Rule     int      `json:"rule,omitempty"`
	Sentence string   `json:"sentence"`
}

// Records returns all causes, in the order of the steps: in a step what limits them
// first, then the sums by their differences.
func (e *Explanation) Records() (out []Record) {
	for _, s := range e.Steps {
		note := func(first bool) {
			for _, n := range s.Notes {
				if n.First() == first {
					out = append(out, Record{Step: s.Of.Name, Base: e.Base.Name, New: e.New.Name, Evidence: n.Rule.Evidence, Rule: n.Rule.Number, Sentence: n.Sentence})
				}
			}
		}
		note(true)
		for _, sum := range s.Sums {
			for _, c := range sum.Causes {
				out = append(out, Record{
					Step: s.Of.Name, Base: e.Base.Name, New: e.New.Name, Metric: sum.Metric, Per: sum.Effect.New.Per, Ledger: sum.Of, Item: c.Item,
					From: known(c.Base), To: known(c.New), Log: known(c.Log), Low: known(c.Low), High: known(c.High), Share: known(c.Share),
					Proven: c.Proven(), Evidence: c.Rule.Evidence, Rule: c.Rule.Number, Sentence: c.Sentence,
				})
			}
		}
		for _, p := range s.Predicted {
			out = append(out, Record{Step: s.Of.Name, Base: e.Base.Name, New: e.New.Name, Metric: p.Metric, Per: p.Per, Item: Item("model of " + p.Side.Target.Name),
				From: known(p.Predicted), To: known(p.Measured), Sentence: p.sentence()})
		}
		note(false)
	}
	return out
}

func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// WriteRecords writes records as lines of JSON.
func WriteRecords(w io.Writer, records []Record) error {
	enc := json.NewEncoder(w)
	for _, r := range records {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write causes: %w", err)
		}
	}
	return nil
}
