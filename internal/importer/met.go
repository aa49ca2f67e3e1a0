package importer

import (
	"slices"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// met holds a file sb.met of the sysbench suite: the costs per operation that its
// scripts computed from iostat and vmstat.
type met struct {
	*input
	header
	values map[string]float64 // by the names of columns: r/s, rKB/o, cpu/o
	io, vm float64            // samples
}

const metTitle = "iostat, vmstat normalized by operation rate"

func isMet(head []string) bool { return len(head) > 0 && strings.TrimSpace(head[0]) == metTitle }

// readMet reads such a file: two blocks of a header and a line. It returns nil if
// the file is unusable.
func readMet(f *file, ps *hint.Problems) *met {
	m := &met{input: &input{file: f, ps: ps}, values: map[string]float64{}}
	if !usable(func() {
		m.each(m.line)
		m.lineNumber = 0
		m.refuseIf(m.values["o/s"] <= 0, "", "it has no rate of operations above 0 (o/s)")
	}) {
		return nil
	}
	return m
}

func (m *met) line(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || line == metTitle {
		return
	}
	if words[0] == "samp" {
		m.header = words
		return
	}
	m.refuseIf(len(words) != len(m.header), "", "%q: %d numbers were expected", clip(line), len(m.header))
	for i, name := range m.header {
		v, ok := positiveNumber(words[i])
		m.refuseIf(!ok, "", "%s is %q: a number was expected", name, clip(words[i]))
		switch {
		case name == "samp" && slices.Contains(m.header, "cs/s"):
			m.vm = v
		case name == "samp":
			m.io = v
		default:
			m.values[name] = v
		}
	}
}

// perSecond returns a cost per second: from the cost per operation, or, if that is
// printed as 0 and the cost per second is not, from the latter. ok is false if
// there is neither.
func (m *met) perSecond(per, second string, factor float64) (v float64, ok bool) {
	a, perOperation := m.values[per]
	b, perTime := m.values[second]
	if perOperation && (a > 0 || b == 0) {
		return a * m.values["o/s"], true
	}
	return b * factor, perTime
}

func (m *met) figures(r *run, compatible bool) (out []account.Cost) {
	add := func(name, per, second string, factor float64, warnings ...metric.Warning) {
		if compatible {
			second = "" // published tables have the printed cost
		}
		v, ok := m.perSecond(per, second, factor)
		if !ok {
			return
		}
		if v == 0 {
			warnings = append(warnings, noted("printed as 0: below the last digit"))
		}
		if name == metric.HostCPUUS {
			v = cpuTime(v, r.cpus)
		}
		out = append(out, account.Cost{Metric: name, Value: v, Source: "sb.met, as the suite's scripts computed it",
			Warnings: warnings})
	}
	add(metric.DeviceReads, "r/o", "r/s", 1)
	add(metric.ReadKB, "rKB/o", "rMB/s", 1024)
	add(metric.WriteKB, "wKB/o", "wMB/s", 1024, undrained())
	var low []metric.Warning
	if m.vm > m.io && m.io > 0 {
		low = []metric.Warning{noted("compatible: of %.0f samples of vmstat about %.0f are header lines that count "+
			"as "+
			"zeros: it is about %.1f %% too low", m.vm, m.vm-m.io, 100*(1-m.io/m.vm))}
	}
	add(metric.ContextSwitches, "cs/o", "cs/s", 1, low...)
	if _, ok := m.values["cpu/o"]; r.cpus > 0 {
		add(metric.HostCPUUS, "cpu/o", "cpu/s", 1, low...)
	} else {
		r.warnIf(ok, "%s", noCPUs)
	}
	return out
}

// lacking returns the costs that have no better source.
func (m *met) lacking(costs []account.Cost, r *run, compatible bool) []account.Cost {
	return slices.DeleteFunc(m.figures(r, compatible), func(f account.Cost) bool {
		return slices.ContainsFunc(costs, func(k account.Cost) bool { return k.Metric == f.Metric })
	})
}

const noCPUs = "no file says how many CPUs the host has: percents of all CPUs cannot be converted to CPU time; give " +
	"--cpus N"
