package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/export"
	"rumbench/internal/hint"
	"rumbench/internal/history"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// exportOptions are the flags of `export`.
type exportOptions struct {
	out, series string
	force       bool
}

func (a *App) exportCommand() *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export DIR...",
		Short: "write the numbers of campaigns as Parquet files",
		Long: `export writes a line for each number of each trial of the campaigns in the
folders, and with --series a second file with all intervals. DuckDB and others
read them: SELECT target, median(value) FROM 'rows.parquet' …`,
		Example: `  rumbench export results --out rows.parquet
  rumbench export results/mine --out rows.parquet --series series.parquet --force`,
		Args: args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, dirs []string) error { return a.export(dirs, o) },
	}
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "the file to write the rows to")
	f.StringVar(&o.series, "series", "", "the file to write the interval series to (default: none is written)")
	f.BoolVar(&o.force, "force", false, "replace files that exist")
	return c
}

func (a *App) export(dirs []string, o exportOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	runs, err := history.Find(dirs...)
	if err != nil {
		return err
	}
	a.tellProblems(runs)
	trials, broken := exportTrials(runs)
	if len(trials) == 0 {
		return fmt.Errorf("there is no trial in %s", strings.Join(dirs, ", "))
	}
	files := []output{{o.out, "rows", export.WriteRows}}
	if o.series != "" {
		files = append(files, output{o.series, "samples", export.WriteSeries})
	}
	if err := a.writeOutputs(files, trials); err != nil {
		return err
	}
	if broken > 0 {
		return fmt.Errorf("%d of %d campaigns are not exported in full: they cannot be read", broken, len(runs))
	}
	return nil
}

// check refuses flags that do not go together, and files that exist.
func (o exportOptions) check() error {
	if o.out == "" {
		return usageError{errors.New("export wants --out FILE")}
	}
	if o.series != "" && filepath.Clean(o.out) == filepath.Clean(o.series) {
		return usageError{errors.New("--out and --series name one file")}
	}
	for _, path := range []string{o.out, o.series} {
		if _, err := os.Lstat(path); path != "" && err == nil && !o.force {
			return hint.With(fmt.Errorf("%s exists", path), "choose another file, or replace it with --force")
		}
	}
	return nil
}

// exportTrials are the trials of all runs but the copies, and how many runs
// cannot be read in full.
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
				EngineVersion: t.EngineVersion(), Headline: headlineRows(t.Trial)})
		}
	}
	return trials, broken
}

// headlineRows tells which rows of a trial are the headline numbers of their step.
func headlineRows(t *result.Trial) func(*result.Step, *metric.Row) bool {
	keys := map[string][]compare.Key{}
	for _, s := range compare.New([]*result.Trial{t}).Steps {
		keys[s.Name] = history.Headline(s)
	}
	return func(s *result.Step, r *metric.Row) bool {
		return slices.Contains(keys[s.Name], compare.KeyOf(r)) && !r.Few()
	}
}

// output is a file that is to be written.
type output struct {
	path, what string
	write      func(io.Writer, []export.Trial) (int64, error)
}

// writeOutputs writes files under other names first, so that those that exist
// are replaced by whole ones, or none is.
func (a *App) writeOutputs(files []output, trials []export.Trial) error {
	var temps []string
	var counts []int64
	for _, o := range files {
		f, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
		if err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
		defer os.Remove(f.Name()) // gone already when all went well
		n, err := o.write(f, trials)
		if err == nil {
			err = f.Chmod(0o644)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
		temps, counts = append(temps, f.Name()), append(counts, n)
	}
	for i, o := range files {
		if err := os.Rename(temps[i], o.path); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
		fmt.Fprintf(a.Stderr, "%d %s\n", counts[i], o.what)
		fmt.Fprintln(a.Stdout, o.path)
	}
	return nil
}
