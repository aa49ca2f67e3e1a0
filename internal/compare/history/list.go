package history

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"rumbench/internal/compare"
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
	Durability    string        `json:"durability,omitempty"` // the levels, as "process or os"; "" if unknown
	Main          []Main        `json:"main,omitempty"`       // the main number of each target with a complete trial
	Problems      []string      `json:"problems,omitempty"`
	CopyOf        string        `json:"copy_of,omitempty"`
}

// Main is the main number of a target: that of the first step that the workload is about.
type Main struct {
	Name
	Value  float64 `json:"value"`
	Trials int     `json:"trials"`
}

// main returns the main number of each target.
func (r *Run) main() (out []Main) {
	own := *r
	own.CopyOf = "" // a copy has its own line
	var series []*Series
	for _, f := range Families([]*Run{&own}, Pick{}) {
		series = append(series, f.Series...)
	}
	slices.SortStableFunc(series, func(a, b *Series) int { return cmp.Compare(a.weight, b.weight) })
	for _, s := range series {
		if s.weight >= weightOfLatency || slices.ContainsFunc(out, func(m Main) bool { return m.Target == s.Target }) {
			continue
		}
		for _, p := range s.Points {
			out = append(out, Main{s.Name, p.Value, p.Trials})
		}
	}
	return out
}

// Line returns the run as a line.
func (r *Run) Line() Line {
	l := Line{Dir: r.Dir, Targets: r.Targets(), TrialsDone: r.Done(), TrialsPlanned: r.Planned(), Status: r.Status(),
		Problems: r.Problems, CopyOf: r.CopyOf}
	if r.Campaign != nil {
		l.Plan, l.Started = r.Campaign.Name, &r.Campaign.Started
	}
	var levels []string
	for _, t := range r.Trials {
		l.Workload = cmp.Or(l.Workload, t.Workload)
		if t.Durability != result.Unknown && t.Durability != "" {
			levels = compare.AppendNew(levels, t.Durability)
		}
	}
	l.Durability, l.Main = strings.Join(levels, " or "), r.main()
	return l
}

// RunsJSON writes a line of JSON for each run.
func RunsJSON(w io.Writer, runs []*Run) error {
	write := lines(w)
	for _, r := range runs {
		if err := write(r.Line()); err != nil {
			return err
		}
	}
	return nil
}

// lines returns a function that writes a value as a line of JSON.
func lines(w io.Writer) func(any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode
}

// JSON writes a line for each series, with all points and changes.
func JSON(w io.Writer, families []*Family) error {
	write := lines(w)
	for _, f := range families {
		for _, s := range f.Series {
			if err := write(struct {
				*Family
				*Series
				TooFew bool `json:"too_few,omitempty"` // too few points to distinguish a change from chance
			}{f, s, len(s.Points) < MinRuns}); err != nil {
				return err
			}
		}
	}
	return nil
}
