package result

import (
	"fmt"
	"strings"
)

// Search is the answer of a search for the highest rate of arrivals at which a
// promise about response times is kept.
type Search struct {
	Promise string  `json:"promise"`               // "p99_ms < 20"
	Kept    float64 `json:"kept_per_s,omitempty"`  // the highest rate that kept it, in operations a second; 0: none did
	Took    float64 `json:"took_ms,omitempty"`     // what was promised to be below the limit, at that rate
	Broke   float64 `json:"broke_per_s,omitempty"` // the lowest rate above it that broke it; 0: none did
	Why     string  `json:"why,omitempty"`         // how: "p99 313 ms"
	Capped  bool    `json:"capped,omitempty"`      // the plan told how high to go
}

// Words is the promise as people write it: "p99 < 20 ms".
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

// String is the answer in a few words.
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
