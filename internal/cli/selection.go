package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// selection holds the values of --step, --metric and --target; an empty one chooses
// all.
type selection struct{ steps, metrics, targets []string }

// check refuses unknown metrics, and steps and targets that no trial has.
func (s *selection) check(trials []*result.Trial) error {
	if err := resolveMetrics(&s.metrics); err != nil {
		return usage(err)
	}
	var steps, targets []string
	for _, t := range trials {
		targets = compare.AppendNew(targets, t.Target)
		for i := range t.Steps {
			steps = compare.AppendNew(steps, t.Steps[i].Name)
		}
	}
	return cmp.Or(checkNames("no trial has a step", s.steps, steps),
		checkNames("there is no target", s.targets, targets))
}

func checkNames(refusal string, asked, names []string) error {
	for _, name := range asked {
		if !slices.Contains(names, name) {
			return usage(hint.Errorf(hint.OneOf(name, names), "%s %q", refusal, name))
		}
	}
	return nil
}

func (s *selection) has(r *metric.Row) bool {
	return includes(s.steps, r.Step) && includes(s.metrics, r.Metric) && includes(s.targets, r.Target)
}

func includes(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

func resolveMetrics(names *[]string) (err error) {
	*names, err = metric.AllNamed(*names)
	return err
}

// targetNamed returns the target with a name, or the only one whose name contains
// it.
func targetNamed(c *compare.Campaign, name string) (*compare.Target, error) {
	if t := c.Target(name); t != nil {
		return t, nil
	}
	names := quantity.Texts(c.Targets, func(t *compare.Target) string { return t.Name })
	fitting := slices.DeleteFunc(slices.Clone(names),
		func(target string) bool { return name == "" || !strings.Contains(target, name) })
	switch len(fitting) {
	case 0:
		return nil, usageErrorf("there is no target %q; there are %s", name, strings.Join(names, ", "))
	case 1:
		return c.Target(fitting[0]), nil
	}
	return nil, usageErrorf("%q may be any of the targets %s", name, strings.Join(fitting, ", "))
}

// checkDistinct refuses a directory that is named twice: its trials would count twice.
func checkDistinct(dirs []string) error {
	var seen []os.FileInfo
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // reading it returns the error
		}
		if slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			return usageErrorf("%s is named twice", dir)
		}
		seen = append(seen, info)
	}
	return nil
}

// readCampaign reads the trials of the campaign that a directory holds.
func readCampaign(dir string) ([]*result.Trial, error) {
	c, err := result.ReadCampaign(dir)
	if err != nil {
		return nil, err
	}
	trials, err := result.ReadTrials(dir, c)
	if err == nil && len(trials) == 0 {
		err = fmt.Errorf("%s: no trial has been begun", dir)
		if at := positionOf(dir, c); at != "" {
			err = hint.With(err, "the campaign is running: try again later")
		}
	}
	return trials, err
}

// readTrials reads a campaign's trials, or the one in a trial directory.
func readTrials(dir string) ([]*result.Trial, error) {
	if t, err := result.ReadTrial(dir); err == nil {
		if t.Profiled == result.ProfileExtra {
			return nil, hint.Errorf("rumbench profile "+dir+" shows its profile",
				"%s was run for its profile alone: its numbers are not shown or compared", dir)
		}
		return []*result.Trial{t}, nil
	}
	return readCampaign(dir)
}
