package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/observe"
	"rumbench/internal/observe/pagecache"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/base"
	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// loadedData is how a trial comes by its data if the plan has them loaded once. The process that finds no
// loaded data loads them, keeps them and ends; another goes on with the trial, as all others begin: from
// a copy, with cold caches and a heap in which nothing was loaded.
type loadedData struct {
	dir  string        // where the loaded data are kept
	id   base.Identity // of the data
	base *base.Base    // nil: this process loads the data, or they are the target's own
}

// loading reports whether this process only loads the data.
func (b *loadedData) loading() bool { return b != nil && b.id != nil && b.base == nil }

// begin finds the loaded data, and takes up a trial whose other process has loaded them.
func begin(t *trial) error {
	if !t.Plan.Start.Any() || !t.measures() {
		return nil
	}
	s := t.Plan.Start
	t.loaded = &loadedData{}
	t.res.Start = &result.Start{Copy: s.Copy, Load: s.Load(t.Trial), Seed: *t.Plan.DataSeed(t.Trial)}
	if !s.Loaded() {
		if info, err := os.Stat(t.Target.Data); err == nil {
			t.res.Start.Made = info.ModTime()
		}
		return nil
	}
	t.res.Start.Loads = s.Loads
	b := t.loaded
	var err error
	if b.id, err = identity(&t.Spec, t.res.Start); err != nil {
		return err
	}
	b.dir = filepath.Join(t.Bases, b.id.Name(t.Target.Engine))
	if b.base, err = base.Open(b.dir, b.id); err != nil || b.base == nil {
		return err
	}
	t.taken = len(t.res.Steps)
	t.res.Start.Made = b.base.Made
	if s.Bases != "" && (b.base.Campaign != campaignOf(t.Dir) || b.base.Made.Before(t.Began)) { // once in this place
		t.res.Start.By = b.base.Campaign
		return nil
	}
	if b.base.Trial != filepath.Base(t.Dir) {
		return nil
	}
	t.res.Steps = b.base.Steps
	t.taken = len(t.res.Steps)
	for i := 0; i < t.taken && !t.resumed; i++ { // else the process that has loaded the data has shown them
		t.Progress(eventOf(PhaseEnd, t.res.Steps[i]))
	}
	return nil
}

// takeUp returns what the process that has loaded the trial's data has noted; nil if there was none.
func takeUp(dir string) *result.Trial {
	if t, err := result.ReadTrial(dir); err == nil && t.Pending() {
		return t
	}
	return nil
}

func campaignOf(trialDir string) string { return filepath.Dir(filepath.Dir(trialDir)) }

// identity returns what shapes the data that are loaded.
func identity(s *Spec, start *result.Start) (base.Identity, error) {
	info := engine.InfoOf(s.Engine, s.Target.Config)
	id := base.Identity{
		"rumbench": s.Version, "engine": info.Name + " " + info.Version, "workload": s.Plan.Workload,
		"target": s.Target.LoadedAs(), "seed": fmt.Sprint(start.Seed), "load": fmt.Sprint(start.Load),
		"copied after": start.Copy,
	}
	if b := s.Build; b != nil {
		id["build"] = cmp.Or(b.Revision, b.SHA256) // builds of one revision differ in the layout of their code only
		if strings.HasSuffix(b.Revision, "+") {
			id["build"] = b.SHA256
		}
	}
	if len(info.Servers) > 0 {
		p, err := serverProgram(s)
		if err != nil {
			return nil, err
		}
		id["server"] = p.Name() + " " + p.Version
		if p.Image != nil {
			id["image"] = p.Image.ID
		}
	}
	for name, value := range s.Target.Knobs {
		if !slices.Contains(plan.MachineKnobs(), name) { // they do not limit the load
			id["knob "+name] = value
		}
	}
	for name, value := range s.Plan.Params {
		if !slices.Contains(s.Plan.Later, name) {
			id["param "+name] = fmt.Sprint(value)
		}
	}
	p := s.Plan
	steps := p.Loading()
	names := quantity.Texts(steps, func(step workload.Step) string { return step.Name })
	extra := []any{names, p.Before.Step, p.After.Step}
	if slices.ContainsFunc(steps, func(step workload.Step) bool { return !step.Loads() }) {
		extra = append(extra, p.Rate, p.Find, p.Until)
	}
	text, err := json.Marshal(extra)
	id["steps"] = string(text)
	return id, err
}

// serverProgram returns the program of the target's server.
func serverProgram(s *Spec) (server.Program, error) {
	c := &s.Target.Config.Server
	return server.FindAny(context.Background(), c.Kinds(s.Engine.Info().Servers),
		server.Source{Binary: c.Binary, Image: c.Image})
}

// noteImage records the image that the server was run from, if there is one.
func noteImage(t *trial) error {
	if t.Target.Config.Server.Image == "" {
		return nil
	}
	p, err := serverProgram(&t.Spec)
	if err == nil {
		t.res.Versions = append(t.res.Versions, observe.Fact{Name: result.ImageFact, Value: p.Image.String()})
	}
	return err
}

// copyData makes the trial's data a copy, in the private directory, and readies it.
func copyData(t *trial) (err error) {
	start, began := t.res.Start, time.Now()
	reads := !slices.ContainsFunc(t.Plan.Following(), func(s workload.Step) bool { return !onlyReads(&s) })
	source := t.Target.Data
	if b := t.loaded.base; b != nil {
		source = b.Data()
		start.Cloned, err = b.CopyTo(t.data, reads)
	} else {
		start.Cloned, err = base.CopyOwn(source, t.data, reads)
	}
	if err != nil {
		return err
	}
	if err := observe.SyncDir(t.data); err != nil {
		return err
	}
	if err := pagecache.Drop(t.data); err != nil {
		return err
	}
	_ = pagecache.Drop(source) // another program may use it: then it takes memory from the trial
	t.begun = workload.CachesDropped
	start.Seconds = time.Since(began).Seconds()
	start.Bytes, err = fsize.Allocated(t.data)
	return err
}

// goOn hands the workload what the process knew that has loaded the data.
func goOn(t *trial) error {
	if t.loaded == nil || t.loaded.base == nil {
		return nil
	}
	b := t.loaded.base
	t.previous = &b.Live
	if k, ok := t.Plan.Run.(workload.Knowing); ok {
		return k.GoOn(func(into any) error { return json.Unmarshal(b.Knowledge, into) })
	}
	return nil
}

// keepLoaded keeps the data that this process has loaded, for all trials that begin from them. Data
// whose checks have failed are not kept.
func keepLoaded(t *trial) (err error) {
	invalid := func(s result.Step) bool { return s.Status == result.Invalid }
	if slices.ContainsFunc(t.res.Steps, invalid) {
		return nil
	}
	for i := range t.res.Steps {
		if t.Target.Machine.Limited() {
			t.res.Steps[i].Note("loaded with all memory and CPUs: the limits of the target hold for what follows the copy")
		}
	}
	b := &base.Base{Identity: t.loaded.id, Campaign: campaignOf(t.Dir), Trial: filepath.Base(t.Dir), Made: time.Now(),
		Steps: t.res.Steps}
	if t.previous != nil {
		b.Live = *t.previous
	}
	if k, ok := t.Plan.Run.(workload.Knowing); ok {
		if b.Knowledge, err = json.Marshal(k.Knowledge()); err != nil {
			return err
		}
	}
	if err := b.Keep(t.dir, t.loaded.dir); err != nil {
		return err
	}
	t.res.Start.Pending = true
	return nil
}

// stepsOf returns the steps of this process, in the order of the trial's block.
func stepsOf(t *trial) []workload.Step {
	switch p := t.Plan; {
	case t.loaded.loading():
		return p.Loading()
	case p.Ascending:
		return p.Following()
	default:
		return ordered(p.Following(), t.Trial)
	}
}

// copiedSeed returns the seed of copied data; nil if the trial loads its own.
func copiedSeed(t *trial) *uint64 {
	if t.res.Start == nil || t.loaded.loading() {
		return nil
	}
	return &t.res.Start.Seed
}
