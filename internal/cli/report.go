package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/report"
	"rumbench/internal/result"
)

func (a *App) reportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "write the report of campaigns as HTML and Markdown",
		Example: `  rumbench report results/mine
  rumbench report results/mine results/yours --out both`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error {
			if err := distinct(dirs); err != nil {
				return usageError{err}
			}
			in, err := reportInput(dirs...)
			if err != nil {
				return err
			}
			if out == "" {
				out = dirs[0]
			} else if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			html := filepath.Join(out, result.ReportFile)
			if err := writeReport(in, html, filepath.Join(out, result.MarkdownFile)); err != nil {
				return err
			}
			fmt.Fprintln(a.Stdout, html)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory to write to (default: the first DIR)")
	return c
}

func writeReport(in report.Input, html, markdown string) error {
	if err := create(html, func(w io.Writer) error { return report.HTML(w, in) }); err != nil {
		return err
	}
	return create(markdown, func(w io.Writer) error { return report.Markdown(w, in) })
}

// distinct refuses a directory that is named twice: its trials would count twice.
func distinct(dirs []string) error {
	var seen []os.FileInfo
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			continue // reading it tells what is wrong
		}
		if slices.ContainsFunc(seen, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			return fmt.Errorf("%s is named twice", dir)
		}
		seen = append(seen, info)
	}
	return nil
}

// reportInput reads campaigns into one report. Targets of several campaigns
// that share a name are told apart by the campaign.
func reportInput(dirs ...string) (report.Input, error) {
	var in report.Input
	var titles []string
	seen := map[string]string{}
	for _, dir := range dirs {
		c, trials, paths, err := readCampaign(dir)
		if err != nil {
			return in, err
		}
		titles = append(titles, c.Name)
		in.Commands = append(in.Commands, strings.Join(c.Command, " "))
		if b, err := os.ReadFile(filepath.Join(dir, result.PlanFile)); err == nil {
			in.Plan += string(b)
		}
		for i, t := range trials {
			for _, name := range []string{t.Target, filepath.Base(dir) + "/" + t.Target, dir + "/" + t.Target} {
				if from, ok := seen[name]; !ok || from == dir {
					seen[name] = dir
					t.Rename(name)
					break
				}
			}
			path := paths[i]
			in.Trials = append(in.Trials, report.Trial{Trial: t, Series: func(yield func(result.Line) error) error {
				return result.ReadSeries(path, report.Sources, yield)
			}})
		}
		if c.Client != "" && in.Client == nil {
			if t, err := result.ReadTrial(result.TrialPath(dir, c.Client)); err == nil {
				in.Client = t
			}
		}
	}
	in.Title = strings.Join(titles, ", ")
	return in, nil
}
