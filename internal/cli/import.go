package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/importer"
)

func (a *App) importCommand() *cobra.Command {
	var o importer.Options
	var out string
	c := &cobra.Command{
		Use:   "import PATH...",
		Short: "make a campaign of the logs of sysbench, pgbench, db_bench, the insert benchmark, or of a CSV",
		Long: `import reads the logs of other tools, with what iostat, vmstat and time saw beside
them, and writes a campaign: show, compare and report work on it.

Directories are targets, the logs in them steps. Directories named 1, 2, 3 within
a target are its trials. What the logs do not tell stays unknown.`,
		Example: `  rumbench import logs --out results/imported
  rumbench import logs --device md2 --cpus 48 --compatible
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
	f.StringVar(&o.Format, "format", "", "format of the logs: "+strings.Join(importer.Formats(), ", ")+" (default: told by their content)")
	f.StringVar(&o.Target, "target", "", "name of the target, where all logs are of one (default: of the directories)")
	f.StringVar(&o.Base, "base", "", "target that the others are compared with (default: the first by name)")
	f.StringVar(&o.Name, "name", "", "name of the campaign (default: of the first PATH)")
	f.IntVar(&o.CPUs, "cpus", 0, "CPUs of the host, for vmstat's percents (default: as the logs tell)")
	f.StringArrayVar(&o.Devices, "device", nil, "device under the database as iostat names it (default: the only one that was used); may be repeated")
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
	a.tellUnread("of no format that is known here", campaign.Ignored)
	a.tellUnread("of iostat, vmstat or time, but beside no run", campaign.Unused)
	if err := a.writeReports(out, a.Stdout); err != nil {
		return err
	}
	c, err := tableCampaign([]string{out})
	if err != nil || len(c.Targets) < 2 || c.Relative(compare.RelativeOptions{}).Empty() {
		return err
	}
	fmt.Fprintln(a.Stdout)
	return a.table([]string{out}, tableOptions{layout: "text"})
}

// importName is the campaign's name: of the directory or file that is read.
func importName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return filepath.Base(path)
}

// mostUnread is how many files are named that were left alone.
const mostUnread = 3

// tellUnread tells of files that were left alone.
func (a *App) tellUnread(why string, files []string) {
	if len(files) == 0 {
		return
	}
	some := files[:min(mostUnread, len(files))]
	more := ""
	if n := len(files) - len(some); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(a.Stderr, "left alone, %s: %s%s\n", why, strings.Join(some, ", "), more)
}
