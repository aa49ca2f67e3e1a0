package importer

import (
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// Figures are costs per second: mean rates of the host, a device or the client's
// process over a run.

// undrained returns the warning that applies to all figures of writes.
func undrained() metric.Warning {
	return remark("what was still to be written at the end of the run is not included: nothing was synced or " +
		"measured " +
		"after it")
}

// ioFigures returns the means of the devices' figures, summed over the devices.
func ioFigures(s *iostat, devices []string) []account.Cost {
	if len(s.reports) < 2 {
		return nil
	}
	source := "iostat, device " + strings.Join(devices, " + ")
	var out []account.Cost
	for i, name := range [ioFigureCount]string{ioReads: metric.DeviceReads, ioReadKB: metric.ReadKB,
		ioWriteKB: metric.WriteKB, ioDiscardKB: metric.DiscardKB} {
		if s.columns.at[i] < 0 || name == "" {
			continue
		}
		f := account.Cost{Metric: name, Source: source}
		f.Value = mean(s.reports, func(r *ioReport) (values []float64) {
			for _, d := range r.devices {
				if slices.Contains(devices, d.name) {
					values = append(values, d.values[i])
				}
			}
			if len(values) == 0 && !s.zeros { // option -z leaves idle devices out
				values = []float64{0}
			}
			return values
		})
		if i == ioWriteKB {
			f.Warnings = s.writeWarnings()
		}
		if s.human {
			f.Warnings = append(f.Warnings, remark("iostat -h prints two or three digits"))
		}
		out = append(out, f)
	}
	return out
}

func (s *iostat) writeWarnings() []metric.Warning {
	if s.columns.at[ioDiscardKB] < 0 {
		return []metric.Warning{undrained(),
			remark("this iostat does not report discards separately: before Linux 4.19 they count as writes")}
	}
	return []metric.Warning{undrained()}
}

// mean returns the mean over the samples' intervals of the sums of their values. The
// first sample is left out: it is the average since boot, for iostat without option
// -y. The intervals count alike if their times are unknown.
func mean[S any, P interface {
	*S
	end() time.Time
}](samples []S, values func(P) []float64) float64 {
	lengths := make([]float64, len(samples))
	for i := 1; i < len(samples); i++ {
		start := P(&samples[i-1]).end()
		lengths[i] = P(&samples[i]).end().Sub(start).Seconds()
		if start.IsZero() || lengths[i] <= 0 {
			lengths = slices.Repeat([]float64{1}, len(samples))
			break
		}
	}
	var sum, all float64
	for i := 1; i < len(samples); i++ {
		found := values(&samples[i])
		for _, v := range found {
			sum += lengths[i] * v
		}
		if len(found) > 0 {
			all += lengths[i]
		}
	}
	return sum / all
}

func (r *ioReport) end() time.Time { return r.when }
func (s *vmSample) end() time.Time { return s.when }

// wholePercents is the CPU use in percent below which the whole percents that
// vmstat prints are too coarse.
const wholePercents = 10

// vmFigures returns the means of vmstat's samples. cpus is 0 if unknown; then
// percents cannot be converted to CPU time.
func vmFigures(v *vmstat, cpus int) []account.Cost {
	if len(v.samples) < 2 {
		return nil
	}
	switches := mean(v.samples, func(s *vmSample) []float64 { return []float64{s.switches} })
	busy := mean(v.samples, func(s *vmSample) []float64 { return []float64{s.busy} })
	out := []account.Cost{{Metric: metric.ContextSwitches, Value: switches, Source: "vmstat, whole host"}}
	if cpus == 0 {
		return out
	}
	f := account.Cost{Metric: hostCPU, Value: cpuTime(busy, cpus), Source: "vmstat, whole host"}
	if busy < wholePercents {
		f.Warnings = append(f.Warnings,
			remark("vmstat prints whole percents, and the mean is %.2g %%: it may be off by a percent of the CPUs",
				busy))
	}
	return append(out, f)
}

// hostCPU is the metric of the CPU time of the whole host.
const hostCPU = metric.HostCPUUS

// cpuTime returns the CPU time in µs per second of a share of all CPUs in percent.
func cpuTime(percent float64, cpus int) float64 {
	return account.MicrosOfSeconds(percent / 100 * float64(cpus))
}

// ioBusy returns the CPU time from the CPU lines of iostat, for runs without vmstat.
func ioBusy(s *iostat, cpus int) []account.Cost {
	if len(s.reports) < 2 || cpus == 0 || slices.ContainsFunc(s.reports[1:],
		func(r ioReport) bool { return r.busy < 0 }) {
		return nil
	}
	busy := mean(s.reports, func(r *ioReport) []float64 { return []float64{r.busy} })
	return []account.Cost{{Metric: hostCPU, Value: cpuTime(busy, cpus), Source: "iostat, whole host"}}
}
