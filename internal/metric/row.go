package metric

import (
	"encoding/json"
	"io"
)

// Row is one number of a result. It has many fields: everything needed to quote it.
type Row struct {
	Target string  `json:"target"`
	Trial  int     `json:"trial"`
	Step   string  `json:"step"`
	Group  string  `json:"group,omitempty"` // "" for numbers of the whole step
	Op     string  `json:"op,omitempty"`    // the operation kind; "" for numbers of the whole group or step
	Metric string  `json:"metric"`          // see Metrics
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	// Per is the denominator of a cost: "insert row", "query"; "" for numbers
	// that are not divided.
	Per string `json:"per,omitempty"`
	// Labels are those of a number of a part of the step: the whole has a number of its own.
	Labels Labels `json:"labels,omitzero"`
	// N is the number of samples: operations, intervals, or the denominator's
	// count.
	N int64 `json:"n,omitempty"`
	// Source is where the number was read: "device vda", "process", "client",
	// "engine", "null engine".
	Source   string    `json:"source,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Disturbed: the number may include other programs' activity, according to
	// a warning. It is shown but not compared.
	Disturbed bool `json:"disturbed,omitempty"`
	// AtLeast: the number is a lower bound, according to a warning.
	AtLeast bool `json:"at_least,omitempty"`
	// MaxOf is the number of samples if a percentile had too few: the value is
	// then their maximum. It is not stored: see Step.Shown.
	MaxOf int64 `json:"max_of,omitempty"`
}

// Whole reports whether the number is of all that it is about, not of a part that labels name.
func (r *Row) Whole() bool { return r.Labels == Labels{} }

// Mark sets the row's flags from its warnings.
func (r *Row) Mark() {
	r.Disturbed = r.Disturbed || HasEffect(r.Warnings, Disturbs)
	r.AtLeast = r.AtLeast || HasEffect(r.Warnings, Bounds)
}

// WriteLines writes rows, or other values, as lines of JSON.
func WriteLines[T any](w io.Writer, rows []T) error {
	enc := json.NewEncoder(w)
	for i := range rows {
		if err := enc.Encode(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}
