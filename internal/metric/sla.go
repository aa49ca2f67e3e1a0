package metric

import "math"

// SLA reports whether a promised rate was held.
type SLA struct {
	Target      float64 `json:"target"`       // units a second
	Achieved    float64 `json:"achieved"`     // average over the group's own time
	Intervals   int     `json:"intervals"`    // how many intervals of the window were judged; 0: it was too short
	Share       float64 `json:"share"`        // share of the intervals that reached 95 % of the target
	Worst       float64 `json:"worst"`        // units a second in the worst interval
	Backlog     float64 `json:"backlog"`      // units that were due by the planned end but not done by then; NaN: unknown
	MaxLateness float64 `json:"max_lateness"` // seconds
	Met         bool    `json:"met"`          // the average reached 95 % of the target, rounded
	Saturated   bool    `json:"saturated"`    // lateness kept growing
}

// SLAOf returns how a group of clients held its promise, by the rows of a step; nil if it promised nothing,
// or nothing was judged: a log that prints only the rate it was asked for tells no rate that was achieved.
func SLAOf(rows []Row, group string) *SLA {
	s, judged := &SLA{Backlog: math.NaN()}, false
	for i := range rows {
		r := &rows[i]
		if r.Group != group || r.Op != "" {
			continue
		}
		switch r.Metric {
		case SLATarget:
			s.Target = r.Value
		case SLAAchieved:
			s.Achieved, judged = r.Value, true
		case SLAShare:
			s.Share, s.Intervals = r.Value, int(r.N)
		case SLAWorst:
			s.Worst = r.Value
		case SLABacklog:
			s.Backlog = r.Value
		case SLALatenessS:
			s.MaxLateness = r.Value
		case SLAMet:
			s.Met = r.Value != 0
		case SaturatedFlag:
			s.Saturated = r.Value != 0
		}
	}
	if !judged {
		return nil
	}
	return s
}
