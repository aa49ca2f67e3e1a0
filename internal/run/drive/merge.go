package drive

import (
	"encoding/json"
	"errors"
	"time"

	"rumbench/engine"
	"rumbench/internal/stat/hist"
)

// Merge returns the result of a step whose clients were in several processes, each with the whole step and
// its own part. No percentile is averaged: distributions are added up.
func Merge(parts []*Result, interval time.Duration) *Result {
	out := &Result{}
	for _, p := range parts {
		out.Window = max(out.Window, p.Window) // to the last operation anywhere
		if out.Ended == nil {
			out.Ended = p.Ended
		}
	}
	for g := range parts[0].Groups {
		var list []*hist.Group
		for _, p := range parts {
			list = append(list, &p.Groups[g])
		}
		out.Groups = append(out.Groups, hist.Merged(list, interval.Seconds()))
	}
	return out
}

// resultJSON is a result on its way to another process.
type resultJSON struct {
	Window time.Duration `json:"window"`
	Groups []hist.Group  `json:"groups"`
	Ended  string        `json:"ended,omitempty"`
	Class  engine.Class  `json:"class,omitempty"` // of Ended
}

// MarshalJSON encodes the result; of Ended it keeps the text and the class.
func (r *Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{Window: r.Window, Groups: r.Groups}
	if r.Ended != nil {
		out.Ended, out.Class = r.Ended.Error(), engine.ClassOf(r.Ended)
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON has encoded.
func (r *Result) UnmarshalJSON(b []byte) error {
	var in resultJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Result{Window: in.Window, Groups: in.Groups}
	if in.Ended != "" {
		r.Ended = engine.Classify(in.Class, errors.New(in.Ended))
	}
	return nil
}
