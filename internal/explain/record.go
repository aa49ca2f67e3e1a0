package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Record is a cause as a line of JSON, or a number as a whole (item “total”), or what no
// proven cause accounts for (“not explained”). Unknown numbers are left out. It has many fields,
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
	ShareLow *float64 `json:"share_low,omitempty"`
	ShareTop *float64 `json:"share_high,omitempty"`
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
			record := func(c *Contribution, item Item) Record {
				return Record{Step: s.Of.Name, Base: e.Base.Name, New: e.New.Name, Metric: sum.Metric, Per: sum.Effect.New.Per, Ledger: sum.Of, Item: item,
					From: known(c.Base), To: known(c.New), Log: known(c.Log), Low: known(c.Low), High: known(c.High), Proven: c.Proven()}
			}
			out = append(out, record(&sum.Total, "total"))
			for i := range sum.Causes {
				c := &sum.Causes[i]
				r := record(&c.Contribution, c.Item)
				r.Share, r.ShareLow, r.ShareTop = known(c.Share), known(c.ShareLow), known(c.ShareHigh)
				r.Evidence, r.Rule, r.Sentence = c.Rule.Evidence, c.Rule.Number, c.Sentence
				out = append(out, r)
			}
			rest := record(&sum.Rest, "not explained")
			rest.Proven, rest.From, rest.To, rest.Share = false, nil, nil, known(sum.Rest.Log/sum.Total.Log)
			out = append(out, rest)
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
