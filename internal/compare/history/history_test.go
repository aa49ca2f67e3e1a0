package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/compare/history/historytest"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// Campaigns are found wherever they lie, the oldest first; what is broken is
// shown, and comes last where its age is not known.
func TestFind(t *testing.T) {
	s := historytest.New(t)
	late, trials := historytest.Night(2)
	s.Add("a", late, trials)
	early, trials := historytest.Night(0)
	s.Add("z/deep", early, trials)
	nested, trials := historytest.Night(1)
	s.Add("a/again", nested, trials)
	s.Text("cut/campaign.json", `{"format": 2, "name": `)
	s.Text("newer/campaign.json", `{"format": 99}`)
	s.Mkdir("directory/campaign.json")
	s.Mkdir("link")
	expect.NoError(t, os.Symlink(s.Path("a/campaign.json"), s.Path("link/campaign.json")))
	if err := os.Symlink(s.Path("a"), s.Path("latest")); err != nil { // is not followed
		t.Fatal(err)
	}
	s.Text("notes.txt", "nothing of ours")
	// What is in a campaign's trials is none of the store.
	s.Text("a/trials/db.1/data/campaign.json", "a table of that name")

	var got []string
	for _, r := range runsOf(s) {
		rel, _ := filepath.Rel(s.Dir, r.Dir)
		got = append(got, strings.TrimSpace(rel+" "+string(r.Status())+" "+strings.ReplaceAll(strings.Join(r.Problems, "; "), s.Dir+"/", "")))
	}
	want := []string{
		"z/deep complete",
		"a/again complete",
		"a complete",
		"cut broken read cut/campaign.json: unexpected end of JSON input",
		"directory broken directory/campaign.json is no regular file",
		"link broken link/campaign.json is no regular file",
		"newer broken read newer/campaign.json: it has format 99, and this rumbench knows formats 2 to 3",
	}
	expect.Same(t, want, got)
}

// Roots may be links, campaigns themselves, or within each other; other things
// are errors.
func TestFindRoots(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 2)
	expect.NoError(t, os.Symlink(s.Path("night-01"), s.Path("latest")))
	for name, c := range map[string]struct {
		roots []string
		want  []string
	}{
		"a campaign":   {[]string{"night-01"}, []string{"night-01"}},
		"a link":       {[]string{"latest"}, []string{"latest"}},
		"overlapping":  {[]string{"night-01", ".", "night-01/"}, []string{"night-00", "night-01"}},
		"not in order": {[]string{"night-01", "night-00"}, []string{"night-00", "night-01"}},
	} {
		var roots, got []string
		for _, r := range c.roots {
			roots = append(roots, s.Dir+"/"+r)
		}
		runs := expect.Value(Find(roots...))(t)
		for _, r := range runs {
			got = append(got, filepath.Base(r.Dir))
			expect.Equal(t, r.CopyOf, "", "is said to be a copy of", name, r.Dir)
		}
		expect.List(t, got, c.want, name)
	}
	s.Text("file", "")
	for _, root := range []string{"nowhere", "file"} {
		runs, err := Find(s.Path(root))
		expect.True(t, err != nil, "runs and no error", root, len(runs))
	}
}

// A run that was copied is distinguished from its original, which is the first by name.
func TestCopies(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 2)
	expect.NoError(t, os.CopyFS(s.Path("before"), os.DirFS(s.Path("night-01"))))
	other, trials := historytest.Night(1, func(c *result.Campaign, _ []*result.Trial) { c.Name = "weekly" })
	s.Add("weekly", other, trials) // at the same instant, but of another plan
	copies := map[string]string{}
	for _, r := range runsOf(s) {
		copies[filepath.Base(r.Dir)] = filepath.Base(r.CopyOf)
	}
	expect.Same(t, map[string]string{"night-00": ".", "before": ".", "night-01": "before", "weekly": "."}, copies)
	f, _ := families(s, Pick{Plans: []string{"nightly"}})
	expect.Equal(t, len(f[0].Series[0].Points), 2, "points of two runs")
}

func TestStatus(t *testing.T) {
	one := func(n int, status result.Status) func(*result.Campaign, []*result.Trial) {
		return func(c *result.Campaign, trials []*result.Trial) {
			c.Trials[n].Status, trials[n].Status = status, status
		}
	}
	notBegun := func(n int) func(*result.Campaign, []*result.Trial) {
		return func(c *result.Campaign, trials []*result.Trial) { c.Trials[n].Status, trials[n] = "", nil }
	}
	lost := func(_ *result.Campaign, trials []*result.Trial) { trials[1] = nil }
	running := func(c *result.Campaign, trials []*result.Trial) {
		c.Trials[2].Status, trials[2].Status = "", result.Running
	}
	type changes = []func(*result.Campaign, []*result.Trial)
	for name, c := range map[string]struct {
		changes changes
		locked  bool // the last trial's log, as by a process that runs it
		want    result.Status
		done    int
	}{
		"complete":               {want: result.Complete, done: 3},
		"one to come":            {changes: changes{notBegun(2)}, want: result.Partial, done: 2},
		"none begun":             {changes: changes{notBegun(0), notBegun(1), notBegun(2)}, want: NotBegun},
		"ended early":            {changes: changes{one(1, result.Partial)}, want: result.Partial, done: 2},
		"failed and ended early": {changes: changes{one(0, result.Failed), one(1, result.Partial)}, want: result.Failed, done: 1},
		"invalid and failed":     {changes: changes{one(0, result.Failed), one(1, result.Invalid)}, want: result.Invalid, done: 1},
		"running":                {changes: changes{one(0, result.Failed), running}, locked: true, want: result.Running, done: 1},
		"killed":                 {changes: changes{running}, want: result.Partial, done: 2},
		"a trial is lost":        {changes: changes{lost}, want: Broken, done: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := historytest.New(t)
			campaign, trials := historytest.Night(0, c.changes...)
			s.Add("x", campaign, trials)
			if c.locked {
				f := expect.Value(result.LockLog(s.Path("x/trials/db.3")))(t)
				defer f.Close()
			}
			r := runsOf(s)[0]
			expect.True(t, r.Status() == c.want && r.Done() == c.done && r.Planned() == 3,
				r.Status(), r.Done(), "of", r.Planned(), "want", c.want, c.done, "of 3; problems", r.Problems)
		})
	}
}

// One trial that cannot be read leaves the others as they are.
func TestBrokenTrial(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 1)
	s.Text("night-00/trials/db.2/trial.json", "{}")
	r := runsOf(s)[0]
	expect.True(t, len(r.Trials) == 2 && len(r.Problems) == 1 && strings.Contains(r.Problems[0], "db.2/trial.json: it has format 0") && r.Status() == Broken, len(r.Trials), r.Status(), r.Problems)
}

func TestTargets(t *testing.T) {
	s := historytest.New(t)
	c, trials := historytest.Night(0)
	c.Trials = append(c.Trials, result.Entry{Dir: "my.1", Target: "my", Trial: 1}, result.Entry{Dir: "later.1", Target: "later", Trial: 1})
	server := historytest.NightTrial(c, 0, 1)
	server.Target, server.Engine = "my", "mysql"
	server.Versions = []observe.Fact{{Name: "mysql", Value: "driver v1.9.3"}, {Name: "server", Value: "10.11.6-MariaDB"}}
	imported := historytest.NightTrial(c, 0, 1)
	imported.Target, imported.Engine, imported.Versions = "old", "rocksdb", []observe.Fact{{Name: "client", Value: "db_bench"}, {Name: "engine", Value: "5.18"}}
	c.Trials = append(c.Trials[:4:4], result.Entry{Dir: "old.1", Target: "old", Trial: 1}, c.Trials[4])
	s.Add("x", c, append(trials, server, imported))
	want := []Target{{"db", "pebble", "v2.1.7"}, {"my", "mysql", "10.11.6-MariaDB"}, {"old", "rocksdb", "5.18"}, {"later", "", ""}}
	expect.Same(t, want, runsOf(s)[0].Targets())
}

func runsOf(s *historytest.Store) []*Run {
	s.Helper()
	runs := expect.Value(Find(s.Dir))(s)
	return runs
}

// families are the families of all runs, searched for changes.
func families(s *historytest.Store, pick Pick) ([]*Family, int) {
	s.Helper()
	f := Families(runsOf(s), pick)
	return f, Detect(f)
}

// Of many campaigns those that were written last are read.
func TestNewest(t *testing.T) {
	s := historytest.New(t)
	s.Nights(0, 5)
	for i, name := range []string{"night-03", "night-00", "night-02", "night-01", "night-04"} {
		at := time.Unix(int64(1000+i), 0)
		expect.NoError(t, os.Chtimes(filepath.Join(s.Dir, name, result.CampaignFile), at, at))
	}
	runs, left, err := Newest(2, s.Dir)
	expect.Must(t, err == nil && left == 3 && len(runs) == 2, err, left, len(runs))
	expect.Equal(t, filepath.Base(runs[0].Dir)+" "+filepath.Base(runs[1].Dir), "night-01 night-04")
	all, left, err := Newest(5, s.Dir)
	expect.True(t, err == nil && left == 0 && len(all) == 5, err, left, len(all))
}
