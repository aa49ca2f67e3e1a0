package forecast

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
)

// lengths is how long the parts of a trial took, including the work between
// them.
type lengths struct {
	start  time.Duration // until the first step
	parts  []time.Duration
	copied bool // it began with a copy of loaded data: the parts that load are 0
}

// lengthsOf returns the lengths of the parts of a trial; false if it did not
// run to its end, or had other steps.
func lengthsOf(parts []Part, t *result.Trial) (lengths, bool) {
	l := lengths{parts: make([]time.Duration, len(parts))}
	if t.Ended == nil || len(t.Steps) == 0 || t.Status != result.Complete && t.Status != result.Invalid {
		return l, false
	}
	l.start = t.Steps[0].Started.Sub(t.Started)
	seen := make([]bool, len(parts))
	if s := t.Start; s != nil {
		position := slices.IndexFunc(parts, func(p Part) bool { return p.Name == s.Copy }) + 1
		l.copied = !slices.ContainsFunc(t.Steps, func(step result.Step) bool { return step.Name == s.Copy })
		for i := range position {
			seen[i] = l.copied
		}
	}
	like := Trial{Parts: parts}
	for i := range t.Steps {
		end := *t.Ended
		if i+1 < len(t.Steps) {
			end = t.Steps[i+1].Started
		}
		index := like.Part(t.Steps[i].Name)
		if index < 0 {
			return l, false
		}
		seen[index] = true
		l.parts[index] += end.Sub(t.Steps[i].Started)
	}
	return l, !slices.Contains(seen, false)
}

// median returns the median of a length.
func median(seen []lengths, value func(lengths) time.Duration) time.Duration {
	var durations []time.Duration
	for _, l := range seen {
		durations = append(durations, value(l))
	}
	slices.Sort(durations)
	return (durations[(len(durations)-1)/2] + durations[len(durations)/2]) / 2
}

// Earlier is an earlier run of a plan: of the same workload with the same
// parameters, on targets of the same names and engines.
type Earlier struct {
	Dir     string
	Started time.Time
	client  time.Duration        // how long the client's calibration took; 0 if unknown
	lengths map[string][]lengths // by target
}

// Has reports whether a trial of the target ran to its end.
func (e *Earlier) Has(target string) bool { return e != nil && len(e.lengths[target]) > 0 }

// Find returns the latest run of a plan among the campaigns in some folders; nil if
// there is none. It prefers a run with more of the plan's targets. Unreadable
// campaigns are skipped.
func Find(p *plan.Plan, folders ...string) *Earlier {
	var best *Earlier
	params := p.ParamTexts()
	for _, r := range runs(folders) {
		if !maps.Equal(r.campaign.Params, params) {
			continue
		}
		if e := earlierOf(p, r); len(e.lengths) > 0 && (best == nil || len(e.lengths) > len(best.lengths)) {
			best = e
		}
		if best != nil && len(best.lengths) == len(p.Targets) {
			break
		}
	}
	return best
}

// run is a campaign that may be an earlier run.
type run struct {
	dir      string
	campaign *result.Campaign
}

// runs returns the campaigns in folders, the latest first.
func runs(folders []string) (out []run) {
	seen := map[string]bool{}
	for _, folder := range folders {
		entries, _ := os.ReadDir(folder) // one that is not there has none
		for _, e := range entries {
			dir := filepath.Join(folder, e.Name())
			if c, err := result.ReadCampaign(dir); err == nil && !seen[dir] {
				seen[dir] = true
				out = append(out, run{dir, c})
			}
		}
	}
	slices.SortFunc(out, func(a, b run) int {
		return cmp.Or(b.campaign.Started.Compare(a.campaign.Started), cmp.Compare(a.dir, b.dir))
	})
	return out
}

// earlierOf returns the lengths that a run shows for a plan.
func earlierOf(p *plan.Plan, r run) *Earlier {
	e := &Earlier{Dir: r.dir, Started: r.campaign.Started, lengths: map[string][]lengths{}}
	parts := partsOf(p)
	for _, entry := range r.campaign.Trials {
		index := slices.IndexFunc(p.Targets, func(t plan.Target) bool { return t.Name == entry.Target })
		if index < 0 {
			continue
		}
		t, err := result.ReadTrial(result.TrialPath(r.dir, entry.Dir))
		if err != nil || t.Workload != p.Workload || t.Engine != p.Targets[index].Engine ||
			(t.Order == string(plan.Duet)) != (p.Order == plan.Duet) {
			continue
		}
		if l, ok := lengthsOf(parts, t); ok && sameSearch(p.Find, t) {
			e.lengths[entry.Target] = append(e.lengths[entry.Target], l)
		}
	}
	if r.campaign.Client != "" {
		if t, err := result.ReadTrial(result.TrialPath(r.dir, r.campaign.Client)); err == nil && t.Ended != nil {
			e.client = t.Ended.Sub(t.Started)
		}
	}
	return e
}

// sameSearch reports whether a trial searched for the rates that are searched for
// now, with probes of the same length.
func sameSearch(f *plan.Find, t *result.Trial) bool {
	for i := range t.Steps {
		s := t.Steps[i].Search
		if s != nil && (f == nil || s.Promise != f.Promise ||
			s.How.Precision != f.Precision || s.How.From != f.From || s.How.To != f.To || f.Seconds > 0 &&
			s.How.Seconds != f.Seconds) {
			return false
		}
	}
	return f == nil || slices.ContainsFunc(t.Steps, func(s result.Step) bool { return s.Search != nil })
}
