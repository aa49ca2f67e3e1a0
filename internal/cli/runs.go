package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/hint"
	"rumbench/internal/history"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// resultsDir is the folder that `run` makes campaigns in.
const resultsDir = "results"

func (a *App) listRunsCommand() *cobra.Command {
	var asJSON bool
	var plans []string
	c := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "the campaigns in a folder and below it, the oldest first",
		Example: `  rumbench list runs
  rumbench list runs /srv/bench --plan nightly
  rumbench list runs --json | jq 'select(.status != "complete")'`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error {
			runs, err := a.findRuns(dirs, plans)
			if err != nil {
				return err
			}
			if asJSON {
				return writeRuns(a.Stdout, runs)
			}
			return printRuns(a.Stdout, runs)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON per campaign")
	c.Flags().StringSliceVar(&plans, "plan", nil, "only campaigns of these plans, and those whose plan cannot be read")
	return c
}

// findRuns finds the campaigns of the plans in the one directory given, or in
// the folder that `run` makes them in.
func (a *App) findRuns(dirs, plans []string) ([]*history.Run, error) {
	dir := resultsDir
	if len(dirs) > 0 {
		dir = dirs[0]
	}
	runs, err := history.Find(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(err, "name a folder with campaigns; rumbench run makes them in "+resultsDir+" unless --out says otherwise")
	}
	if err != nil {
		return nil, err
	}
	for _, name := range plans {
		if !slices.ContainsFunc(runs, func(r *history.Run) bool { return r.Campaign != nil && r.Campaign.Name == name }) {
			return nil, usageError{fmt.Errorf("%s has no campaign of a plan %q", dir, name)}
		}
	}
	runs = slices.DeleteFunc(runs, func(r *history.Run) bool { return r.Campaign != nil && !among(plans, r.Campaign.Name) })
	if len(runs) == 0 {
		fmt.Fprintf(a.Stderr, "there is no campaign in %s\n", dir)
	}
	return runs, nil
}

// runLine is a run as a line of JSON.
type runLine struct {
	Dir           string           `json:"dir"`
	Plan          string           `json:"plan,omitempty"`
	Workload      string           `json:"workload,omitempty"`
	Started       *time.Time       `json:"started,omitempty"`
	Targets       []history.Target `json:"targets"`
	TrialsDone    int              `json:"trials_done"`
	TrialsPlanned int              `json:"trials_planned"`
	Status        result.Status    `json:"status"`
	Problems      []string         `json:"problems,omitempty"`
	CopyOf        string           `json:"copy_of,omitempty"`
}

func lineOf(r *history.Run) runLine {
	l := runLine{Dir: r.Dir, Targets: r.Targets(), TrialsDone: r.Done(), TrialsPlanned: r.Planned(), Status: r.Status(), Problems: r.Problems, CopyOf: r.CopyOf}
	if r.Campaign != nil {
		l.Plan, l.Started = r.Campaign.Name, &r.Campaign.Started
	}
	if len(r.Trials) > 0 {
		l.Workload = r.Trials[0].Workload
	}
	if l.Targets == nil {
		l.Targets = []history.Target{}
	}
	return l
}

func writeRuns(w io.Writer, runs []*history.Run) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range runs {
		if err := enc.Encode(lineOf(r)); err != nil {
			return err
		}
	}
	return nil
}

// printRuns writes a line per run, then what is wrong with some of them.
func printRuns(w io.Writer, runs []*history.Run) error {
	if len(runs) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "directory\tstarted (UTC)\tplan\tworkload\ttrials\tstatus\ttargets")
	for _, r := range runs {
		l := lineOf(r)
		started, trials := quantity.Unknown, quantity.Unknown
		if l.Started != nil {
			started, trials = day(*l.Started), fmt.Sprintf("%d of %d", l.TrialsDone, l.TrialsPlanned)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.Dir, started, cmp.Or(l.Plan, quantity.Unknown), cmp.Or(l.Workload, quantity.Unknown), trials, l.Status, cmp.Or(targetsText(l.Targets), quantity.Unknown))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range runs {
		for _, p := range r.Problems {
			fmt.Fprintf(w, "! %s: %s\n", r.Dir, p)
		}
		if r.CopyOf != "" {
			fmt.Fprintf(w, "! %s: a copy of %s\n", r.Dir, r.CopyOf)
		}
	}
	return nil
}

// targetsText names the targets with what they are: "innodb (mysql
// 10.11.6-MariaDB)". An engine of the target's own name is not repeated.
func targetsText(targets []history.Target) string {
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

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
