package explain

import "rumbench/internal/text/quantity"

// Record is a cause as a line of JSON, or a number as a whole (item “total”), or the part that
// no proven cause accounts for (“not explained”). Unknown numbers are left out. It has many
// fields, so that each line is complete by itself.
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
	Because  bool     `json:"because,omitempty"` // it is proven, and why the item differs is known
	Rule     Rule     `json:"rule,omitempty"`
	Sentence string   `json:"sentence"`
}

// Records returns all causes, in the order of the steps: in a step first its limits, then the
// sums by their differences.
func (e *Explanation) Records() (out []Record) {
	for _, s := range e.Steps {
		line := Record{Step: s.Of.Name, Base: e.Base.Name, New: e.New.Name}
		note := func(first bool) {
			for _, n := range s.Notes {
				if n.First() == first {
					r := line
					r.Rule, r.Sentence = n.Rule, n.Sentence
					out = append(out, r)
				}
			}
		}
		note(true)
		for _, sum := range s.Sums {
			record := func(c *Contribution, item Item) Record {
				r := line
				r.Metric, r.Per, r.Ledger, r.Item, r.Proven = sum.Metric, sum.Effect.New.Per, sum.Of, item, c.Proven()
				r.From, r.To, r.Log = quantity.Known(c.Base), quantity.Known(c.New), quantity.Known(c.Log)
				r.Low, r.High = quantity.Known(c.Low), quantity.Known(c.High)
				return r
			}
			out = append(out, record(&sum.Total, "total"))
			for i := range sum.Causes {
				c := &sum.Causes[i]
				r := record(&c.Contribution, c.Item)
				r.Share, r.ShareLow, r.ShareTop = quantity.Known(c.Share), quantity.Known(c.ShareLow), quantity.Known(c.ShareHigh)
				r.Because, r.Rule, r.Sentence = c.Proven() && c.Reason(), c.Rule, c.Text()
				out = append(out, r)
			}
			remaining := record(&sum.Rest, "not explained")
			remaining.Proven, remaining.From, remaining.To, remaining.Share = false, nil, nil,
				quantity.Known(sum.Rest.Log/sum.Total.Log)
			out = append(out, remaining)
		}
		for _, p := range s.Predicted {
			r := line
			r.Metric, r.Per, r.Item = p.Metric, p.Per, Item("model of "+p.Side.Target.Name)
			r.From, r.To, r.Sentence = quantity.Known(p.Predicted), quantity.Known(p.Measured), p.sentence()
			out = append(out, r)
		}
		note(false)
	}
	return out
}
