package plan

import (
	"testing"
	"time"

	"rumbench/internal/expect"
)

// cool_down and between's rest are one thing.
func TestBetween(t *testing.T) {
	for line, want := range map[string]Between{
		"":                                  {},
		"cool_down: 10s":                    {Rest: 10 * time.Second},
		"between: {rest: 10s}":              {Rest: 10 * time.Second},
		"between: {trim: true, rest: 10s}":  {Trim: true, Rest: 10 * time.Second},
		"between: {trim: true}":             {Trim: true},
		"cool_down: 5\nbetween: {trim: on}": {},
	} {
		p, err := Load("p.yaml", []byte("workload: bank\ntargets: [sqlite]\n"+line+"\n"), nil, fakes())
		if want == (Between{}) && line != "" {
			expect.True(t, err != nil, "accepted", line)
			continue
		}
		expect.True(t, err == nil && p.Between == want, line, p, err)
	}
}
