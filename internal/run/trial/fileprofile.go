package trial

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// ownFiles returns the directories of the engine's files, as the kernel names them, and
// the purposes of the files; no directories if they are unknown.
func ownFiles(t *trial) (dirs []string, uses engine.FileUses, err error) {
	dir := cmp.Or(t.dir, t.data)
	if dir == "" {
		return nil, nil, nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err == nil {
		dir, err = filepath.Abs(dir)
	}
	return []string{dir}, engine.InfoOf(t.Engine, t.Target.Config).Files, err
}

// fileTracer is the collector of the reads and writes of files.
type fileTracer struct{ tracer *blockio.Tracer }

func traceFiles(t *trial) (collector, error) {
	dirs, uses, err := ownFiles(t)
	if err != nil || dirs == nil || !t.Plan.Profile.Files || t.Profiled != result.ProfileExtra {
		return nil, err
	}
	tracer, err := blockio.Start(blockio.Config{Dirs: dirs, Uses: uses, PIDs: t.processes(t.hosted)})
	if err != nil {
		return nil, err
	}
	return &fileTracer{tracer}, nil
}

// end does nothing: the window's writes include those of the sync after it.
func (*fileTracer) end() error { return nil }

// save writes the reads and writes between the two readings of the device's
// counters that the step's costs are based on.
func (c *fileTracer) save(t *stepRun, stepProfile *result.StepProfile) error {
	r, err := c.tracer.Stop()
	if err != nil {
		return err
	}
	start, end, err := between(t.window.opening, t.window.drained, "device")
	if err != nil {
		return err
	}
	f := r.Cut(start, end)
	if err := f.Check(); err != nil {
		return err
	}
	counted, _ := changes(t.window.opening, t.window.drained)
	for op, name := range map[blockio.Op]string{blockio.Read: "device.read_bytes", blockio.Write: "device.write_bytes"} {
		if n, found := account.Counter(counted, name); found {
			if err := f.Agrees(op, n/1024); err != nil {
				stepProfile.Warnings = append(stepProfile.Warnings,
					metric.Warn(remark.NotObserved, metric.Values{"what": "files: " + err.Error()}))
			}
		}
	}
	return t.saveProfile(result.FilesProfile, func(w io.Writer) error { return result.WriteLines(w, f, f.Rows) })
}

// threadLooker is the collector of where threads sleep.
type threadLooker struct{ looker *profile.Looker }

func lookAtThreads(t *trial) (collector, error) {
	dirs, uses, err := ownFiles(t)
	pids := t.processes(t.hosted)
	if err != nil || len(pids) == 0 || t.Plan.Profile.Threads == 0 || t.Profiled != result.ProfileExtra {
		return nil, err
	}
	l, err := profile.Look(t.Plan.Profile.Threads, pids, dirs, uses)
	if err != nil {
		return nil, err
	}
	return &threadLooker{l}, nil
}

func (c *threadLooker) end() error {
	c.looker.Stop()
	return nil
}

func (c *threadLooker) save(t *stepRun, _ *result.StepProfile) error {
	start, end, err := t.window.accounted()
	if err != nil {
		return err
	}
	a := c.looker.Cut(start, end)
	if a.Looks == 0 {
		return fmt.Errorf("the window of %v has no look", a.Window)
	}
	return t.saveProfile(result.ThreadsProfile, func(w io.Writer) error { return result.WriteLines(w, a, a.Sleeps) })
}
