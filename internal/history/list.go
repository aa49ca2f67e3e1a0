package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// runLine is a run as a line of JSON.
type runLine struct {
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

func lineOf(r *Run) runLine {
	l := runLine{Dir: r.Dir, Targets: r.Targets(), TrialsDone: r.Done(), TrialsPlanned: r.Planned(), Status: r.Status(), Problems: r.Problems, CopyOf: r.CopyOf}
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
		if err := enc.Encode(lineOf(r)); err != nil {
			return err
		}
	}
	return nil
}

// RunsText writes a line for each run, then what is wrong with some of them.
func RunsText(w io.Writer, runs []*Run) error {
	var rows [][]string
	var remarks []string
	for _, r := range runs {
		l := lineOf(r)
		started, trials := quantity.Unknown, quantity.Unknown
		if l.Started != nil {
			started, trials = minute(*l.Started), fmt.Sprintf("%d of %d", l.TrialsDone, l.TrialsPlanned)
		}
		row := []string{l.Dir, started, l.Plan, l.Workload, trials, string(l.Status), targetsText(l.Targets)}
		for i, text := range row {
			row[i] = cmp.Or(text, quantity.Unknown)
		}
		rows = append(rows, row)
		for _, text := range r.Remarks() {
			remarks = append(remarks, fmt.Sprintf("! %s: %s", r.Dir, text))
		}
	}
	t := page.WordTable([]string{"directory", "started (UTC)", "plan", "workload", "trials", "status", "targets"}, rows...)
	t.Groups[0].Foot = remarks
	return page.Text(w, []page.Block{t}, page.TextStyle{})
}

// targetsText names the targets with what they are: "innodb (mysql
// 10.11.6-MariaDB)". An engine of the target's own name is not repeated.
func targetsText(targets []Target) string {
	var out []string
	for _, t := range targets {
		what := t.Version
		if t.Engine != t.Name {
			what = strings.TrimSpace(t.Engine + " " + t.Version)
		}
		if what != "" {
			what = " (" + what + ")"
		}
		out = append(out, t.Name+what)
	}
	return strings.Join(out, ", ")
}
