package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/importer"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/secret"
)

func newImportCommand(a *App) *cobra.Command {
	var o importer.Options
	var out string
	c := command("import PATH...",
		"make a campaign of the logs of sysbench, pgbench, db_bench, YCSB and other tools, or of a table",
		args(func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("import needs files or directories")
			case o.CPUs < 0:
				return fmt.Errorf("--cpus %d: a host has at least one", o.CPUs)
			case o.Compatible && len(o.Devices) > 1:
				return errors.New("--compatible takes one --device: what it computes of several is the mean of one")
			}
			return checkDistinct(args)
		}), func(_ *cobra.Command, paths []string) error { return runImport(a, o, paths, out) })
	f := c.Flags()
	f.StringVar(&out, "out", "", "directory of the campaign, new or empty (default results/NAME-DATE)")
	choice(f, &o.Format, "format", "",
		"format of the logs: "+strings.Join(importer.Formats(), ", ")+" (default: recognized by their content)",
		importer.Formats()...)
	f.StringVar(&o.Target, "target", "", "name of the target, where all logs are of one (default: of the directories)")
	f.StringVar(&o.Base, "base", "", "target that the others are compared with (default: of the first file)")
	f.StringVar(&o.Name, "name", "", "name of the campaign (default: the PATHs)")
	f.IntVar(&o.CPUs, "cpus", 0, "CPUs of the host, for vmstat's percents (default: as the logs say)")
	f.StringArrayVar(&o.Devices, "device", nil,
		"device under the database as iostat names it (default: the only one that was used); may be repeated")
	f.BoolVar(&o.Skip, "skip", false, "leave out what is wrong, list it, and import the rest")
	f.BoolVar(&o.Compatible, "compatible", false, "compute as the scripts behind published figures do, with their bias")
	return c
}

func runImport(a *App, o importer.Options, paths []string, out string) error {
	bases := quantity.Texts(paths, func(p string) string { return filepath.Base(absolute(p)) })
	o.Name = cmp.Or(o.Name, firstNames(bases))
	o.Now = time.Now().UTC()
	o.Command = append([]string{"rumbench"}, a.Args...)
	campaign, err := importer.Read(paths, o)
	if problems, wrong := errors.AsType[hint.Problems](err); wrong {
		fmt.Fprintln(a.Stderr, secret.Hide(problems.Error()))
		if help := hint.Of(err); help != "" {
			fmt.Fprintln(a.Stderr, "hint:", help)
		}
		return errors.New("nothing was imported")
	}
	if err != nil {
		return err
	}
	out = cmp.Or(out, newDir(fileName(o.Name)))
	if err := campaign.Write(out); err != nil {
		return err
	}
	printLeft(a.Stderr, campaign)
	in, err := reportInput(out)
	if err != nil {
		return err
	}
	html, err := writeReport(in, out, false)
	if err != nil {
		return err
	}
	printImported(a.Stdout, campaign)
	fmt.Fprintf(a.Stdout, "report: %s\n", absolute(html))
	if targets, _, _ := campaign.Sizes(); len(targets) > 1 {
		fmt.Fprintf(a.Stdout, "relative table: rumbench table %s\n", out)
	}
	return nil
}

// Lists of files, tests or targets name the first few; the number of lines in a
// part of the summary is limited so that the whole summary fits on a screen.
const (
	maxNamed = 3
	maxLines = 10
)

func firstNames(things []string) string {
	first := strings.Join(things[:min(maxNamed, len(things))], ", ")
	if n := len(things) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", first, n)
	}
	return first
}

func printLeft(w io.Writer, c *importer.Campaign) {
	if len(c.Left) > 0 {
		fmt.Fprintln(w, c.Left.Error())
		fmt.Fprintln(w, "left out: what is listed above")
	}
	leftAlone := func(reason string, files []string) {
		if len(files) > 0 {
			fmt.Fprintf(w, "left alone, %s: %s\n", reason, firstNames(files))
		}
	}
	leftAlone("of no format that is known here", c.Ignored)
	leftAlone("of iostat, vmstat or time, without a matching run", c.Unused)
}

// printImported prints a summary of the import that fits on a screen.
func printImported(w io.Writer, c *importer.Campaign) {
	targets, steps, files := c.Sizes()
	fmt.Fprintf(w, "imported %s × %s from %s\n", quantity.Count(len(targets), "target"), quantity.Count(steps, "test"),
		quantity.Count(files, "file"))
	var sizes []string
	for _, t := range targets {
		line := fmt.Sprintf("  %s: %s, %s", t.Name, quantity.Count(t.Steps, "test"), quantity.Count(t.Files, "file"))
		if t.Trials > 1 {
			line += fmt.Sprintf(", %d trials", t.Trials)
		}
		if t.Partial > 0 {
			line += fmt.Sprintf(", %s partial", quantity.Count(t.Partial, "test"))
		}
		sizes = append(sizes, line)
	}
	missing := quantity.Texts(c.Missing, func(m importer.Missing) string {
		return fmt.Sprintf("missing: %s of %s", m.Step, firstNames(m.Targets))
	})
	for _, part := range []struct {
		label string
		lines []string
	}{{"", sizes}, {"", missing}, {"! ", c.Doubtful}, {"guessed: ", c.Guessed}, {"not imported: ", c.Dropped}} {
		for _, l := range part.lines[:min(maxLines, len(part.lines))] {
			fmt.Fprintln(w, part.label+l)
		}
		if extra := len(part.lines) - maxLines; extra > 0 {
			fmt.Fprintf(w, "  … and %d more\n", extra)
		}
	}
}
