package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/run/divided"
)

// observeRequest is what an observer has to do, the number of the dsn of its server, from 0, and that of the process
// that asks.
type observeRequest struct {
	divided.ObserverRequest
	Gateway int   `json:"gateway"`
	Child   int64 `json:"child"`
}

// askObservers has the observers do what a head wants, and answers it.
func (d *dividedCell) askObservers(ctx context.Context, child int64, request *divided.ObserverRequest) {
	snapshots := make([]divided.Snapshot, len(d.observers))
	ctx, cancel := context.WithTimeout(ctx, request.Limit())
	defer cancel()
	var group sync.WaitGroup
	for i, m := range d.observers {
		group.Go(func() {
			if err := m.ask(ctx, opObserve, observeRequest{*request, i + 1, child}, &snapshots[i]); err != nil {
				snapshots[i] = divided.Snapshot{Failed: err.Error()}
			}
		})
	}
	group.Wait()
	d.say(loadLine{Child: child, Message: &divided.Message{Kind: divided.Observed, Request: request,
		Snapshots: snapshots}})
}

// observer is what an agent observes of a server that runs on its machine.
type observer struct {
	mu    sync.Mutex
	child int64        // the process that asks: another may find the server started again
	watch engine.Watch // nil: nothing is observed

	process *observe.Process
	sampler observe.Sampler // the machine, the processes and the device
	disks   observe.Sampler
}

// answerObserver does what a head wants to know of the server here.
func (a *agent) answerObserver(ctx context.Context, data []byte) (any, error) {
	var o observeRequest
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	ownObserver := &a.observed
	ownObserver.mu.Lock()
	defer ownObserver.mu.Unlock()
	if ownObserver.watch == nil || ownObserver.child != o.Child {
		ownObserver.end()
		if err := a.observe(ctx, o.Target, o.Gateway); err != nil {
			return nil, err
		}
		ownObserver.child = o.Child
	}
	return ownObserver.do(ctx, o.Task)
}

// observe begins to observe the server of a target.
func (a *agent) observe(ctx context.Context, target string, gateway int) error {
	for i := range a.plan.Targets {
		t := &a.plan.Targets[i]
		if dsns := t.Config.Server.DSNs(); t.Name == target && gateway < len(dsns) {
			return a.observed.begin(ctx, a.EngineOf(t.Engine), dsns[gateway])
		}
	}
	return fmt.Errorf("the plan has no target %s with %d servers", target, gateway+1)
}

func (o *observer) begin(ctx context.Context, e engine.Engine, dsn string) (err error) {
	watcher, ok := e.(engine.Watcher)
	if !ok {
		return fmt.Errorf("%s cannot be watched", e.Info().Name)
	}
	if o.watch, err = watcher.Watch(ctx, dsn); err != nil {
		return err
	}
	pids, reason := o.watch.Processes()
	if len(pids) == 0 {
		o.end()
		return fmt.Errorf("the server's processes cannot be seen: %s", reason)
	}
	o.process = observe.NewProcess("/proc", func() []int { return pids })
	o.sampler.Collectors = []observe.Collector{observe.NewHost("/proc"), o.process}
	o.disks.Collectors = []observe.Collector{observe.NewDisks("/proc", "/sys")}
	if dir := o.watch.DataDir(); dir != "" {
		if device, err := observe.FindDevice(dir); err == nil {
			o.sampler.Collectors = append(o.sampler.Collectors, observe.NewDevice(device, "/proc", "/sys"))
		}
	}
	return nil
}

// end ends the observation.
func (o *observer) end() {
	if o.watch != nil {
		_ = o.watch.Close() // it has only read
	}
	o.watch, o.process, o.sampler, o.disks = nil, nil, observe.Sampler{}, observe.Sampler{}
}

func (o *observer) do(ctx context.Context, order divided.ObserverTask) (s divided.Snapshot, err error) {
	switch order {
	case divided.CountAll:
		s.Sources = sourcesOf(o.sampler.Snapshot(ctx))
	case divided.CountDisks:
		s.Sources = sourcesOf(o.disks.Snapshot(ctx))
	case divided.AskMemory:
		s.Memory, s.MemorySource, err = o.process.Memory(ctx)
	case divided.SyncData:
		if dir := o.watch.DataDir(); dir != "" {
			err = observe.SyncDir(dir)
		}
	default:
		err = fmt.Errorf("observers do not know %q", order)
	}
	return s, err
}

func sourcesOf(s observe.Snapshot) (out []divided.Source) {
	for i := range s.Sources {
		found := &s.Sources[i]
		source := divided.Source{Name: found.Name, Points: found.Points}
		if found.Err != nil {
			source.Failed = found.Err.Error()
		}
		out = append(out, source)
	}
	return out
}
