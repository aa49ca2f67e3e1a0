package trial

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
)

const (
	// littleIO, in KB, is what nobody needs to be told of.
	littleIO = 128
	// othersTolerated is the share of the device's figure that other programs
	// may have without disturbing it.
	othersTolerated = 0.05
	// unexplained is how many times what the engine's processes caused the
	// device may do before somebody has to say why, where others are unknown.
	unexplained = 1.25
)

// neighbours are other programs on the machine, looked at at the ends of a window.
type neighbours struct {
	known bool
	why   error // they are not
	observe.Traffic
}

// watchOthers makes ready to look at other programs, where there is a device
// that they could disturb and it is known which processes are the engine's.
func (t *trial) watchOthers(pids []int) {
	if t.device != nil && len(pids) > 0 {
		t.others = observe.NewOthers("/proc", "/sys", t.under, slices.Concat(pids, []int{os.Getpid()})...)
	}
}

// lookAtOthers begins to watch them; what it returns ends it.
func (t *trial) lookAtOthers() func() neighbours {
	if t.others == nil {
		return func() neighbours { return neighbours{} }
	}
	a, before := t.others.Look()
	return func() neighbours {
		b, after := t.others.Look()
		if err := cmp.Or(before, after); err != nil {
			return neighbours{why: err}
		}
		return neighbours{known: true, Traffic: b.Since(a)}
	}
}

func (n *neighbours) source() string {
	text := fmt.Sprintf("/proc/PID/io of %d other processes", n.Processes)
	if len(n.Closed) > 0 {
		text += ", without " + n.closed()
	}
	return text
}

// closed names those whose I/O is unknown.
func (n *neighbours) closed() string {
	const most = 3
	names := slices.Compact(slices.Clone(n.Closed))
	if len(names) > most {
		return fmt.Sprintf("%s and others, %d processes,", strings.Join(names[:most], ", "), len(n.Closed))
	}
	return strings.Join(names, ", ")
}

// othersHere is what other programs may have read from and written to the
// device, in KB.
func (r *rows) othersHere() (read, written float64) {
	deviceRead, _ := counterOf(r.withSync(), "device.read_bytes")
	deviceWritten, _ := counterOf(r.withSync(), "device.write_bytes")
	read, written = r.window.others.Here(deviceRead, deviceWritten)
	return read / kb, written / kb
}

// journal estimates what the device wrote for the file system's journal and its
// like: what neither the engine's processes nor other programs caused. Where the
// processes' figure is the greater one, which large folios make it, it is unknown.
func (r *rows) journal(all []cost) (c cost, ok bool) {
	device, process, n := costOf(all, "write_kb"), costOf(all, "process_write_kb"), &r.window.others
	if device == nil || process == nil || !n.known || process.value > device.value+littleIO {
		return c, false
	}
	_, others := r.othersHere()
	return cost{metric: "journal_kb", value: max(0, device.value-process.value-others),
		source: "estimate: " + device.source + " − " + process.source + " − " + n.source()}, true
}

// judgeDevice marks the figures of the device as disturbed where other programs
// have more than a little part in them, by what these did themselves: the
// journal that the engine's own syncs cause is the engine's.
func (r *rows) judgeDevice(all []cost) {
	n := &r.window.others
	if n.known {
		r.put("others_read_kb", n.Read/kb, source(n.source()))
		r.put("others_write_kb", n.Written/kb, source(n.source()))
	}
	read, written := r.othersHere()
	r.judgeTraffic(all, traffic{"wrote", "write_kb", "process_write_kb", written, []string{"write_kb", "journal_kb"}})
	r.judgeTraffic(all, traffic{"read", "read_kb", "process_read_kb", read, []string{"read_kb", "device_reads"}})
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
func (r *rows) judgeTraffic(all []cost, t traffic) {
	d, p := costOf(all, t.device), costOf(all, t.process)
	if d == nil || p == nil {
		return
	}
	// No more of theirs is in the figure than the engine leaves. Where it leaves
	// nothing, its own is too great.
	others := min(t.others, d.value)
	if rest := d.value - p.value; rest > 0 {
		others = min(others, rest)
	}
	mb := func(kilobytes float64) string { return fmt.Sprintf("%.1f MB", kilobytes/kb) }
	disturbed := others > littleIO && others > othersTolerated*d.value
	w := metric.Warn(metric.Disturbed, metric.Values{"did": t.did, "others": others / kb, "all": d.value / kb})
	if !disturbed {
		who := r.window.others.suspects()
		if who == "" || d.value <= unexplained*(p.value+others)+littleIO {
			return
		}
		w = metric.Untyped(fmt.Sprintf("the device %s %s, of which %s caused %s: the rest is the file system's journal, or of %s", t.did, mb(d.value), r.worker(), mb(p.value), who))
	}
	r.out.Warnings = append(r.out.Warnings, w)
	for _, name := range t.metrics {
		if c := costOf(all, name); c != nil {
			c.disturbed, c.doubts = disturbed, append(c.doubts, w)
		}
	}
}

// suspects are those of which it is not known what they did; "" if all is known.
func (n *neighbours) suspects() string {
	switch {
	case !n.known && n.why == nil:
		return "other programs"
	case !n.known:
		return "other programs: " + n.why.Error()
	case len(n.Closed) > 0:
		if os.Geteuid() != 0 {
			return n.closed() + ", whose I/O may not be read (run as root)"
		}
		return n.closed() + ", whose I/O may not be read"
	}
	return ""
}
