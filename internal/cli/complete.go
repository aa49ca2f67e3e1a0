package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// completer completes a word of a command line; args are the words before it.
type completer = cobra.CompletionFunc

// completions are the completers of arguments, by the name in a command's usage.
var completions = map[string]completer{"PLAN": completePlan, "DIR": completeCampaign, "BASE": completeCampaign}

// flagCompletions are the completers of flag values, by the flag's name. A flag with
// choices needs none.
var flagCompletions = map[string]completer{
	"metric": completeMetric, "step": completeStep, "target": completeTarget, "targets": completeTarget,
	"base": completeTarget, "block": completeTarget,
	"resume": completeCampaign,
}

// addCompletions makes the shell complete the arguments and flags of all commands.
func addCompletions(c *cobra.Command) {
	for _, sub := range c.Commands() {
		addCompletions(sub)
	}
	for subject, complete := range completions {
		if strings.Contains(c.Use, subject) && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = fitting(complete)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		complete := flagCompletions[f.Name]
		if choices := f.Annotations[choicesOf]; choices != nil {
			complete = cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)
		}
		if complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, fitting(complete)) // fails only for a duplicate flag
		}
	})
}

// fitting leaves out completions that do not begin with the word.
func fitting(complete completer) completer {
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		out, directive := complete(c, args, word)
		if directive&cobra.ShellCompDirectiveFilterFileExt == 0 {
			out = slices.DeleteFunc(slices.Clone(out), func(s cobra.Completion) bool { return !strings.HasPrefix(s, word) })
		}
		return out, directive
	}
}

// choicesOf is the annotation of a flag that accepts only one of several values.
const choicesOf = "choices"

func choices(f *pflag.FlagSet, flag string, allowed ...string) {
	f.Lookup(flag).Annotations = map[string][]string{choicesOf: allowed}
}

// checkChoices refuses a flag's value that is not among its choices.
func checkChoices(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if allowed := f.Annotations[choicesOf]; err == nil && allowed != nil {
			err = oneOf(f.Name, f.Value.String(), allowed...)
		}
	})
	return err
}

func completePlan(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeCampaign completes directories of campaigns and their parent directories;
// after a colon, the targets of a campaign, as compare accepts them.
func completeCampaign(_ *cobra.Command, _ []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	if dir, _, targets := strings.Cut(word, ":"); targets {
		named := func(target string) string { return dir + ":" + target }
		return quantity.Texts(targetsIn(dir), named), cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	found := pathsFrom(word)
	if word == "" {
		found = append(found, pathsFrom("results/")...)
	}
	for _, path := range found {
		if strings.HasPrefix(filepath.Base(path), ".") {
			continue
		}
		switch info, err := os.Stat(path); {
		case err != nil || !info.IsDir():
		case result.IsCampaign(path):
			out = append(out, path)
		default:
			out = append(out, path+"/")
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	return out, directive
}

func pathsFrom(word string) (paths []string) {
	dir, name := filepath.Split(word)
	entries, _ := os.ReadDir(cmp.Or(dir, "."))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			paths = append(paths, dir+e.Name())
		}
	}
	return paths
}

func targetsIn(dir string) []string {
	c, err := result.ReadCampaign(dir)
	if err != nil {
		return nil
	}
	names := slices.Clone(c.Targets) // which imported campaigns do not list
	for _, e := range c.Trials {
		names = compare.AppendNew(names, e.Target)
	}
	return names
}

// completeList completes the last name in a comma-separated word.
func completeList(word string, names []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := word[:strings.LastIndex(word, ",")+1]
	given := strings.Split(before, ",")
	var out []cobra.Completion
	for _, name := range names {
		if bare, _, _ := strings.Cut(name, "\t"); !slices.Contains(given, bare) {
			out = append(out, before+name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func completeTarget(_ *cobra.Command, dirs []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, dir := range dirs {
		names = compare.AppendNew(names, targetsIn(dir)...)
	}
	return completeList(word, names)
}

// completeStep completes the steps of the named campaigns, taken from their first
// trials.
func completeStep(_ *cobra.Command, dirs []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	for _, t := range firstTrials(dirs) {
		for i := range t.Steps {
			names = compare.AppendNew(names, t.Steps[i].Name)
		}
	}
	return completeList(word, names)
}

// completeMetric completes the metrics in the named campaigns, or else all metrics, and
// their nicknames.
func completeMetric(_ *cobra.Command, dirs []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	measured := map[string]bool{}
	for _, t := range firstTrials(dirs) {
		for i := range t.Steps {
			for _, r := range t.Steps[i].Rows {
				measured[r.Metric] = true
			}
		}
	}
	var out []cobra.Completion
	for _, n := range metric.Nicknames() {
		out = append(out, cobra.CompletionWithDesc(n.Name, strings.Join(n.Means, " or ")))
	}
	for _, m := range metric.All() {
		if len(measured) == 0 || measured[m.Name] {
			out = append(out, cobra.CompletionWithDesc(m.Name, m.Doc))
		}
	}
	return completeList(word, out)
}

// firstTrials returns the first readable, complete trial of each named campaign.
func firstTrials(dirs []string) (out []*result.Trial) {
	for _, arg := range dirs {
		dir, _, _ := strings.Cut(arg, ":")
		c, err := result.ReadCampaign(dir)
		if err != nil {
			continue
		}
		for _, e := range c.Trials {
			if t, err := result.ReadTrial(result.TrialPath(dir, e.Dir)); err == nil && t.Status == result.Complete {
				out = append(out, t)
				break
			}
		}
	}
	return out
}
