package metric

import (
	"encoding/json"
	"fmt"
	"io"
)

// Row is one number of a result, with everything that is needed to quote it.
type Row struct {
	Target string `json:"target"`
	Trial  int    `json:"trial"`
	Step   string `json:"step"`
	Group  string `json:"group,omitempty"` // "" for numbers of the whole step
	Op     string `json:"op,omitempty"`    // the operation kind; "" for numbers of the whole group or step
	Metric string `json:"metric"`          // see Metrics
	// Value is the number.
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Per is the denominator of a cost: "insert row", "query"; "" for numbers
	// that are not divided.
	Per string `json:"per,omitempty"`
	// N is how many things the number was made of: operations, intervals, or
	// the denominator's count.
	N int64 `json:"n,omitempty"`
	// Source tells where the number was read: "device vda", "process",
	// "client", "engine", "null engine".
	Source   string    `json:"source,omitempty"`
	Warnings []Warning `json:"warnings,omitempty"`
	// Disturbed: the number may hold what other programs did, as a warning says.
	// It is shown, and compared with nothing.
	Disturbed bool `json:"disturbed,omitempty"`
	// AtLeast: the number is a lower bound, as a warning says: the true one may be
	// greater.
	AtLeast bool `json:"at_least,omitempty"`
	// MaxOf is of how few samples a percentile was to be made of: the value is
	// then the greatest of them. It is not stored: see Step.Shown.
	MaxOf int64 `json:"max_of,omitempty"`
}

// Mark marks the row as its warnings say.
func (r *Row) Mark() {
	r.Disturbed = r.Disturbed || HasEffect(r.Warnings, Disturbs)
	r.AtLeast = r.AtLeast || HasEffect(r.Warnings, Bounds)
}

// WriteRows writes rows as JSON lines.
func WriteRows(w io.Writer, rows []Row) error {
	enc := json.NewEncoder(w)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
	}
	return nil
}
