package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/run/divided"
)

// observedSources are the sources on these machines.
var observedSources = []string{"host", "process", "device"}

// clusterObservers are the machines of the further servers of a cluster, as observers there count.
type clusterObservers struct {
	head      *divided.Head
	target    string
	task      divided.ObserverTask
	snapshots []divided.Snapshot // the last, of each machine
}

// collectors returns collectors of the sources of all these machines. The first of a sample asks for all.
func (e *clusterObservers) collectors(sources ...string) (out []observe.Collector) {
	for i := range e.head.Observed {
		for k, source := range sources {
			out = append(out, &remote{e, i, source, i+k == 0})
		}
	}
	return out
}

// remote is a source on another machine.
type remote struct {
	*clusterObservers
	machine int
	source  string
	first   bool
}

func (r *remote) Name() string    { return r.source }
func (r *remote) Machine() string { return r.head.Observed[r.machine] }

func (r *remote) Collect(ctx context.Context, s *engine.Sample) error {
	if r.first {
		r.snapshots = r.head.Observe(ctx, r.target, r.task)
	}
	snapshot := &r.snapshots[r.machine]
	if snapshot.Failed != "" {
		return errors.New(snapshot.Failed)
	}
	for i := range snapshot.Sources {
		found := &snapshot.Sources[i]
		switch {
		case found.Name != r.source:
		case found.Failed != "":
			return errors.New(found.Failed)
		default:
			s.Points = append(s.Points, found.Points...)
			return nil
		}
	}
	return fmt.Errorf("no %s is known there", r.source)
}

// observeCluster adds what observers count on other machines. What only this machine can count, of all that
// is measured, is left out then: it would pass for that of all servers.
func observeCluster(t *trial, collectors []observe.Collector) []observe.Collector {
	if !t.clustered() {
		return collectors
	}
	t.otherPrograms = nil
	cluster := &clusterObservers{head: t.Head, target: t.Target.Name, task: divided.CountAll}
	disks := &clusterObservers{head: t.Head, target: t.Target.Name, task: divided.CountDisks}
	t.disks.Collectors = append(t.disks.Collectors, disks.collectors("device")...)
	return append(collectors, cluster.collectors(observedSources...)...)
}

// clustered reports whether further servers run on other machines.
func (s *Spec) clustered() bool { return s.Head != nil && len(s.Head.Observed) > 0 }

// syncCluster writes everything dirty on the machines of further servers. A failure is noted.
func syncCluster(ctx context.Context, t *trial) (wait func()) {
	if !t.clustered() || t.Preflight {
		return func() {}
	}
	var group sync.WaitGroup
	group.Go(func() {
		for i, s := range t.Head.Observe(ctx, t.Target.Name, divided.SyncData) {
			if s.Failed != "" {
				t.unobserved("the costs of steps are not known, as " + t.Head.Observed[i] + " does not count: " + s.Failed)
			}
		}
	})
	return group.Wait
}

// addClusterMemory adds the memory of further servers to that of the first. If it is not known of all, it is of none.
func addClusterMemory(ctx context.Context, t *trial, w *window) {
	if !t.clustered() {
		return
	}
	for _, s := range t.Head.Observe(ctx, t.Target.Name, divided.AskMemory) {
		if w.memories = append(w.memories, s.Memory); s.Failed != "" || s.MemorySource != w.memorySource || w.memory == 0 {
			w.memory = 0
		} else {
			w.memory += s.Memory
		}
	}
}

// counts returns the changes of all sources between two snapshots: of a cluster only what is known of each
// machine, as the rest would pass for all.
func counts(t *trial, a, b observe.Snapshot) (list []observe.Change, unknown []metric.Warning) {
	list, unknown = changes(a, b)
	if !t.clustered() {
		return list, unknown
	}
	seen := map[string]map[string]bool{}
	for _, c := range list {
		if seen[c.Name] == nil {
			seen[c.Name] = map[string]bool{}
		}
		seen[c.Name][c.Machine] = true
	}
	return slices.DeleteFunc(list, func(c observe.Change) bool {
		source, _, _ := strings.Cut(c.Name, ".")
		return (slices.Contains(observedSources, source) || source == "nvme") &&
			len(seen[c.Name]) <= len(t.Head.Observed)
	}), unknown
}

// together names the machine of each source of a cluster, and adds sources of all machines together.
func together(t *trial, intervals []observe.Interval) []observe.Interval {
	if !t.clustered() {
		return intervals
	}
	var out []observe.Interval
	for i := range intervals {
		if iv := &intervals[i]; iv.Machine == "" && slices.Contains(observedSources, iv.Source) {
			out = append(out, addUp(t, iv, intervals))
			iv.Machine = t.Machine
		}
	}
	return append(intervals, out...)
}

// addUp adds up what a source of this machine and those of the others have, of which all have it.
func addUp(t *trial, interval *observe.Interval, intervals []observe.Interval) observe.Interval {
	sum := observe.Interval{Source: interval.Source, Time: interval.Time, Elapsed: interval.Elapsed, Late: interval.Late}
	for _, c := range interval.Changes {
		isKnown := func(o observe.Change) bool { return o.Name == c.Name }
		if slices.ContainsFunc(sum.Changes, isKnown) || c.Kind == engine.Gauge && c.Unit != "bytes" && c.Unit != "count" {
			continue // it is added already, or cannot be
		}
		find := account.Counter
		if c.Kind == engine.Gauge {
			find = account.Gauge
		}
		c.Value, c.Labels, c.Series = 0, "", c.Name
		machines := 0
		for i := range intervals {
			if intervals[i].Source != interval.Source {
				continue
			}
			if v, ok := find(intervals[i].Changes, c.Name); ok {
				c.Value += v
				machines++
			}
		}
		if machines > len(t.Head.Observed) {
			sum.Changes = append(sum.Changes, c)
		}
	}
	return sum
}

// serversOf returns what was counted on the machine of each server of a cluster. On machines that nobody
// observes that is only how many sessions the server was dealt.
func serversOf(t *trial, w *window) (out []account.ServerMachine) {
	if !t.clustered() {
		for i, n := range t.dealt {
			out = append(out, account.ServerMachine{Name: fmt.Sprintf("server %d", i+1), Sessions: n})
		}
		return out
	}
	inWindow, _ := changes(w.opening, w.closing)
	withSync, _ := changes(w.opening, w.drained)
	for i, name := range append([]string{t.Machine}, t.Head.Observed...) {
		machine, counted, m := name, account.Counted{}, account.ServerMachine{Name: name, Skew: millis(w.skew)}
		if i == 0 { // this one
			machine, m.Skew = "", 0
			if !w.Elsewhere {
				counted.Own = w.ended - w.began
			}
		}
		counted.InWindow, counted.WithSync = onOne(machine, inWindow), onOne(machine, withSync)
		m.Add(counted)
		if i < len(w.memories) {
			m.Memory = w.memories[i]
		}
		if i < len(t.dealt) {
			m.Sessions = t.dealt[i]
		}
		out = append(out, m)
	}
	return out
}

// onOne returns what was counted on a machine.
func onOne(machine string, counted []observe.Change) []observe.Change {
	return slices.DeleteFunc(slices.Clone(counted), func(c observe.Change) bool { return c.Machine != machine })
}

// compareServers notes settings in which the servers of a cluster differ: a result has those of the first.
func compareServers(ctx context.Context, t *trial) {
	watcher, ok := t.Engine.(engine.Watcher)
	dsns := t.Target.Config.Server.DSNs()
	if !ok || len(dsns) < 2 {
		return
	}
	var first []engine.Setting
	for i, dsn := range dsns {
		settings, err := settingsOf(ctx, watcher, dsn)
		if err != nil {
			t.unobserved(fmt.Sprintf("the settings of server %d: %v", i+1, err))
			continue
		}
		if i == 0 {
			first = settings
		}
		for _, s := range settings {
			k := slices.IndexFunc(first, func(o engine.Setting) bool { return o.Name == s.Name })
			if k >= 0 && first[k].Value != s.Value {
				t.warn(remark.ServersDiffer, metric.Values{"what": s.Name, "first": first[k].Value, "n": float64(i + 1),
					"own": s.Value})
			}
		}
	}
}

func settingsOf(ctx context.Context, w engine.Watcher, dsn string) ([]engine.Setting, error) {
	watch, err := w.Watch(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer watch.Close()
	return watch.Settings(ctx)
}
