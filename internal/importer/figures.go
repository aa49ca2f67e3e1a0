package importer

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// figure is a mean rate of the host, a device or the client's process over a run.
type figure struct {
	metric    string
	perSecond float64 // in the metric's unit
	source    string
	warnings  []string
}

const (
	undrained = "what was still to be written at the end of the run is not included: nothing was synced or measured after it"
	discards  = "this iostat does not report discards separately: before Linux 4.19 they count as writes"
)

// ioFigures returns the means of the devices' figures, summed over the devices. The
// first report is left out: without option -y it is the average since boot.
func ioFigures(s *iostat, devices []string) []figure {
	source := "iostat, device " + strings.Join(devices, " + ")
	if len(s.reports) < 2 {
		return nil
	}
	reports := s.reports[1:]
	times := make([]time.Time, len(s.reports))
	for i, r := range s.reports {
		times[i] = r.when
	}
	w := weights(times)
	mean := func(of func(*ioDevice) float64) float64 {
		var sum, all float64
		for i, r := range reports {
			for k := range r.devices {
				if slices.Contains(devices, r.devices[k].name) {
					sum += w[i] * of(&r.devices[k])
				}
			}
			all += w[i]
		}
		return sum / all
	}
	var out []figure
	add := func(metric string, c ioColumn, of func(*ioDevice) float64, warnings ...string) {
		if c.at >= 0 {
			out = append(out, figure{metric, mean(of), source, warnings})
		}
	}
	add("device_reads", s.columns.reads, func(d *ioDevice) float64 { return d.reads })
	add("read_kb", s.columns.readKB, func(d *ioDevice) float64 { return d.readKB })
	add("write_kb", s.columns.writeKB, func(d *ioDevice) float64 { return d.writeKB }, writeWarnings(s)...)
	add("discard_kb", s.columns.discardKB, func(d *ioDevice) float64 { return d.discardKB })
	return out
}

func writeWarnings(s *iostat) []string {
	if s.columns.discardKB.at < 0 {
		return []string{undrained, discards}
	}
	return []string{undrained}
}

// weights returns the lengths of the intervals after the first, from the times at
// their ends; all equal if the times are unknown.
func weights(ends []time.Time) []float64 {
	out := make([]float64, len(ends)-1)
	for i := range out {
		out[i] = ends[i+1].Sub(ends[i]).Seconds()
		if ends[i].IsZero() || out[i] <= 0 {
			for k := range out {
				out[k] = 1
			}
			return out
		}
	}
	return out
}

// wholePercents is the CPU use in percent below which the whole percents that
// vmstat prints are too coarse.
const wholePercents = 10

// vmFigures returns the means of vmstat's samples without the first, the average
// since boot. cpus is 0 if unknown; then percents cannot be converted to CPU time.
func vmFigures(v *vmstat, cpus int) []figure {
	if len(v.samples) < 2 {
		return nil
	}
	times := make([]time.Time, len(v.samples))
	for i, s := range v.samples {
		times[i] = s.when
	}
	var switches, busy, all float64
	for i, w := range weights(times) {
		switches += w * v.samples[i+1].switches
		busy += w * v.samples[i+1].busy
		all += w
	}
	switches, busy = switches/all, busy/all
	out := []figure{{"context_switches", switches, "vmstat, whole host", nil}}
	if cpus == 0 {
		return out
	}
	f := figure{"host_cpu_us", cpuTime(busy, cpus), "vmstat, whole host", nil}
	if busy < wholePercents {
		f.warnings = append(f.warnings, fmt.Sprintf("vmstat prints whole percents, and the mean is %.2g %%: it may be off by a percent of the CPUs", busy))
	}
	return append(out, f)
}

// cpuTime returns the CPU time in µs per second of a share of all CPUs in percent.
func cpuTime(percent float64, cpus int) float64 { return percent / 100 * float64(cpus) * 1e6 }

// ioBusy returns the CPU time from the CPU lines of iostat, for runs without vmstat.
func ioBusy(s *iostat, cpus int) []figure {
	if len(s.reports) < 2 || cpus == 0 {
		return nil
	}
	times := make([]time.Time, len(s.reports))
	for i, r := range s.reports {
		times[i] = r.when
	}
	var busy, all float64
	for i, w := range weights(times) {
		if s.reports[i+1].busy < 0 {
			return nil
		}
		busy += w * s.reports[i+1].busy
		all += w
	}
	return []figure{{"host_cpu_us", cpuTime(busy/all, cpus), "iostat, whole host", nil}}
}

// timeFigures returns the client's own CPU time.
func timeFigures(u *usage) []figure {
	if u.elapsed <= 0 {
		return nil
	}
	return []figure{{"client_cpu_us", u.cpu / u.elapsed * 1e6, "/usr/bin/time of the client", nil}}
}
