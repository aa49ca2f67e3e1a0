package cli

import (
	"fmt"
	"io"
	"strings"

	"rumbench/internal/result"
)

// showPlans prints the plans of statements.
func showPlans(w io.Writer, trials []*result.Trial, steps, targets []string) error {
	shown := 0
	for _, t := range trials {
		if !among(targets, t.Target) {
			continue
		}
		plans, err := result.ReadPlans(t.Dir)
		if err != nil {
			return err
		}
		for _, p := range plans {
			if among(steps, p.Step) {
				printPlan(w, t, p)
				shown++
			}
		}
	}
	if shown == 0 {
		fmt.Fprintln(w, "no plans: the engines have none, or the results are older than plans")
	}
	return nil
}

func printPlan(w io.Writer, t *result.Trial, p result.StatementPlan) {
	fmt.Fprintf(w, "%s.%d, %s, %s of the step: %s: %s\n", t.Target, t.Trial, p.Step, p.When, p.Op, p.Plan.Ways())
	if p.Wanted != "" {
		fmt.Fprintf(w, "  wanted: %s\n", p.Wanted)
	}
	fmt.Fprintf(w, "  %s\n", p.Plan.Statement)
	for line := range strings.Lines(p.Plan.Text) {
		fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
	}
}
