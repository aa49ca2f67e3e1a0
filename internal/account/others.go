package account

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

const (
	littleIO = metric.LittleIO
	// othersTolerated is the share of the device's figure that other programs may
	// cause without disturbing it.
	othersTolerated = 0.05
	// unexplained is the ratio of the device's figure to the engine's
	// processes' figure. Above it the device is disturbed if others are
	// unknown.
	unexplained = 1.25
)

// The host's CPU time may exceed the processes' by the kernel's share, and is
// measured in ticks.
const (
	tickError  = 1.25
	littleWork = 0.1 // processors
)

func (o *Others) source() string {
	text := fmt.Sprintf("/proc/PID/io of %d other processes", o.Processes)
	if len(o.Closed) > 0 {
		text += ", without " + o.closed()
	}
	return text
}

// closed names the programs whose I/O is unknown.
func (o *Others) closed() string {
	const limit = 3
	names := slices.Compact(slices.Clone(o.Closed))
	if len(names) > limit {
		return fmt.Sprintf("%s and others, %d processes,", strings.Join(names[:limit], ", "), len(o.Closed))
	}
	return strings.Join(names, ", ")
}

// suspects names the programs whose I/O is unknown; "" if there are none.
func (o *Others) suspects() string {
	switch {
	case !o.Known && o.Why == nil:
		return "other programs"
	case !o.Known:
		return "other programs: " + o.Why.Error()
	case len(o.Closed) > 0 && o.Root:
		return o.closed() + ", whose I/O may not be read"
	case len(o.Closed) > 0:
		return o.closed() + ", whose I/O may not be read (run as root)"
	}
	return ""
}

// judgeSources marks figures of the device that other programs disturbed, and
// returns warnings for rates and latencies if they used the processors.
func (s *costing) judgeSources() []metric.Warning {
	s.judgeDevice()
	return s.judgeProcessors()
}

// judgeDevice marks the figures of the device as disturbed if other programs
// caused more than a small part of them. Only their own I/O counts: the journal
// writes of the engine's syncs belong to the engine.
func (s *costing) judgeDevice() {
	o := &s.Others
	if o.Known && !s.Duet {
		s.Put(metric.OthersReadKB, o.Read/kb, Source(o.source()))
		s.Put(metric.OthersWriteKB, o.Written/kb, Source(o.source()))
	}
	s.judgeTraffic(traffic{"wrote", metric.WriteKB, metric.ProcessWriteKB, o.HereWritten / kb,
		[]string{metric.WriteKB, metric.JournalKB, metric.MediaWriteKB}})
	s.judgeTraffic(traffic{"read", metric.ReadKB, metric.ProcessReadKB, o.HereRead / kb,
		[]string{metric.ReadKB, metric.DeviceReads}})
}

// exceeds reports whether processes' I/O is more than the disks did in all.
func exceeds(processes, disks float64) bool { return processes > disks*(1+othersTolerated)+littleIO*kb }

// possible leaves out the processes' reads or writes if the disks did less: the kernel
// counts a whole large folio when a part of it becomes dirty. It does so for all processes, and
// which of their figures is wrong is unknown.
func (s *Step) possible(f figures) figures {
	for i, t := range []traffic{{verb: "read", process: metric.ProcessReadKB, others: s.Others.Read},
		{verb: "wrote", process: metric.ProcessWriteKB, others: max(0, s.Others.Written-s.Others.Dirty)}} {
		cost := find(f, t.process)
		if cost == nil || cost.Value == 0 || s.Disks == nil {
			continue
		}
		total, values := cost.Value*kb, metric.Values{"did": t.verb, "worker": s.worker(), "own": cost.Value / kb,
			"all": s.Disks[i] / mb}
		if s.Others.Known && t.others > 0 && (s.Duet || t.verb == "wrote") {
			total, values["others"] = total+t.others, t.others/mb
		}
		if exceeds(total, s.Disks[i]) {
			s.Warn(remark.ImpossibleIO, values)
			f = slices.DeleteFunc(f, func(c Cost) bool { return c.Metric == t.process })
		}
	}
	return f
}

// traffic is one direction of a device's I/O.
type traffic struct {
	verb            string // "wrote"
	device, process string // metrics
	others          float64
	metrics         []string // that include it
}

// judgeTraffic compares the device's reads or writes, in KB, with those that
// the engine's processes and others caused.
func (s *costing) judgeTraffic(t traffic) {
	d, p := find(s.costs, t.device), find(s.costs, t.process)
	withheld := p == nil && (s.Of.Restart != nil || metric.Has(s.Warnings, remark.ImpossibleIO))
	if d == nil || p == nil && !withheld {
		return
	}
	if withheld {
		p = &Cost{} // it is unknown, or impossible: all that others did may be in the device's
	}
	// The others' part of the figure is at most the remainder after the
	// engine's. If nothing remains, the engine's own figure is too great.
	foreign := min(t.others, d.Value)
	if remainder := d.Value - p.Value; remainder > 0 {
		foreign = min(foreign, remainder)
	}
	var w metric.Warning
	if foreign > littleIO && foreign > othersTolerated*d.Value {
		w = s.Warn(remark.Disturbed, metric.Values{"did": t.verb, "others": foreign / kb, "all": d.Value / kb})
	} else {
		who := s.Others.suspects()
		if who == "" || withheld || d.Value <= unexplained*(p.Value+foreign)+littleIO {
			return
		}
		w = s.Warn(remark.UnexplainedIO,
			metric.Values{"did": t.verb, "all": d.Value / kb, "worker": s.worker(), "own": p.Value / kb, "others": who})
	}
	for _, name := range t.metrics {
		if c := find(s.costs, name); c != nil {
			c.Warnings = append(c.Warnings, w)
		}
	}
}

// judgeProcessors warns of CPU time used by programs other than the engine, the
// client and the kernel's threads, and adds the share used by these three.
func (s *costing) judgeProcessors() []metric.Warning {
	host, ok := Counter(s.InWindow, "host.cpu.busy_ns")
	server, client := find(s.costs, metric.ServerCPUUS), find(s.costs, metric.ClientCPUUS)
	if !ok || host <= 0 || server == nil || s.Seconds < shortWindow {
		return nil
	}
	host /= perMicro
	ours, used := server.Value, metric.Values{"all": host / 1e6, "worker": s.worker(), "server": server.Value / 1e6}
	if client != nil && s.Remote == nil {
		ours += client.Value
		name := "client"
		if s.Load != nil {
			name = "load"
		}
		used[name] = client.Value / 1e6
	}
	if kernel, ok := Counter(s.InWindow, "host.cpu.kernel_threads_ns"); ok {
		ours += kernel / perMicro
		used["kernel"] = kernel / 1e9
	}
	s.Put(metric.CPUAccounted, ours/host, Source("processes ÷ host"))
	if host <= tickError*ours+littleWork*s.Seconds*1e6 {
		return nil
	}
	idle, _ := Counter(s.InWindow, "host.cpu.idle_ns")
	waiting, _ := Counter(s.InWindow, "host.cpu.iowait_ns")
	used["share"] = 100 * (host - ours) / (host + (idle+waiting)/perMicro)
	return []metric.Warning{s.Warn(remark.ProcessorsShared, used)}
}
