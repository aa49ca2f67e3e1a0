package history

import (
	"encoding/json"
	"io"
	"time"

	"rumbench/internal/result"
)

// Line is a run as a line of JSON and of text.
type Line struct {
	Dir           string        `json:"dir"`
	Plan          string        `json:"plan,omitempty"`
	Workload      string        `json:"workload,omitempty"`
	Started       *time.Time    `json:"started,omitempty"`
	Targets       []Target      `json:"targets"`
	TrialsDone    int           `json:"trials_done"`
	TrialsPlanned int           `json:"trials_planned"`
	Status        result.Status `json:"status"`
	Problems      []string      `json:"problems,omitempty"`
	CopyOf        string        `json:"copy_of,omitempty"`
}

// Line returns the run as a line.
func (r *Run) Line() Line {
	l := Line{Dir: r.Dir, Targets: r.Targets(), TrialsDone: r.Done(), TrialsPlanned: r.Planned(), Status: r.Status(),
		Problems: r.Problems, CopyOf: r.CopyOf}
	if r.Campaign != nil {
		l.Plan, l.Started = r.Campaign.Name, &r.Campaign.Started
	}
	if len(r.Trials) > 0 {
		l.Workload = r.Trials[0].Workload
	}
	return l
}

// RunsJSON writes a line of JSON for each run.
func RunsJSON(w io.Writer, runs []*Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range runs {
		if err := enc.Encode(r.Line()); err != nil {
			return err
		}
	}
	return nil
}

// JSON writes a line for each series, with all points and changes.
func JSON(w io.Writer, families []*Family) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, f := range families {
		for _, s := range f.Series {
			line := struct {
				*Family
				*Series
				TooFew bool `json:"too_few,omitempty"` // too few points to distinguish a change from chance
			}{f, s, len(s.Points) < MinRuns}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}
