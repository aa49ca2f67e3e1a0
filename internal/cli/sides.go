package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"rumbench/internal/compare"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// acrossFlags are the flags that allow comparing unlike targets.
func acrossFlags(f *pflag.FlagSet, a *compare.Across) {
	f.BoolVar(&a.Work, "anyway", false,
		"compare although the workload, its parameters or what was offered to the clients differ")
	f.BoolVar(&a.Durability, "across-durability", false,
		"compare although the levels of durability differ; the first line then says so")
}

type pair struct{ base, other *compare.Target }

// side holds the trials of one argument, or of the arguments on one side of --.
type side struct {
	label   string // the first directory
	trials  []*result.Trial
	own     []string // names of the targets in their own campaign
	targets []string // the same targets' names in the combined campaign
}

// comparePairs reads the results and determines which targets to compare, in which steps.
func comparePairs(args []string, dash int, base string, allowed compare.Across, steps []string) ([]pair,
	*compare.Campaign, error) {
	groups := separateSides(args)
	if dash > 0 {
		groups = [][]string{args[:dash], args[dash:]}
	}
	sides, c, err := readSides(groups)
	if err != nil {
		return nil, nil, err
	}
	c.Across = allowed
	if err := checkNames("no trial has a step", steps, stepNames(c)); err != nil {
		return nil, nil, err
	}
	if len(sides) == 1 {
		pairs, err := targetPairs(c, sides[0], base)
		return pairs, c, err
	}
	if base != "" {
		return nil, nil, usageErrorf("--base chooses among the targets of one campaign; of several write DIR:TARGET")
	}
	var pairs []pair
	for _, s := range sides[1:] {
		extra, err := sidePairs(c, sides[0], s)
		if err != nil {
			return nil, nil, err
		}
		pairs = append(pairs, extra...)
	}
	return pairs, c, nil
}

func separateSides(args []string) (groups [][]string) {
	for _, arg := range args {
		groups = append(groups, []string{arg})
	}
	return groups
}

// readSides reads the sides into one campaign.
func readSides(groups [][]string) (sides []side, c *compare.Campaign, err error) {
	if err := checkDistinct(slices.Concat(groups...)); err != nil {
		return nil, nil, err
	}
	for _, args := range groups {
		s, err := readSide(args)
		if err != nil {
			return nil, nil, err
		}
		sides = append(sides, s)
	}
	trials, err := combine(sides)
	if err != nil {
		return nil, nil, err
	}
	return sides, compare.New(trials), nil
}

// combine returns the trials of all sides. Targets with the same name on two of them are also named by the
// directory.
func combine(sides []side) (all []*result.Trial, err error) {
	count := map[string]int{} // of the sides that have a target with this name
	for i := range sides {
		s := &sides[i]
		all = append(all, s.trials...)
		for _, t := range s.trials {
			if !slices.Contains(s.own, t.Target) {
				s.own = append(s.own, t.Target)
				count[t.Target]++
			}
		}
	}
	if err := checkCopies(all); err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for i := range sides {
		s := &sides[i]
		names := map[string]string{}
		for _, own := range s.own {
			name := own
			if count[own] > 1 {
				name = filepath.Base(s.label) + "/" + own
			}
			if taken[name] {
				name = s.label + "/" + own
			}
			for taken[name] {
				name += "'"
			}
			names[own], taken[name] = name, true
			s.targets = append(s.targets, name)
		}
		for _, t := range s.trials {
			t.Rename(names[t.Target])
		}
	}
	return all, nil
}

// checkCopies refuses a trial that is named twice, as itself or as a copy: it would
// count twice, or be compared with itself.
func checkCopies(trials []*result.Trial) error {
	dirs, starts := map[string]bool{}, map[string]string{}
	for _, t := range trials {
		if dirs[t.Dir] {
			return usageErrorf("%s is named twice", t.Dir)
		}
		dirs[t.Dir] = true
		if t.Started.IsZero() {
			continue // imported: its start is unknown
		}
		id := fmt.Sprintf("%s.%d at %v", t.Target, t.Trial, t.Started.UTC())
		if name := starts[id]; name != "" {
			return usageErrorf("%s is a copy of %s", t.Dir, name)
		}
		starts[id] = t.Dir
	}
	return nil
}

// readSide reads the trials of campaigns, of trials, or of single targets.
func readSide(args []string) (s side, err error) {
	for _, arg := range args {
		dir, target := splitTarget(arg)
		s.label = cmp.Or(s.label, filepath.Clean(dir))
		trials, err := readTrials(dir)
		if err != nil {
			return s, err
		}
		n := len(s.trials)
		var names []string
		for _, t := range trials {
			names = compare.AppendNew(names, t.Target)
			if target == "" || t.Target == target {
				s.trials = append(s.trials, t)
			}
		}
		if len(s.trials) == n {
			return s, usage(hint.Errorf(hint.OneOf(target, names), "%s has no trials of a target %q", dir, target))
		}
	}
	return s, nil
}

// targetPairs compares the targets of one campaign with the base.
func targetPairs(c *compare.Campaign, s side, base string) ([]pair, error) {
	b, err := targetNamed(c, cmp.Or(base, s.targets[0]))
	if err != nil {
		return nil, err
	}
	var out []pair
	for _, t := range c.Targets {
		if t != b {
			out = append(out, pair{b, t})
		}
	}
	unfinished := func(t *result.Trial) bool { return t.Status == result.Running }
	switch {
	case len(out) == 0 && slices.ContainsFunc(b.Trials, unfinished):
		return nil, usage(hint.Errorf("the campaign is running: try again later", "%s has trials of one target only",
			s.label))
	case len(out) == 0:
		return nil, usageErrorf("%s has one target only: name a second directory to compare it with", s.label)
	}
	return out, nil
}

// sidePairs compares the targets of two sides that have the same name; if each has
// only one target, it compares those two.
func sidePairs(c *compare.Campaign, base, otherSide side) ([]pair, error) {
	if len(base.targets) == 1 && len(otherSide.targets) == 1 {
		return []pair{{c.Target(base.targets[0]), c.Target(otherSide.targets[0])}}, nil
	}
	var out []pair
	for i, own := range otherSide.own {
		if k := slices.Index(base.own, own); k >= 0 {
			out = append(out, pair{c.Target(base.targets[k]), c.Target(otherSide.targets[i])})
		}
	}
	if len(out) == 0 {
		return nil, hint.Errorf("choose them: DIR:TARGET", "no target of %s (%s) has the name of one of %s (%s)",
			otherSide.label, strings.Join(otherSide.own, ", "), base.label, strings.Join(base.own, ", "))
	}
	return out, nil
}
