package importer

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// The compatible arithmetic is that of the scripts behind published figures; docs/import.md has its differences.

// compatibleIOFigures returns plain means over all lines that contain the name.
func compatibleIOFigures(s *iostat, name string) []account.Cost {
	var sums [ioFigureCount]float64
	var devices []string
	n := 0.0
	err := s.read(func(_ int, line string, _ bool) bool {
		if strings.Contains(line, name) {
			words := strings.Fields(line)
			for i, at := range s.columns.at {
				sums[i] += leading(words, at) * s.columns.scale(i)
			}
			n++
			if !slices.Contains(devices, words[0]) {
				devices = append(devices, words[0])
			}
		}
		return true
	})
	if err != nil || n == 0 || s.columns.at[ioReads] < 0 || s.human || s.columns.device > 0 {
		return nil
	}
	var warnings []metric.Warning
	if len(devices) > 1 {
		warnings = []metric.Warning{remark("the mean of one of %s, not their sum", strings.Join(devices, ", "))}
	}
	source := "iostat, compatible, lines with " + name
	return []account.Cost{
		{Metric: metric.DeviceReads, Value: sums[ioReads] / n, Source: source, Warnings: warnings},
		{Metric: metric.ReadKB, Value: sums[ioReadKB] / n, Source: source, Warnings: warnings},
		{Metric: metric.WriteKB, Value: sums[ioWriteKB] / n, Source: source,
			Warnings: append(slices.Clone(warnings), s.writeWarnings()...)},
	}
}

// leading returns the number that a word begins with; 0 if there is none, or no word.
func leading(words []string, at int) float64 {
	if at < 0 || at >= len(words) {
		return 0
	}
	for n := len(words[at]); n > 0; n-- {
		if v, ok := number(words[at][:n]); ok {
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
	var switches, busy, n float64
	headers, kept := 0, 0
	err := v.read(func(_ int, line string, _ bool) bool {
		if strings.Contains(line, "swpd") {
			return true
		}
		if kept++; kept > 1 {
			words := strings.Fields(line)
			if len(words) <= syField {
				headers++
			}
			switches += leading(words, csField)
			busy += leading(words, usField) + leading(words, syField)
			n++
		}
		return true
	})
	if err != nil || n == 0 {
		return nil
	}
	out := []account.Cost{{Metric: metric.ContextSwitches, Value: switches / n},
		{Metric: hostCPU, Value: cpuTime(busy/n, cpus)}}
	correct := vmFigures(v, max(cpus, 1))
	for i := range out {
		text := fmt.Sprintf("compatible: of %.0f samples one is the average since boot and %d are header lines that "+
			"count "+
			"as zeros", n, headers)
		if i < len(correct) && correct[i].Value > 0 {
			text += fmt.Sprintf("; it is %+.1f %% off", 100*(out[i].Value/correct[i].Value-1))
		}
		out[i].Source, out[i].Warnings = "vmstat, compatible, whole host", []metric.Warning{remark("%s", text)}
	}
	if cpus == 0 {
		return out[:1]
	}
	return out
}
