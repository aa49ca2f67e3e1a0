package importer

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Programs are those whose output, as they print it, is a log of a run.
var Programs = []string{"sysbench", "pgbench"}

// ReadOutput reads the output of one run of a program.
func ReadOutput(path string) (*result.Trial, error) {
	c, err := Read([]string{path}, Options{})
	if err != nil {
		return nil, err
	}
	if len(c.trials) > 1 || len(c.trials[0].Steps) > 1 {
		return nil, fmt.Errorf("%s holds several runs", path)
	}
	return c.trials[0].Trial, nil
}

// Read reads files, and all files below directories. It returns all problems at
// once, as hint.Problems, and no campaign then, unless Options.Skip is set.
func Read(paths []string, o Options) (*Campaign, error) {
	var ps hint.Problems
	c := &Campaign{}
	folders := c.find(paths, &o, &ps)
	runs, err := readRuns(folders, &o, &ps)
	if err != nil {
		return nil, err
	}
	for _, d := range folders {
		c.Unused = append(c.Unused, d.unused()...)
	}
	if len(runs) == 0 && len(ps) == 0 {
		ps.Add(strings.Join(paths, ", "), 0, "docs/import.md lists the formats and how to name the files",
			"no log of a run is there")
	}
	if len(ps) == 0 || o.Skip {
		nameTargets(runs)
		runs = summed(runs, &ps)
		nameSteps(runs)
		runs = originals(runs, &ps)
		if o.Base == "" {
			o.Base = namedFirst(paths, runs)
		}
		runs = agreeing(runs, &o, &ps)
	}
	switch {
	case len(runs) == 0:
		return nil, sorted(ps)
	case len(ps) > 0 && !o.Skip:
		return nil, hint.With(sorted(ps), "--skip leaves this out, and imports the rest")
	}
	c.Left = sorted(ps)
	c.Missing = missing(runs)
	c.Guessed = counted(runs, func(r *run) []string { return r.guesses })
	c.Dropped = counted(runs, func(r *run) []string { return r.dropped })
	c.Doubtful = counted(runs, func(r *run) (out []string) {
		for _, w := range r.step.Warnings {
			if w.Code == remark.Contradictory {
				out = append(out, fmt.Sprintf("%s of %s: %s", r.step.Name, r.target, w.Text))
			}
		}
		return out
	})
	if err := c.assemble(runs, &o); err != nil {
		return nil, err
	}
	return c, nil
}

// namedFirst returns the target of the first of several files: they were named in the order in
// which they are to be compared. It is "" if a directory is among them, or a file of several
// targets is the first.
func namedFirst(paths []string, runs []*run) string {
	files, byFile := groups(runs, func(r *run) string { return r.files[0].path })
	if len(paths) < 2 || slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(files, path) }) {
		return ""
	}
	targets, _ := groups(byFile[paths[0]], func(r *run) string { return r.target })
	if len(targets) > 1 {
		return ""
	}
	return targets[0]
}

// originals leaves out runs whose file is a copy of another trial's: repeated trials never agree
// to the last digit, and copies would prove whatever they say.
func originals(runs []*run, ps *hint.Problems) []*run {
	type test struct{ target, step string }
	type text struct {
		test
		sum [sha256.Size]byte
	}
	testOf := func(r *run) test { return test{r.target, r.step.Name} }
	_, trials := groups(runs, testOf)
	seen := map[text]*run{}
	return slices.DeleteFunc(slices.Clone(runs), func(r *run) bool {
		if len(trials[testOf(r)]) < 2 {
			return false // there is nothing to repeat it
		}
		sum, ok := r.files[0].sum()
		first := seen[text{testOf(r), sum}]
		if first == nil && ok {
			seen[text{testOf(r), sum}] = r
		}
		copied := first != nil && ok && first.files[0].path != r.files[0].path && first.trial != r.trial
		if copied {
			ps.Add(r.files[0].path, 0, "leave it out", "it is a copy of %s, and no trial of its own",
				first.files[0].path)
		}
		return copied
	})
}

// sum returns the hash of the file's text; ok is false if it cannot be read.
func (f *file) sum() (sum [sha256.Size]byte, ok bool) {
	text, err := f.open()
	if err != nil {
		return sum, false
	}
	defer text.Close()
	h := sha256.New()
	if _, err := io.Copy(h, text); err != nil {
		return sum, false
	}
	return [sha256.Size]byte(h.Sum(nil)), true
}

// readRuns parses the runs of folders, several at a time.
func readRuns(folders []*folder, o *Options, ps *hint.Problems) ([]*run, error) {
	runs, problems := make([][]*run, len(folders)), make([]hint.Problems, len(folders))
	var parsers errgroup.Group
	parsers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range folders {
		parsers.Go(func() error {
			runs[i] = folders[i].runs(o, &problems[i])
			return folders[i].spool.flush()
		})
	}
	err := parsers.Wait()
	*ps = append(*ps, slices.Concat(problems...)...)
	return slices.Concat(runs...), err
}

// sorted returns problems by file and line, without duplicates.
func sorted(ps hint.Problems) hint.Problems {
	slices.SortStableFunc(ps, func(a, b hint.Problem) int {
		return cmp.Or(quantity.Natural(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(ps)
}

// runs parses the runs of a folder, with their companions.
func (d *folder) runs(o *Options, ps *hint.Problems) (out []*run) {
	for _, files := range d.runFiles() {
		files[0].spool = &d.spool
		var found []*run
		parts, left := sections(files)
		named := false // by the log itself
		for _, part := range parts {
			for _, r := range part[0].format.parse(part, o, ps) {
				named = named || r.target != ""
				if d.settle(r, o); left != "" {
					r.warn("%s", left)
				}
				if r.files == nil {
					r.files = part
				}
				found = append(found, r)
			}
		}
		tests := slices.Contains([]string{fmtHammerDB, fmtGoBench}, files[0].format.name) // several in one run
		if !named && (tests || len(parts) > 1) {
			arrange(found)
		}
		if len(found) > 0 {
			d.addCompanions(found, o, ps)
		}
		out = append(out, found...)
	}
	numberByStart(out)
	return out
}

// settle names the target, trial and step of a run by its path, unless the run
// names them itself.
func (d *folder) settle(r *run, o *Options) {
	if o.CPUs > 0 {
		r.cpus = o.CPUs
	}
	if o.Target != "" {
		r.target = o.Target
	}
	if r.target == "" {
		r.target, r.home = d.place.target, d.place.home
	}
	r.trial = cmp.Or(r.trial, max(d.place.trial, 1))
	if d.place.step != "" && r.workload == fmtIBench {
		r.step.Name = d.place.step
	}
	if d.named && o.Target == "" && r.byFile != "" {
		// The file names the target; steps need the same names in all files.
		r.step.Name = script(r) + strings.TrimPrefix(r.step.Name, r.byFile)
		if r.base != "" {
			r.base = script(r)
		}
	}
}
