package result

import (
	"fmt"
	"math"
	"strings"
)

// Search is the answer of a search for the highest rate of arrivals at which a
// promise about response times is kept.
type Search struct {
	Promise string  `json:"promise"`               // "p99_ms < 20"
	Kept    float64 `json:"kept_per_s,omitempty"`  // the highest rate that kept it, in operations a second; 0: none did
	Took    float64 `json:"took_ms,omitempty"`     // the promised percentile at that rate
	Broke   float64 `json:"broke_per_s,omitempty"` // the lowest rate above it that broke it; 0: none did
	Why     string  `json:"why,omitempty"`         // how: "p99 313 ms"
	Capped  bool    `json:"capped,omitempty"`      // the plan limited the rate
	// How the rate was searched for; nil in results of older builds.
	How *SearchPlan `json:"how,omitempty"`
}

// SearchPlan is how a rate is searched for.
type SearchPlan struct {
	Precision float64 `json:"precision"`            // of the answer, as a share: 0.05 is 5 %
	From      float64 `json:"from_per_s,omitempty"` // the lowest rate to try; 0: not limited
	To        float64 `json:"to_per_s,omitempty"`   // the highest; 0: not limited
	Seconds   float64 `json:"seconds"`              // of a probe
	Arrivals  string  `json:"arrivals"`             // as in Group.Pace
	Queue     int64   `json:"queue,omitempty"`      // as in Group
}

// Gap returns how much higher than the rate found the highest one that keeps
// the promise may be, as a share. It is infinite if no rate broke the promise
// and the plan did not limit the rate.
func (s *Search) Gap() float64 {
	const usual = 0.05 // for results that do not record how they were found
	switch {
	case s.Kept > 0 && s.Broke > s.Kept:
		return s.Broke/s.Kept - 1
	case s.Broke == 0 && s.Capped:
		return math.Inf(1)
	case s.How != nil:
		return s.How.Precision
	}
	return usual
}

// Differs returns how the questions of two searches differ; "" if they do not,
// or were not recorded.
func (s *Search) Differs(o *Search) string {
	switch a, b := s.How, o.How; {
	case s.Promise != o.Promise:
		return fmt.Sprintf("find %s and %s", s.Words(), o.Words())
	case a == nil || b == nil:
	case a.Seconds != b.Seconds:
		return fmt.Sprintf("find with probes of %.10g s and %.10g s", a.Seconds, b.Seconds)
	case a.Arrivals != b.Arrivals:
		return fmt.Sprintf("find with arrivals %s and %s", a.Arrivals, b.Arrivals)
	case a.Queue != b.Queue:
		return fmt.Sprintf("find with a queue of %d and %d (0: of any length)", a.Queue, b.Queue)
	case a.From != b.From:
		return fmt.Sprintf("find from %.10g/s and from %.10g/s (0: not limited)", a.From, b.From)
	case a.To != b.To:
		return fmt.Sprintf("find to %.10g/s and to %.10g/s (0: not limited)", a.To, b.To)
	}
	return ""
}

// Question returns in words what was searched for: two searches with the same
// question do not differ.
func (s *Search) Question() string {
	if s.How == nil {
		return s.Words()
	}
	h := s.How
	return fmt.Sprintf("%s with probes of %.10g s, arrivals %s, a queue of %d, from %.10g/s to %.10g/s (0: not limited)",
		s.Words(), h.Seconds, h.Arrivals, h.Queue, h.From, h.To)
}

// Words returns the promise in readable form: "p99 < 20 ms".
func (s *Search) Words() string {
	measure, limit, _ := strings.Cut(s.Promise, "_ms < ")
	return measure + " < " + limit + " ms"
}

// Millis writes milliseconds with three digits.
func Millis(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.3g ms", ms)
}

// String returns the answer in a few words.
func (s *Search) String() string {
	measure, _, _ := strings.Cut(s.Promise, "_")
	switch {
	case s.Kept == 0:
		return fmt.Sprintf("%s: no rate that was tried kept it (lowest %.10g/s: %s)", s.Words(), s.Broke, s.Why)
	case s.Broke == 0:
		return fmt.Sprintf("%s kept at the highest rate tried, %.10g/s (%s %s)", s.Words(), s.Kept, measure, Millis(s.Took))
	}
	return fmt.Sprintf("%s holds up to %.10g/s; broken at %.10g/s (%s)", s.Words(), s.Kept, s.Broke, s.Why)
}
