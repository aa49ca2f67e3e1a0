package serve

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/course"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// lives are the campaigns whose live pages are open. All readers of one share what was read
// of it.
type lives struct {
	site *Site
	mu   sync.Mutex
	all  map[string]*live // by path
}

// live is a campaign whose live page is open.
type live struct {
	mu     sync.Mutex
	tails  map[string]*tail // by the trial's directory
	trials map[string]stamped
	seen   *liveStep // what was drawn last; nil: nothing
	made   time.Time
	body   []byte
}

// stamped is a trial, or nil, with the stamp of its file when it was read.
type stamped struct {
	stamp string
	trial *result.Trial
}

// begun returns the trials of a campaign that have begun, in the order of their entries. It
// reads those only that have changed, and all when the campaign has ended: one that was killed
// says so only then.
func (v *live) begun(dir string, c *result.Campaign, running bool) (out []*result.Trial) {
	for _, e := range slices.Concat(c.Trials, c.Profiled) {
		path := result.TrialPath(dir, e.Dir)
		stamp := stampOf(filepath.Join(path, result.TrialFile)) + fmt.Sprint(running)
		known := v.trials[path]
		if known.stamp != stamp {
			known.stamp = stamp
			known.trial, _ = result.ReadTrial(path) // one that cannot be read is not shown here
			v.trials[path] = known
		}
		if known.trial != nil {
			out = append(out, known.trial)
		}
	}
	return out
}

const (
	renewed   = 2 // seconds after which a page shows what is new
	forgotten = time.Minute
)

// page returns the page of a campaign as it is now. One that has been made just before is shown to
// all.
func (l *lives) page(e *entry) ([]byte, error) {
	v := l.watched(e)
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.made) < renewed*time.Second*9/10 {
		return v.body, nil
	}
	d, err := l.document(v, e)
	if err != nil {
		return nil, err
	}
	body, err := l.site.page(d, nil)
	if err == nil {
		v.body, v.made = body, time.Now()
	}
	return body, err
}

// watched returns what is known of a campaign, and forgets those whose pages are
// closed.
func (l *lives) watched(e *entry) *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]*live{}
	}
	for rel, v := range l.all {
		if rel != e.rel && v.mu.TryLock() {
			if time.Since(v.made) > forgotten {
				delete(l.all, rel)
			}
			v.mu.Unlock()
		}
	}
	if l.all[e.rel] == nil {
		l.all[e.rel] = &live{tails: map[string]*tail{}, trials: map[string]stamped{}}
	}
	return l.all[e.rel]
}

// document returns what a campaign does, or that it has ended.
func (l *lives) document(v *live, e *entry) (*page.Document, error) {
	c, err := result.ReadCampaign(e.dir)
	if err != nil {
		return nil, err
	}
	at := path.Join(campaigns, e.rel, liveName)
	d := &page.Document{Title: c.Name, Links: append(l.site.links(at), page.Link{Text: "report", To: reportName},
		page.Link{Text: "live"})}
	running := result.IsRunning(e.dir)
	if running {
		d.Every = renewed
	}
	trials := v.begun(e.dir, c, running)
	d.Lead = l.state(e, c, trials, running)
	if machines := machinesOf(c); running && !machines.Empty() {
		d.Sections = append(d.Sections, page.Section{ID: "machines", Title: "Machines", Blocks: []page.Block{machines,
			page.Prose("about", "Their numbers come with the end of each trial.")}})
	}
	shown := v.now(c, trials, running)
	if shown != nil {
		d.Sections = append(d.Sections, shown.section())
	}
	if blocks := warningsOf(trials); len(blocks) > 0 {
		d.Sections = append(d.Sections, page.Section{ID: "warnings", Title: "Warnings", Blocks: blocks})
	}
	if list := soFar(c, trials); len(list.Groups) > 0 {
		d.Sections = append(d.Sections, page.Section{ID: "far", Title: "So far", Blocks: []page.Block{
			page.Prose("about", "The main number of each step that is complete: the median of the target's trials."), list}})
	}
	return d, nil
}

// state returns how far a campaign is, and how it ended.
func (l *lives) state(e *entry, c *result.Campaign, trials []*result.Trial, running bool) []page.Block {
	done := 0
	for _, t := range c.Trials {
		if t.Status == result.Complete {
			done++
		}
	}
	if !running {
		text := fmt.Sprintf("It does not run: %d of %s complete.", done, quantity.Count(len(c.Trials), "trial"))
		if c.Stopped != "" {
			text += " " + c.Stopped
		}
		return []page.Block{page.Prose("head", text)}
	}
	where, left := l.site.Where(e.dir, c, trials)
	text := "Running: " + where
	if left > 0 {
		text += fmt.Sprintf(" · about %s left, until %s", quantity.Length(left.Round(10*time.Second)),
			time.Now().Add(left).Format("15:04"))
	}
	return []page.Block{page.Prose("head", text)}
}

// machinesOf returns what the machines of a fleet run.
func machinesOf(c *result.Campaign) page.Table {
	var rows [][]string
	for _, e := range slices.Concat(c.Trials, c.Profiled) {
		if e.Machine != "" {
			rows = append(rows, []string{e.Machine, e.Dir, quantity.Length(time.Since(e.Began).Round(time.Second))})
		}
	}
	slices.SortFunc(rows, slices.Compare)
	return page.WordTable([]string{"machine", "runs", "for"}, rows...)
}

// mostWarnings limits the warnings of a running campaign, the last ones of which are shown.
const mostWarnings = 8

// warningsOf returns the warnings so far, each with the step or the trial that it is about.
func warningsOf(trials []*result.Trial) []page.Block {
	var lines []string
	for _, t := range trials {
		add := func(where, text string) {
			lines = compare.AppendNew(lines, fmt.Sprintf("%s.%d%s: %s", t.Target, t.Trial, where, text))
		}
		if t.Reason != "" {
			add("", string(t.Status)+": "+t.Reason)
		}
		for _, w := range t.Warnings {
			add("", w.String())
		}
		for i := range t.Steps {
			if t.Steps[i].Status == result.Running {
				continue // what is said of a step that did not end
			}
			for _, w := range t.Steps[i].Warnings {
				add(", "+t.Steps[i].Name, w.String())
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	out := []page.Block{view.Texts("words", lines[max(0, len(lines)-mostWarnings):]...)}
	if len(lines) > mostWarnings {
		text := fmt.Sprintf("The last %d of %d; the report has all.", mostWarnings, len(lines))
		out = append(out, page.Prose("about", text))
	}
	return out
}

// soFar returns the medians of the main numbers of complete steps: a row per step, a column
// per target.
func soFar(c *result.Campaign, trials []*result.Trial) page.Table {
	type place struct{ step, target string }
	values := map[place][]float64{}
	var steps []string
	for _, read := range trials {
		if read.Profiled == result.ProfileExtra {
			continue // it was run for its profile alone
		}
		for i := range read.Steps {
			s := &read.Steps[i]
			rate := s.Find(metric.RowsPerS, s.Primary, "")
			if s.Status == result.Complete && s.Primary != "" && rate != nil {
				at := place{s.Name, read.Target}
				steps, values[at] = compare.AppendNew(steps, s.Name), append(values[at], rate.Value)
			}
		}
	}
	t := page.Table{Head: "step", Columns: page.Columns(targetsOf(c)...)}
	if len(steps) > 0 {
		t.Add(view.Rows(steps, view.Named, targetsOf(c), func(step, target string) page.Cell {
			return medianCell(values[place{step, target}])
		})...)
	}
	return t
}

// targetsOf returns the names of a campaign's targets, in its order.
func targetsOf(c *result.Campaign) []string {
	names := slices.Clone(c.Targets)
	for _, t := range c.Trials {
		names = compare.AppendNew(names, t.Target)
	}
	return names
}

func medianCell(v []float64) page.Cell {
	if len(v) == 0 {
		return page.Absent("")
	}
	cell := page.Cell{Text: quantity.Short(stat.Median(v)) + "/s", Number: true}
	if len(v) > 1 {
		cell.Per = quantity.Count(len(v), "trial")
	}
	return cell
}

// now returns the course of the step that runs, and those of the same step of other targets;
// of a campaign that does not run what was seen of it last. Only the trials that are drawn are
// read: the one that runs, and the last one of each other target.
func (v *live) now(c *result.Campaign, trials []*result.Trial, running bool) *liveStep {
	if !running {
		return v.seen
	}
	index := slices.IndexFunc(trials, func(t *result.Trial) bool { return t.Status == result.Running })
	if index < 0 {
		return v.seen
	}
	current := v.tail(trials[index])
	if current.err != nil || current.step == "" {
		return v.seen
	}
	out := &liveStep{embedded: trials[index].Hosting == result.Embedded, step: current.step, current: trials[index].Target,
		targets: targetsOf(c), lines: map[string]*course.Track{}}
	for _, target := range out.targets {
		for _, t := range slices.Backward(trials) {
			if t.Target != target || target == out.current || t.Status == result.Running || t.Profiled == result.ProfileExtra {
				continue
			}
			if own := v.tail(t).tracks[out.step]; own != nil {
				out.lines[target] = own
			}
			break
		}
	}
	out.lines[out.current] = current.tracks[out.step]
	v.seen = out
	return out
}

// tail returns what has been read of a trial, and reads what has been added.
func (v *live) tail(t *result.Trial) *tail {
	one := v.tails[t.Dir]
	if one == nil {
		one = newTail(t.Dir)
		v.tails[t.Dir] = one
	}
	one.read(t)
	return one
}
