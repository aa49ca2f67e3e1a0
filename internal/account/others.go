package account

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
)

const (
	// littleIO, in KB, is what nobody needs to know of.
	littleIO = 128
	// othersTolerated is the share of the device's figure that other programs
	// may have without disturbing it.
	othersTolerated = 0.05
	// unexplained is how many times what the engine's processes caused the
	// device may do before that has to be explained, where others are unknown.
	unexplained = 1.25
)

// What the host computed may exceed what the process did by the kernel's share,
// and is measured by ticks.
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

// closed names those whose I/O is unknown.
func (o *Others) closed() string {
	const most = 3
	names := slices.Compact(slices.Clone(o.Closed))
	if len(names) > most {
		return fmt.Sprintf("%s and others, %d processes,", strings.Join(names[:most], ", "), len(o.Closed))
	}
	return strings.Join(names, ", ")
}

// suspects are those of which it is not known what they did; "" if all is known.
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

// judgeSources marks what other programs did to the figures of the device, and
// warns when they took part of the processors: what it returns is for rates and
// latencies.
func (s *costing) judgeSources() []metric.Warning {
	s.judgeDevice()
	return s.judgeProcessors()
}

// judgeDevice marks the figures of the device as disturbed where other programs
// have more than a little part in them, by what these did themselves: the
// journal that the engine's own syncs cause is the engine's.
func (s *costing) judgeDevice() {
	o := &s.Others
	if o.Known {
		s.Put("others_read_kb", o.Read/kb, Source(o.source()))
		s.Put("others_write_kb", o.Written/kb, Source(o.source()))
	}
	s.judgeTraffic(traffic{"wrote", "write_kb", "process_write_kb", o.HereWritten / kb, []string{"write_kb", "journal_kb"}})
	s.judgeTraffic(traffic{"read", "read_kb", "process_read_kb", o.HereRead / kb, []string{"read_kb", "device_reads"}})
}

// traffic is one direction of what a device does.
type traffic struct {
	did             string // "wrote"
	device, process string // metrics
	others          float64
	metrics         []string // that it is in
}

// judgeTraffic judges what the device read or wrote, in KB, by what the engine's
// processes and others caused.
func (s *costing) judgeTraffic(t traffic) {
	d, p := find(s.all, t.device), find(s.all, t.process)
	if d == nil || p == nil {
		return
	}
	// No more of theirs is in the figure than the engine leaves. Where it leaves
	// nothing, its own is too great.
	others := min(t.others, d.Value)
	if rest := d.Value - p.Value; rest > 0 {
		others = min(others, rest)
	}
	var w metric.Warning
	if others > littleIO && others > othersTolerated*d.Value {
		w = s.Warn(metric.Disturbed, metric.Values{"did": t.did, "others": others / kb, "all": d.Value / kb})
	} else {
		who := s.Others.suspects()
		if who == "" || d.Value <= unexplained*(p.Value+others)+littleIO {
			return
		}
		w = s.Warn(metric.UnexplainedIO, metric.Values{"did": t.did, "all": d.Value / kb, "worker": s.worker(), "own": p.Value / kb, "others": who})
	}
	for _, name := range t.metrics {
		if c := find(s.all, name); c != nil {
			c.Warnings = append(c.Warnings, w)
		}
	}
}

// judgeProcessors warns of CPU time that neither the engine nor the client nor the
// kernel's threads used. How much of the machine's is theirs is a figure of its own.
func (s *costing) judgeProcessors() []metric.Warning {
	host, ok := Counter(s.InWindow, "host.cpu.busy_ns")
	server, client := find(s.all, "server_cpu_us"), find(s.all, "client_cpu_us")
	if !ok || host <= 0 || server == nil || s.Seconds < shortWindow {
		return nil
	}
	host /= perMicro
	ours, used := server.Value, metric.Values{"all": host / 1e6, "worker": s.worker(), "server": server.Value / 1e6}
	if client != nil {
		ours += client.Value
		used["client"] = client.Value / 1e6
	}
	if kernel, ok := Counter(s.InWindow, "host.cpu.kernel_threads_ns"); ok {
		ours += kernel / perMicro
		used["kernel"] = kernel / 1e9
	}
	s.Put("cpu_accounted", ours/host, Source("processes ÷ host"))
	if host <= tickError*ours+littleWork*s.Seconds*1e6 {
		return nil
	}
	return []metric.Warning{s.Warn(metric.ProcessorsShared, used)}
}
