package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/importer"
	"rumbench/internal/result"
)

func (a *App) importCommand() *cobra.Command {
	var o importer.Options
	var out string
	c := &cobra.Command{
		Use:   "import PATH...",
		Short: "make a campaign of the logs of sysbench, pgbench, db_bench, the insert benchmark, or of tables",
		Long: `import reads the logs of other tools, with what iostat, vmstat and time saw beside
them, and writes a campaign: show, table, compare and report work on it. It reads
published tables of results too.

Directories are targets, the logs in them steps. Directories named 1, 2, 3 within
a target are its trials. What the logs do not say stays unknown.`,
		Example: `  rumbench import logs --out results/imported
  rumbench import logs --device md2 --cpus 48 --compatible
  rumbench import logs --skip
  rumbench import qps.abs.all.tsv o.met.all --cpus 48
  rumbench import before.log after.log
  rumbench import numbers.csv --format csv`,
		Args: args(func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("import wants files or directories")
			case o.Format != "" && !slices.Contains(importer.Formats(), o.Format):
				return fmt.Errorf("there is no format %q; there are %s", o.Format, strings.Join(importer.Formats(), ", "))
			case o.CPUs < 0:
				return fmt.Errorf("--cpus %d: a host has at least one", o.CPUs)
			case o.Compatible && len(o.Devices) > 1:
				return errors.New("--compatible takes one --device: what it computes of several is the mean of one")
			}
			return distinct(args)
		}),
		RunE: func(_ *cobra.Command, paths []string) error { return a.importLogs(paths, out, o) },
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "directory of the campaign, which must not exist (default results/NAME-DATE)")
	f.StringVar(&o.Format, "format", "", "format of the logs: "+strings.Join(importer.Formats(), ", ")+" (default: recognised by their content)")
	f.StringVar(&o.Target, "target", "", "name of the target, where all logs are of one (default: of the directories)")
	f.StringVar(&o.Base, "base", "", "target that the others are compared with (default: the first by name)")
	f.StringVar(&o.Name, "name", "", "name of the campaign (default: of the first PATH)")
	f.IntVar(&o.CPUs, "cpus", 0, "CPUs of the host, for vmstat's percents (default: as the logs say)")
	f.StringArrayVar(&o.Devices, "device", nil, "device under the database as iostat names it (default: the only one that was used); may be repeated")
	f.BoolVar(&o.Skip, "skip", false, "leave out what is wrong, list it, and import the rest")
	f.BoolVar(&o.Compatible, "compatible", false, "compute as the scripts behind published figures do, with their bias")
	return c
}

func (a *App) importLogs(paths []string, out string, o importer.Options) error {
	if o.Name == "" {
		o.Name = importName(paths[0])
	}
	o.Now = time.Now().UTC()
	o.Command = append([]string{"rumbench"}, a.Args...)
	campaign, err := importer.Read(paths, o)
	var problems importer.Problems
	if errors.As(err, &problems) {
		fmt.Fprintln(a.Stderr, problems.Error())
		if !o.Skip {
			fmt.Fprintln(a.Stderr, "hint: --skip leaves this out, and imports the rest")
		}
		return errors.New("nothing was imported")
	}
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join("results", fileName(o.Name)+"-"+time.Now().Format("20060102-150405"))
	}
	if err := campaign.Write(out); err != nil {
		return err
	}
	a.importLeft(campaign)
	in, err := reportInput(out)
	if err != nil {
		return err
	}
	if err := writeReport(in, filepath.Join(out, result.ReportFile), filepath.Join(out, result.MarkdownFile)); err != nil {
		return err
	}
	a.importSummary(campaign, out)
	return nil
}

// importName is the campaign's name: of the directory or file that is read.
func importName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// importLeft lists on standard error what was not imported, and why.
func (a *App) importLeft(c *importer.Campaign) {
	if len(c.Left) > 0 {
		fmt.Fprintln(a.Stderr, c.Left.Error())
		fmt.Fprintln(a.Stderr, "left out: what is listed above")
	}
	a.leftAlone("of no format that is known here", c.Ignored)
	a.leftAlone("of iostat, vmstat or time, but beside no run", c.Unused)
	a.leftAlone("tables that are made of such logs, or of ratios", c.Derived)
}

// mostNamed is how many files, tests or targets are named of those that are of
// one kind.
const mostNamed = 3

// leftAlone names files that were left alone.
func (a *App) leftAlone(why string, files []string) {
	if len(files) > 0 {
		fmt.Fprintf(a.Stderr, "left alone, %s: %s\n", why, some(files, mostNamed))
	}
}

// some lists the first of several things.
func some(things []string, most int) string {
	first := strings.Join(things[:min(most, len(things))], ", ")
	if n := len(things) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", first, n)
	}
	return first
}

// mostLines is how many lines a part of the summary has: all of it fits on a
// screen.
const mostLines = 10

// importSummary says in a screenful what was imported.
func (a *App) importSummary(c *importer.Campaign, out string) {
	targets, steps, files := c.Sizes()
	fmt.Fprintf(a.Stdout, "imported %s × %s from %s\n", importer.Counted(len(targets), "target"), importer.Counted(steps, "test"), importer.Counted(files, "file"))
	var lines []string
	for _, t := range targets {
		line := fmt.Sprintf("  %s: %s, %s", t.Name, importer.Counted(t.Steps, "test"), importer.Counted(t.Files, "file"))
		if t.Trials > 1 {
			line += fmt.Sprintf(", %d trials", t.Trials)
		}
		if t.Partial > 0 {
			line += fmt.Sprintf(", %s partial", importer.Counted(t.Partial, "test"))
		}
		lines = append(lines, line)
	}
	a.screenful(lines)
	lines = nil
	for _, m := range c.Missing {
		lines = append(lines, fmt.Sprintf("missing: %s of %s", m.Step, some(m.Targets, mostNamed)))
	}
	a.screenful(lines)
	lines = nil
	for _, g := range c.Guessed {
		lines = append(lines, "guessed: "+g)
	}
	a.screenful(lines)
	if path, err := filepath.Abs(filepath.Join(out, result.ReportFile)); err == nil {
		fmt.Fprintf(a.Stdout, "report: %s\n", path)
	}
	if len(targets) > 1 {
		fmt.Fprintf(a.Stdout, "relative table: rumbench table %s\n", out)
	}
}

// screenful prints the first lines, and how many more there are.
func (a *App) screenful(lines []string) {
	for i, l := range lines {
		if i == mostLines {
			fmt.Fprintf(a.Stdout, "  … and %d more\n", len(lines)-i)
			return
		}
		fmt.Fprintln(a.Stdout, l)
	}
}
