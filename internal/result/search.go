package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
)

// Search is the answer of a search for the highest rate of arrivals that keeps
// a promise about response times.
type Search struct {
	Promise string  `json:"promise"`               // "p99_ms < 20"
	Kept    float64 `json:"kept_per_s,omitempty"`  // the highest rate that kept it, in operations a second; 0: none did
	Took    float64 `json:"took_ms,omitempty"`     // the promised percentile at that rate
	Broke   float64 `json:"broke_per_s,omitempty"` // the lowest rate above it that broke it; 0: none did
	Why     string  `json:"why,omitempty"`         // how: "p99 313 ms"
	Capped  bool    `json:"capped,omitempty"`      // the plan limited the rate
	// Low and High are the interval in which the highest rate that keeps the
	// promise lies: the nearest rates tried below and above. 0: it is open on
	// that side.
	Low  float64 `json:"low_per_s,omitempty"`
	High float64 `json:"high_per_s,omitempty"`
	// Probes is how many were made, and Disturbed how many of them do not count,
	// as other programs disturbed them.
	Probes    int `json:"probes,omitempty"`
	Disturbed int `json:"disturbed,omitempty"`
	// Closed is the rate of the closed loop.
	Closed float64 `json:"closed_per_s,omitempty"`
	// Held is the rate at which the promise was kept for HeldSeconds at the end; 0: none was, or the plan
	// did not ask for it.
	Held        float64 `json:"held_per_s,omitempty"`
	HeldSeconds float64 `json:"held_s,omitempty"`
	// Grown is by what share of the bytes written the work that the engine puts off grew at most in the probes
	// that the answer rests on; nil if it was not limited, or is unknown.
	Grown *float64 `json:"grown,omitempty"`
	// How the rate was searched for.
	How SearchPlan `json:"how"`
}

// SearchPlan is how a rate is searched for.
type SearchPlan struct {
	Precision float64 `json:"precision"`            // of the answer, as a share: 0.05 is 5 %
	From      float64 `json:"from_per_s,omitempty"` // the lowest rate to try; 0: not limited
	To        float64 `json:"to_per_s,omitempty"`   // the highest; 0: not limited
	Seconds   float64 `json:"seconds"`              // of a probe
	Arrivals  string  `json:"arrivals"`             // as in Group.Pace
	Queue     int64   `json:"queue,omitempty"`      // as in Group
	LeadIn    float64 `json:"lead_in_s,omitempty"`  // as in Group
	// Credit is by what share of the bytes written put-off work might grow in a probe, 1: by any; Hold how
	// many seconds the answer was to be held.
	Credit float64 `json:"credit,omitempty"`
	Hold   float64 `json:"hold_s,omitempty"`
}

// anyCredit is the share of older searches, which did not look at it.
const anyCredit = 1

func (p *SearchPlan) credit() float64 {
	if p.Credit == 0 {
		return anyCredit
	}
	return p.Credit
}

// Interval returns the rates between which the highest rate that keeps the
// promise lies. Low is 0 if no rate kept it, and high infinite if it may be any
// above.
func (s *Search) Interval() (low, high float64) {
	if s.High > 0 {
		return s.Low, s.High
	}
	return s.Low, math.Inf(1)
}

// Differs returns how the questions of two searches differ; "" if they do not.
func (s *Search) Differs(o *Search) string {
	switch a, b := s.How, o.How; {
	case s.Promise != o.Promise:
		return fmt.Sprintf("find %s and %s", s.Words(), o.Words())
	case a.Seconds != b.Seconds:
		return fmt.Sprintf("find with probes of %.10g s and %.10g s", a.Seconds, b.Seconds)
	case a.Arrivals != b.Arrivals:
		return fmt.Sprintf("find with arrivals %s and %s", a.Arrivals, b.Arrivals)
	case a.Queue != b.Queue:
		return fmt.Sprintf("find with a queue of %d and %d (0: of any length)", a.Queue, b.Queue)
	case a.LeadIn != b.LeadIn:
		return fmt.Sprintf("find with a lead-in of %.10g s and %.10g s", a.LeadIn, b.LeadIn)
	case a.credit() != b.credit() || (a.Hold > 0) != (b.Hold > 0):
		return fmt.Sprintf("find on a credit of up to %.3g and %.3g, held for %.10g s and %.10g s (0: not)", a.credit(),
			b.credit(), a.Hold, b.Hold)
	case a.From != b.From:
		return fmt.Sprintf("find from %.10g/s and from %.10g/s (0: not limited)", a.From, b.From)
	case a.To != b.To:
		return fmt.Sprintf("find to %.10g/s and to %.10g/s (0: not limited)", a.To, b.To)
	}
	return ""
}

// Question returns in words the subject of the search: two searches with the
// same question do not differ.
func (s *Search) Question() string {
	h := s.How
	text := fmt.Sprintf("%s with probes of %.10g s, arrivals %s, a queue of %d, from %.10g/s to %.10g/s (0: not limited)",
		s.Words(), h.Seconds, h.Arrivals, h.Queue, h.From, h.To)
	if h.LeadIn > 0 {
		text += fmt.Sprintf(", a lead-in of %.10g s", h.LeadIn)
	}
	if h.credit() < anyCredit || h.Hold > 0 {
		text += fmt.Sprintf(", a credit of %.3g, held: %v", h.credit(), h.Hold > 0)
	}
	return text
}

// Limit returns the promised response time in milliseconds; NaN if it cannot be
// read.
func (s *Search) Limit() float64 {
	_, limit, _ := strings.Cut(s.Promise, "_ms < ")
	ms, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return math.NaN()
	}
	return ms
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

// String returns the answer in a line that can be quoted.
func (s *Search) String() string {
	text := "highest rate with " + s.Words() + ": " + s.Rate()
	if s.Kept == 0 {
		text = fmt.Sprintf("no rate that was tried kept %s in most of its probes (lowest %s/s: %s)", s.Words(),
			quantity.Amount(s.Broke), s.Why)
	}
	switch {
	case s.Kept > 0 && s.Held == 0 && s.How.Hold > 0:
		text += ", not held"
	case s.Held > 0:
		text += fmt.Sprintf(", held at %s/s for %.10g s", quantity.Amount(s.Held), s.HeldSeconds)
	}
	switch {
	case s.Grown == nil:
	case *s.Grown <= 0:
		text += ", not on credit"
	default:
		text += fmt.Sprintf(", not on credit (put-off work grew by %.2g %% of what was written)", 100**s.Grown)
	}
	return text + fmt.Sprintf(", %s; closed loop %s/s", quantity.Count(s.Probes, "probe"), quantity.Amount(s.Closed))
}

// Rate returns the answer with its interval: "691/s (691 to 725)".
func (s *Search) Rate() string {
	low, high := s.Interval()
	switch {
	case math.IsInf(high, 1):
		return "at least " + quantity.Amount(s.Kept) + "/s"
	case low == 0:
		return fmt.Sprintf("%s/s (at most %s)", quantity.Amount(s.Kept), quantity.Amount(high))
	}
	return fmt.Sprintf("%s/s (%s to %s)", quantity.Amount(s.Kept), quantity.Amount(low), quantity.Amount(high))
}
