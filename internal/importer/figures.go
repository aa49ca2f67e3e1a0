package importer

import (
	"fmt"
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
	return noted("what was still to be written at the end of the run is not included: nothing was synced or " +
		"measured " +
		"after it")
}

// ioFigures returns the means of the devices' figures, summed over the devices.
func ioFigures(s *iostat, devices []string) (out []account.Cost) {
	for i, name := range [ioFigureCount]string{ioReads: metric.DeviceReads, ioReadKB: metric.ReadKB,
		ioWriteKB: metric.WriteKB, ioDiscardKB: metric.DiscardKB} {
		if s.columns.positions[i] < 0 || name == "" {
			continue
		}
		f := account.Cost{Metric: name, Source: "iostat, device " + strings.Join(devices, " + ")}
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
			f.Warnings = append(f.Warnings, noted("iostat -h prints two or three digits"))
		}
		out = append(out, f)
	}
	return out
}

func (s *iostat) writeWarnings() []metric.Warning {
	if s.columns.positions[ioDiscardKB] < 0 {
		return []metric.Warning{undrained(),
			noted("this iostat does not report discards separately: before Linux 4.19 they count as writes")}
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
	var sum, weights float64
	for i := 1; i < len(samples); i++ {
		found := values(&samples[i])
		for _, v := range found {
			sum += lengths[i] * v
		}
		if len(found) > 0 {
			weights += lengths[i]
		}
	}
	return sum / weights
}

func (r *ioReport) end() time.Time { return r.when }
func (s *vmSample) end() time.Time { return s.when }

// wholePercents is the CPU use in percent below which the whole percents that
// vmstat prints are too coarse.
const wholePercents = 10

// vmFigures returns the means of vmstat's samples. cpus is 0 if unknown; then
// percents cannot be converted to CPU time.
func vmFigures(v *vmstat, cpus int) []account.Cost {
	switches := mean(v.samples, func(s *vmSample) []float64 { return []float64{s.switches} })
	busy := mean(v.samples, func(s *vmSample) []float64 { return []float64{s.busy} })
	out := hostFigures(switches, busy, cpus, "vmstat, whole host")
	if busy < wholePercents && cpus > 0 {
		out[1].Warnings = []metric.Warning{noted("vmstat prints whole percents, and the mean is %.2g %%: "+
			"it may be off by a percent of the CPUs", busy)}
	}
	return out
}

// hostFigures returns context switches and, if the number of CPUs is known, the CPU time.
func hostFigures(switches, busy float64, cpus int, source string) []account.Cost {
	out := []account.Cost{{Metric: metric.ContextSwitches, Value: switches, Source: source},
		{Metric: metric.HostCPUUS, Value: cpuTime(busy, cpus), Source: source}}
	return out[:1+min(cpus, 1)]
}

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
	return []account.Cost{{Metric: metric.HostCPUUS, Value: cpuTime(busy, cpus), Source: "iostat, whole host"}}
}

// The compatible arithmetic is that of the scripts behind published figures; docs/import.md has its differences.

// compatibleIOFigures returns plain means over all lines that contain the name.
func compatibleIOFigures(s *iostat, name string) []account.Cost {
	var sums [ioFigureCount]float64
	var devices []string
	n := 0.0
	err := s.read(func(_ int, line string, _ bool) bool {
		if !strings.Contains(line, name) {
			return true
		}
		words := strings.Fields(line)
		for i, position := range s.columns.positions {
			sums[i] += leading(words, position) * s.columns.scale(i)
		}
		if n++; !slices.Contains(devices, words[0]) {
			devices = append(devices, words[0])
		}
		return true
	})
	if err != nil || n == 0 || s.columns.positions[ioReads] < 0 || s.human || s.columns.device > 0 {
		return nil
	}
	var warnings []metric.Warning
	if len(devices) > 1 {
		warnings = []metric.Warning{noted("the mean of one of %s, not their sum", strings.Join(devices, ", "))}
	}
	source := "iostat, compatible, lines with " + name
	cost := func(name string, figure int, warned ...metric.Warning) account.Cost {
		return account.Cost{Metric: name, Value: sums[figure] / n, Source: source,
			Warnings: append(slices.Clone(warnings), warned...)}
	}
	return []account.Cost{cost(metric.DeviceReads, ioReads), cost(metric.ReadKB, ioReadKB),
		cost(metric.WriteKB, ioWriteKB, s.writeWarnings()...)}
}

// leading returns the number that a word begins with; 0 if there is none, or no word.
func leading(words []string, position int) float64 {
	if position < 0 || position >= len(words) {
		return 0
	}
	for n := len(words[position]); n > 0; n-- {
		if v, ok := number(words[position][:n]); ok {
			return v
		}
	}
	return 0
}

// The columns cs, us and sy of vmstat, from 0.
const (
	csField = 11
	usField = 12
	syField = 13
)

// compatibleVMFigures returns plain means over the lines that the scripts treat as
// samples.
func compatibleVMFigures(v *vmstat, cpus int) []account.Cost {
	var switches, busy float64
	lines, headers := 0, 0
	err := v.read(func(_ int, line string, _ bool) bool {
		if strings.Contains(line, "swpd") {
			return true
		}
		if lines++; lines > 1 {
			words := strings.Fields(line)
			if len(words) <= syField {
				headers++
			}
			switches += leading(words, csField)
			busy += leading(words, usField) + leading(words, syField)
		}
		return true
	})
	n := float64(lines - 1)
	if err != nil || n < 1 {
		return nil
	}
	out := hostFigures(switches/n, busy/n, cpus, "vmstat, compatible, whole host")
	correct := vmFigures(v, cpus)
	for i := range out {
		text := fmt.Sprintf("compatible: of %.0f samples one is the average since boot and %d are header lines that "+
			"count "+
			"as zeros", n, headers)
		if i < len(correct) && correct[i].Value > 0 {
			text += fmt.Sprintf("; it is %+.1f %% off", 100*(out[i].Value/correct[i].Value-1))
		}
		out[i].Warnings = []metric.Warning{noted("%s", text)}
	}
	return out
}
