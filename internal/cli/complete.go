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
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// completer completes a word of a command line; args are the words before it.
type completer = cobra.CompletionFunc

// completions are the completers of arguments and of flags, by the name in their usage.
var completions = map[string]completer{"PLAN": completePlan, "DIR": completeCampaign, "BASE": completeCampaign}

func addCompletions(c *cobra.Command) {
	for _, sub := range c.Commands() {
		addCompletions(sub)
	}
	for subject, complete := range completions {
		if strings.Contains(c.Use, subject) && c.ValidArgsFunction == nil {
			c.ValidArgsFunction = matchPrefix(complete)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		subject, _ := pflag.UnquoteUsage(f)
		complete := completions[subject]
		if choices := f.Annotations[choicesAnnotation]; choices != nil {
			complete = cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)
		}
		if complete != nil {
			_ = c.RegisterFlagCompletionFunc(f.Name, matchPrefix(complete)) // fails only for a duplicate flag
		}
	})
}

// matchPrefix leaves out completions that do not begin with the word.
func matchPrefix(complete completer) completer {
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		out, directive := complete(c, args, word)
		if directive&cobra.ShellCompDirectiveFilterFileExt == 0 {
			out = slices.DeleteFunc(slices.Clone(out), func(s cobra.Completion) bool { return !strings.HasPrefix(s, word) })
		}
		return out, directive
	}
}

const choicesAnnotation = "choices"

// choice declares a flag that accepts only one of several values.
func choice(f *pflag.FlagSet, dst *string, name, value, usage string, allowed ...string) {
	f.StringVar(dst, name, value, usage)
	f.Lookup(name).Annotations = map[string][]string{choicesAnnotation: allowed}
}

func checkChoices(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if allowed := f.Annotations[choicesAnnotation]; err == nil && allowed != nil {
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
