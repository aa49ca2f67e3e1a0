package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/result"
)

// Run is a campaign in a folder.
type Run struct {
	Dir      string
	Campaign *result.Campaign // nil if it cannot be read
	Trials   []Trial          // the trials that have begun and can be read, in the campaign's order
	Problems []string         // the unreadable parts, with the reasons
	CopyOf   string           // the directory of the run that this one is a copy of; "" if it is no copy
	place    int              // in the order of runs
}

// Trial is a trial of a run.
type Trial struct {
	*result.Trial
	Path string // its directory
}

// The states of a run that none of its trials can have.
const (
	Broken   result.Status = "broken"    // something of it cannot be read
	NotBegun result.Status = "not begun" // it has no trial yet
)

// Find returns the campaigns in folders and in all folders below them, the
// oldest first and those that cannot be read last. A campaign, or a folder, that
// cannot be read is a Run with Problems. Symbolic links are not followed, but
// a root may be one.
func Find(roots ...string) ([]*Run, error) {
	runs, _, err := Newest(math.MaxInt, roots...)
	return runs, err
}

// Newest is as Find, of those campaigns that were written last, at most so many. left is how many others there are.
func Newest(limit int, roots ...string) (runs []*Run, left int, err error) {
	for _, root := range roots {
		info, err := os.Stat(root)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, 0, result.Missing(root, "name a folder with campaigns, as rumbench run makes them")
		case err != nil:
			return nil, 0, fmt.Errorf("look for campaigns: %w", err)
		case !info.IsDir():
			return nil, 0, fmt.Errorf("%s is no directory", root)
		}
		found, others := visit(filepath.Clean(root), limit)
		runs, left = append(runs, found...), left+others
	}
	slices.SortStableFunc(runs, byAge)
	runs = slices.CompactFunc(runs, func(a, b *Run) bool { return a.Dir == b.Dir }) // below two roots
	markCopies(runs)
	return runs, left, nil
}

func byAge(a, b *Run) int {
	started := func(r *Run) int64 {
		if r.Campaign == nil {
			return math.MaxInt64
		}
		return r.Campaign.Started.UnixNano()
	}
	return cmp.Or(cmp.Compare(started(a), started(b)), cmp.Compare(a.Dir, b.Dir))
}

// markCopies finds directories that hold the same campaign: two that were
// started at the same instant under the same name. Numbers would count twice.
func markCopies(runs []*Run) {
	first := map[string]string{}
	for _, r := range runs {
		if r.Campaign == nil {
			continue
		}
		key := fmt.Sprint(r.Campaign.Started.UnixNano(), r.Campaign.Name)
		if r.CopyOf = first[key]; r.CopyOf == "" {
			first[key] = r.Dir
		}
	}
}

// visit returns the campaigns in a directory and below it, at most so many, and the number of others.
func visit(dir string, limit int) (runs []*Run, left int) {
	var dirs []string
	Walk(dir, func(dir string, err error) {
		if err != nil {
			runs = append(runs, &Run{Dir: dir, Problems: []string{err.Error()}})
		} else {
			dirs = append(dirs, dir)
		}
	})
	if left = len(dirs) - limit; left > 0 {
		written := map[string]time.Time{}
		for _, dir := range dirs {
			if info, err := os.Lstat(filepath.Join(dir, result.CampaignFile)); err == nil {
				written[dir] = info.ModTime()
			}
		}
		slices.SortStableFunc(dirs, func(a, b string) int { return written[b].Compare(written[a]) })
		dirs = dirs[:limit]
	}
	for _, dir := range dirs {
		runs = append(runs, Read(dir))
	}
	return runs, max(0, left)
}

// Walk calls a function for the directories of campaigns in a directory and below it, and
// for those that cannot be read, with the error. Files in the trials of a campaign, such as
// the data of a server, are not part of the store. Links are not followed.
func Walk(dir string, found func(dir string, err error)) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		found(dir, err)
		return
	}
	index := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == result.CampaignFile })
	switch {
	case index < 0:
	case entries[index].Type().IsRegular():
		found(dir, nil)
	default:
		found(dir, fmt.Errorf("%s is no regular file", filepath.Join(dir, result.CampaignFile)))
	}
	for _, e := range entries {
		if e.IsDir() && (index < 0 || e.Name() != result.TrialsDir) {
			Walk(filepath.Join(dir, e.Name()), found)
		}
	}
}

// Read returns the campaign in a directory with all readable trials.
func Read(dir string) *Run {
	r := &Run{Dir: dir}
	c, err := result.ReadCampaign(dir)
	if err != nil {
		r.problem(err)
		return r
	}
	r.Campaign = c
	for i, t := range result.ReadEach(dir, c.Trials) {
		e := c.Trials[i]
		switch {
		case errors.Is(t.Err, fs.ErrNotExist) && e.Status == "":
			// not begun
		case t.Err != nil:
			r.problem(t.Err)
		default:
			for k := range t.Steps { // a store may hold many: what nobody compares over time is let go
				s := &t.Steps[k]
				s.Counters, s.Curves, s.Rows = nil, nil, slices.Clone(s.Rows)
			}
			r.Trials = append(r.Trials, Trial{t.Trial, result.TrialPath(dir, e.Dir)})
		}
	}
	return r
}

func (r *Run) problem(err error) { r.Problems = append(r.Problems, err.Error()) }

// Status returns Broken if any part of the run cannot be read, running if one of its
// trials is, and complete if all planned trials are. Otherwise it is the worst
// status of a trial: invalid, failed, or partial, which also means that trials are
// still to be run.
func (r *Run) Status() result.Status {
	if len(r.Problems) > 0 {
		return Broken
	}
	if len(r.Trials) == 0 {
		return NotBegun
	}
	for _, s := range []result.Status{result.Running, result.Invalid, result.Failed} {
		if r.count(s) > 0 {
			return s
		}
	}
	if r.count(result.Complete) == len(r.Campaign.Trials) {
		return result.Complete
	}
	return result.Partial
}

// Remarks returns the unreadable parts of the run, and the run that it is a copy of.
func (r *Run) Remarks() []string {
	if r.CopyOf == "" {
		return r.Problems
	}
	return append(slices.Clone(r.Problems), "a copy of "+r.CopyOf)
}

// Done returns how many trials are complete.
func (r *Run) Done() int { return r.count(result.Complete) }

func (r *Run) count(s result.Status) (n int) {
	for _, t := range r.Trials {
		if t.Status == s {
			n++
		}
	}
	return n
}

// Planned returns how many trials the campaign has, 0 if it cannot be read.
func (r *Run) Planned() int {
	if r.Campaign == nil {
		return 0
	}
	return len(r.Campaign.Trials)
}

// Target is a database that a run measures.
type Target struct {
	Name    string `json:"name"`
	Engine  string `json:"engine,omitempty"`  // "" until a trial of it has begun
	Version string `json:"version,omitempty"` // see result.Trial.EngineVersion
}

// Targets returns the run's targets, in the order of their first trials.
func (r *Run) Targets() []Target {
	out := []Target{}
	if r.Campaign == nil {
		return out
	}
	for _, e := range r.Campaign.Trials {
		if slices.ContainsFunc(out, func(t Target) bool { return t.Name == e.Target }) {
			continue
		}
		target := Target{Name: e.Target}
		if i := slices.IndexFunc(r.Trials, func(t Trial) bool { return t.Target == e.Target }); i >= 0 {
			t := r.Trials[i].Trial
			target.Engine, target.Version = t.Engine, t.EngineVersion()
		}
		out = append(out, target)
	}
	return out
}
