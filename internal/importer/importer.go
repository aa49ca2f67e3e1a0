// Package importer makes campaign directories of the logs of other tools:
// sysbench, pgbench, db_bench, the insert benchmark, and tables of numbers; with
// what iostat, vmstat and /usr/bin/time saw beside them.
//
// It invents nothing. What a log does not tell is left out; what it tells in
// part is marked; what contradicts itself is refused, with the file, the line
// and a hint. It writes the same files as a run does, and judges no number.
package importer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rumbench/internal/result"
)

// Options are how logs are to be read.
type Options struct {
	Format     string   // one of Formats; "" tells each file by its content
	Target     string   // the name of the only target; "" names targets by their places
	Base       string   // the target that others are compared with; "" is the first by name
	Compatible bool     // compute as the scripts behind published figures do
	CPUs       int      // of the host; 0 takes what the files tell
	Devices    []string // that hold the database, as iostat names them; none takes the only one that was used
	Name       string   // the campaign's
	Command    []string // as it was called
	Now        time.Time
}

// Campaign is what was read: trials with their series, ready to be written.
type Campaign struct {
	result.Campaign
	trials []trial
	// Ignored are the files of directories that are of no format that is read.
	Ignored []string
	// Unused are files of iostat, vmstat and time of which no run is known.
	Unused []string
}

// trial is a trial with its series.
type trial struct {
	*result.Trial
	lines []result.Line
}

// Read reads files, and all files below directories. What is wrong is told as
// Problems, all at once; then there is no campaign.
func Read(paths []string, o Options) (*Campaign, error) {
	var ps Problems
	folders, ignored := find(paths, &o, &ps)
	var runs []*run
	c := &Campaign{Ignored: ignored}
	for _, d := range folders {
		found := len(ps)
		mine := d.runs(&o, &ps)
		if found == len(ps) {
			runs = append(runs, mine...)
		}
		c.Unused = append(c.Unused, d.lonely()...)
	}
	if len(runs) == 0 && len(ps) == 0 {
		ps.add(strings.Join(paths, ", "), 0, "docs/import.md tells the formats, and how the files are to be named", "no log of a run is there")
	}
	if len(ps) > 0 {
		return nil, ps.sorted()
	}
	check(runs, &ps)
	if len(ps) > 0 {
		return nil, ps.sorted()
	}
	if err := c.assemble(runs, &o); err != nil {
		return nil, err
	}
	return c, nil
}

// runs parses the runs of a folder, with what stands beside them.
func (d *folder) runs(o *Options, ps *Problems) (out []*run) {
	for _, group := range d.groups() {
		found := group[0].format.parse(group, o, ps)
		for _, r := range found {
			d.settle(r, o)
			r.readFiles = paths(group)
		}
		if len(found) > 0 {
			d.addCompanions(found, o, ps)
		}
		out = append(out, found...)
	}
	return out
}

func paths(files []*file) (out []string) {
	for _, f := range files {
		out = append(out, f.path)
	}
	return out
}

// settle names target, trial and step of a run by its place, as far as it does
// not do so itself.
func (d *folder) settle(r *run, o *Options) {
	if o.Target != "" {
		r.target = o.Target
	}
	if r.target == "" {
		r.target = d.place.target
	}
	if r.trial == 0 {
		r.trial = max(d.place.trial, 1)
	}
	if d.place.step != "" && r.workload == fmtIBench {
		r.step.Name = d.place.step
	}
	if d.named && o.Target == "" && r.byFile != "" {
		// The file's name is the target's; the steps of files are to be the same.
		r.step.Name = test(r) + strings.TrimPrefix(r.step.Name, r.byFile)
	}
	for i := range r.lines {
		r.lines[i].Step = r.step.Name
	}
}

// test names what a run did: its script, as far as it is told in a word, or
// else its workload.
func test(r *run) string {
	word, _, _ := strings.Cut(r.params["script"], ",")
	if word == "" || strings.ContainsAny(word, " <>") {
		return r.workload
	}
	return word
}

// check finds runs that cannot stand in one campaign.
func check(runs []*run, ps *Problems) {
	first := map[string]*run{}
	place := map[string]*run{}
	for _, r := range runs {
		id := fmt.Sprintf("%s\n%d\n%s", r.target, r.trial, r.step.Name)
		if o := place[id]; o != nil && o != r {
			ps.add(r.file.path, 0, "repeated runs are to lie in directories that are named by numbers, as "+r.target+"/1 and "+r.target+"/2; other targets in directories of other names",
				"step %s of %s, trial %d, is also in %s", r.step.Name, r.target, r.trial, o.file.path)
		}
		place[id] = r
		if o := first[r.step.Name]; o != nil {
			differences(o, r, ps)
		} else {
			first[r.step.Name] = r
		}
	}
	if len(*ps) == 0 {
		strangers(runs, ps)
	}
}

// differences tells where two runs of a step were asked for different things.
func differences(a, b *run, ps *Problems) {
	for _, pb := range b.plan {
		for _, pa := range a.plan {
			if pa.name == pb.name && pa.value != pb.value {
				ps.add(b.file.path, pb.line, "only runs of one plan can be compared: import others apart, with another --out",
					"%s is %s, but in %s:%d it is %s: these are runs of different plans", pb.name, pb.value, a.file.path, pa.line, pa.value)
			}
		}
	}
	if a.workload != b.workload {
		ps.add(b.file.path, 0, "only runs of one plan can be compared: import others apart, with another --out",
			"it is of %s, and %s of %s: both have a step %s", b.workload, a.file.path, a.workload, b.step.Name)
	}
}

// strangers tells of targets that have no step in common with the others:
// nothing of them could be compared.
func strangers(runs []*run, ps *Problems) {
	steps := map[string][]string{} // by target
	var targets []string
	for _, r := range runs {
		if !slices.Contains(targets, r.target) {
			targets = append(targets, r.target)
		}
		steps[r.target] = append(steps[r.target], r.step.Name)
	}
	for _, t := range targets {
		shared := slices.ContainsFunc(steps[t], func(s string) bool {
			return slices.ContainsFunc(targets, func(o string) bool { return o != t && slices.Contains(steps[o], s) })
		})
		if len(targets) > 1 && !shared {
			i := slices.IndexFunc(runs, func(r *run) bool { return r.target == t })
			ps.add(runs[i].file.path, 0, "import them apart, with another --out; or give the logs of the same test the same name",
				"%s has no step in common with another target: it has %s. These are runs of different plans", t, strings.Join(slices.Compact(slices.Clone(steps[t])), ", "))
		}
	}
}

// nameOf is the campaign's name: as asked for, or of the directory that is read.
func nameOf(o *Options, fallback string) string {
	if o.Name != "" {
		return o.Name
	}
	if abs, err := filepath.Abs(fallback); err == nil {
		fallback = abs
	}
	return filepath.Base(fallback)
}
