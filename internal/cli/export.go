package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/export"
	"rumbench/internal/compare/history"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// The formats of an export.
const (
	formatParquet = "parquet"
	formatGobench = "gobench"
)

type exportOptions struct {
	out, series, format string
	force               bool
}

func newExportCommand(a *App) *cobra.Command {
	var o exportOptions
	c := command("export DIR...", "write the numbers of campaigns as Parquet files, or for benchstat", args(campaigns),
		func(_ *cobra.Command, dirs []string) error { return runExport(a, o, dirs) })
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "the file to write the rows to (gobench: default standard output)")
	choice(f, &o.format, "format", formatParquet,
		"the `format` of the file: parquet, or gobench, which benchstat reads", formatParquet, formatGobench)
	f.StringVar(&o.series, "series", "", "the file to write the interval series to (default: none is written)")
	f.BoolVar(&o.force, "force", false, "replace files that exist")
	return c
}

func runExport(a *App, o exportOptions, dirs []string) error {
	if err := o.check(); err != nil {
		return err
	}
	runs, err := history.Find(dirs...)
	if err != nil {
		return err
	}
	printProblems(a.Stderr, runs)
	if o.format == formatGobench {
		sortByPlan(runs)
	}
	trials, broken := exportTrials(runs)
	if len(trials) == 0 {
		return fmt.Errorf("there is no trial in %s", strings.Join(dirs, ", "))
	}
	if o.format == formatGobench && o.out == "" {
		if _, err := export.WriteGobench(a.Stdout, trials); err != nil {
			return err
		}
		return incompleteExport(broken, runs)
	}
	files := []output{{path: o.out, noun: "rows", write: export.WriteRows}}
	if o.format == formatGobench {
		files[0].noun, files[0].write = "numbers", export.WriteGobench
	}
	if o.series != "" {
		files = append(files, output{path: o.series, noun: "samples", write: export.WriteSeries})
	}
	if err := replace(files, trials); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintf(a.Stderr, "%d %s\n", f.count, f.noun)
		fmt.Fprintln(a.Stdout, f.path)
	}
	return incompleteExport(broken, runs)
}

// sortByPlan sorts the trials of each campaign by target, in the plan's order: benchstat compares with what
// comes first.
func sortByPlan(runs []*history.Run) {
	for _, r := range runs {
		if r.Campaign == nil {
			continue
		}
		names := r.Campaign.Targets
		if len(names) == 0 { // of an imported one
			names = quantity.Texts(r.Targets(), func(t history.Target) string { return t.Name })
		}
		slices.SortStableFunc(r.Trials, func(a, b history.Trial) int {
			return cmp.Or(cmp.Compare(slices.Index(names, a.Target), slices.Index(names, b.Target)),
				cmp.Compare(a.Trial.Trial, b.Trial.Trial))
		})
	}
}

func incompleteExport(broken int, runs []*history.Run) error {
	if broken > 0 {
		return fmt.Errorf("%d of %d campaigns are not exported in full: they cannot be read", broken, len(runs))
	}
	return nil
}

// check refuses incompatible flags, and files that exist.
func (o exportOptions) check() error {
	if o.format == formatGobench {
		if o.series != "" {
			return usageErrorf("--series is for --format parquet")
		}
	} else if o.out == "" {
		return usageErrorf("export wants --out FILE")
	}
	if o.series != "" && filepath.Clean(o.out) == filepath.Clean(o.series) {
		return usageErrorf("--out and --series name one file")
	}
	texts := []string{".csv", ".tsv", ".json", ".jsonl"}
	for _, path := range []string{o.out, o.series} {
		if ext := filepath.Ext(path); o.format != formatGobench && slices.Contains(texts, ext) {
			return usage(hint.Errorf("name it .parquet; rumbench show DIR --json prints rows as JSON",
				"export writes Parquet, not %s", ext[1:]))
		}
		if _, err := os.Lstat(path); path != "" && err == nil && !o.force {
			return hint.Errorf("choose another file, or replace it with --force", "%s exists", path)
		}
	}
	return nil
}

// exportTrials returns the trials of all runs except copies, and the number of
// runs that cannot be read in full.
func exportTrials(runs []*history.Run) (trials []export.Trial, broken int) {
	for _, r := range runs {
		if len(r.Problems) > 0 {
			broken++
		}
		if r.CopyOf != "" {
			continue
		}
		for _, t := range r.Trials {
			trials = append(trials, export.Trial{Trial: t.Trial, Path: t.Path, CampaignDir: r.Dir, Started: r.Campaign.Started,
				EngineVersion: t.EngineVersion(), Headline: history.HeadlineRows(t.Trial)})
		}
	}
	return trials, broken
}

// rowFormats are the formats in which a campaign's numbers can be taken away.
var rowFormats = []string{"csv", "json", "parquet"}

func writeRows(w io.Writer, dir, format string, redacted bool) error {
	run := history.Read(dir)
	if redacted {
		run.Dir = filepath.Base(dir)
		run = redact.Copy(run, planText(dir))
	}
	trials, _ := exportTrials([]*history.Run{run})
	switch format {
	case "csv":
		return export.WriteCSV(w, trials)
	case "parquet":
		_, err := export.WriteRows(w, trials)
		return err
	case "json":
		var rows []metric.Row
		for _, t := range trials {
			rows = append(rows, t.Shown()...)
		}
		return metric.WriteLines(w, rows)
	}
	return fmt.Errorf("rows are written as %v, not as %s", rowFormats, format)
}

// planText returns the plan of a campaign; "" without one.
func planText(dir string) string {
	src, err := result.ReadPlan(dir)
	if err != nil {
		return ""
	}
	return string(plan.WithoutSecrets(src))
}

// output is a file to be written and its writer, which returns the number of things
// it wrote.
type output struct {
	path, noun string
	write      func(io.Writer, []export.Trial) (int64, error)
	count      int64
}

// replace writes all files before it replaces existing ones, so that a failure
// replaces none.
func replace(files []output, trials []export.Trial) error {
	if len(files) == 0 {
		return nil
	}
	return result.Replace(files[0].path, 0o644, func(w io.Writer) (err error) {
		if files[0].count, err = files[0].write(w, trials); err != nil {
			return err
		}
		return replace(files[1:], trials)
	})
}
