package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"rumbench/internal/compare/history"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// errNone is the error of an address without a page.
var errNone = errors.New("there is no such page")

// lookEvery is how often the folder is looked at for new campaigns, if anybody asks.
const lookEvery = 2 * time.Second

// store is the campaigns in a folder.
type store struct {
	dir  string
	read func(dirs ...string) (report.Input, error)

	only  string // the only campaign, by its path below the folder; "": all
	names func(rel string) string

	looking sync.Mutex // held while the folder is walked
	looked  time.Time
	mu      sync.Mutex
	all     map[string]*entry // by path below the folder, or by name
	news    chan struct{}     // there may be something to read
}

// entry is a campaign. It is not changed once it is in the store, but replaced.
type entry struct {
	rel, dir string
	stamp    string           // of campaign.json
	about    *result.Campaign // nil if it cannot be read
	problem  string
	brief    *brief // nil: not read yet
}

// brief is what the list says of a campaign that does not run.
type brief struct {
	line history.Line
	report.Brief
	problem string
}

func newStore(c Config) *store {
	return &store{dir: filepath.Clean(c.Dir), only: c.Only, read: c.Report, names: c.Names, all: map[string]*entry{},
		news: make(chan struct{}, 1)}
}

// look takes the folder as it is now, unless it has just been looked at.
func (s *store) look(again bool) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if !again && time.Since(s.looked) < lookEvery {
		return
	}
	now := map[string]*entry{}
	history.Walk(filepath.Join(s.dir, filepath.FromSlash(s.only)), func(dir string, err error) {
		e := newEntry(s.dir, dir, err)
		if s.names != nil {
			e.rel = s.names(e.rel)
		}
		if old := s.known(e.rel); old != nil && old.stamp == e.stamp {
			e = old
		} else if err == nil {
			e.open()
			if e.about != nil && s.names != nil {
				e.about.Name = e.rel
			}
		}
		now[e.rel] = e
	})
	s.looked = time.Now()
	s.mu.Lock()
	s.all = now
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *store) known(rel string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[cmp.Or(rel, ".")]
}

func newEntry(root, dir string, err error) *entry {
	e := &entry{dir: dir, rel: relativeTo(root, dir)}
	if err != nil {
		e.problem = err.Error()
		return e
	}
	e.stamp = stampOf(filepath.Join(dir, result.CampaignFile))
	return e
}

func relativeTo(root, dir string) string {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return dir
	}
	return filepath.ToSlash(rel)
}

// stampOf returns a text that changes when a file does.
func stampOf(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

func (e *entry) open() {
	c, err := result.ReadCampaign(e.dir)
	if err == nil {
		err = within(e.dir, c)
	}
	if err != nil {
		e.problem = err.Error()
		return
	}
	e.about = c
}

// within returns an error if a campaign is not all in its directory: has links, or trials
// elsewhere. They could lead to any file.
func within(dir string, c *result.Campaign) error {
	dirs := []string{dir, filepath.Join(dir, result.TrialsDir)}
	entries := append(slices.Concat(c.Trials, c.Profiled), result.Entry{Dir: c.Client})
	for _, b := range c.Builds {
		entries = append(entries, result.Entry{Dir: b.Client})
	}
	for _, t := range entries {
		if t.Dir == "" {
			continue
		}
		if t.Dir != filepath.Base(t.Dir) || !filepath.IsLocal(t.Dir) {
			return errors.New("a trial is not in its directory")
		}
		dirs = append(dirs, result.TrialPath(dir, t.Dir))
	}
	for _, d := range dirs {
		files, err := os.ReadDir(d)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, f := range files {
			if f.Type()&os.ModeSymlink != 0 {
				return fmt.Errorf("%s is a link, which is not followed", filepath.Join(d, f.Name()))
			}
		}
	}
	return nil
}

// isRunning reports whether a process runs the campaign, which is asked of those only that
// have trials to come.
func (e *entry) isRunning() bool {
	if e.about == nil {
		return false
	}
	toCome := func(t result.Entry) bool { return t.Status == "" }
	return slices.ContainsFunc(slices.Concat(e.about.Trials, e.about.Profiled), toCome) && result.IsRunning(e.dir)
}

// stampNow changes when the campaign does, which may have been since the store has looked at
// it; that of a running one every few seconds.
func (e *entry) stampNow() string {
	if result.IsRunning(e.dir) {
		return fmt.Sprint("running", time.Now().Unix()/5)
	}
	return stampOf(filepath.Join(e.dir, result.CampaignFile))
}

// stamp changes when any campaign does.
func (s *store) stamp() (text string) {
	for _, e := range s.entries() {
		text += e.rel + e.stamp
	}
	return text
}

// entries returns all campaigns, the latest first, and those that cannot be read last.
func (s *store) entries() []*entry {
	s.look(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.all), func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.started(), a.started()), cmp.Compare(a.rel, b.rel))
	})
}

func (e *entry) started() int64 {
	if e.about == nil {
		return -1
	}
	return e.about.Started.Unix()
}

// find returns the campaign at a path below the folder, nil if there is none that can be
// read. It looks at the folder only for one that it does not know as it is: readers of a
// running campaign ask often.
func (s *store) find(rel string) *entry {
	e := s.known(rel)
	if e == nil || stampOf(filepath.Join(e.dir, result.CampaignFile)) != e.stamp {
		s.look(e != nil)
		e = s.known(rel)
	}
	if e == nil || e.about == nil || within(e.dir, e.about) != nil { // as it is now
		return nil
	}
	return e
}

// idleShare is the part of a core that reading for the list may take while a campaign
// runs: 1 in idleShare.
const idleShare = 200

// keepRead reads what the list says of campaigns that do not run, the latest first, until
// the context ends. While one runs it takes time to rest.
func (s *store) keepRead(ctx context.Context) {
	for {
		began := time.Now()
		e, busy := s.next()
		if e == nil {
			select {
			case <-ctx.Done():
				return
			case <-s.news:
			}
			continue
		}
		s.set(e, s.briefOf(e))
		remaining := time.Duration(0)
		if busy {
			remaining = idleShare * time.Since(began)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(remaining):
		}
	}
}

// next returns the next campaign to read, nil if there is none, and whether one runs.
func (s *store) next() (found *entry, busy bool) {
	for _, e := range s.entries() {
		switch {
		case e.about == nil:
		case e.isRunning():
			busy = true
		case e.brief == nil && found == nil:
			found = e
		}
	}
	return found, busy
}

func (s *store) briefOf(e *entry) (b *brief) {
	b = &brief{}
	defer func() { // a file may have what no rumbench writes
		if failed := recover(); failed != nil {
			b.problem = fmt.Sprint("it cannot be read: ", failed)
		}
	}()
	in, err := s.read(e.dir)
	if err == nil {
		b.Brief, err = report.BriefOf(in)
	}
	if err != nil {
		b.problem = err.Error()
	}
	run := history.Run{Dir: e.dir, Campaign: e.about}
	for _, t := range in.Trials {
		run.Trials = append(run.Trials, history.Trial{Trial: t.Trial, Path: t.Dir})
	}
	b.line = run.Line()
	return b
}

// set replaces an entry by one with its brief, unless it has changed.
func (s *store) set(e *entry, b *brief) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[e.rel] == e {
		known := *e
		known.brief = b
		s.all[e.rel] = &known
	}
}

// unread returns how many campaigns the list does not know in full yet.
func unread(entries []*entry) (n int) {
	for _, e := range entries {
		if e.about != nil && e.brief == nil && !e.isRunning() {
			n++
		}
	}
	return n
}
