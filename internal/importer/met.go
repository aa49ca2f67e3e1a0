package importer

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// met is what a file sb.met of the sysbench suite says: the costs per operation
// that its scripts computed of iostat and vmstat.
type met struct {
	values  map[string]float64 // by the names of columns: r/s, rKB/o, cpu/o
	io, vm  float64            // samples
	problem string
}

const metTitle = "iostat, vmstat normalized by operation rate"

func isMet(head []string) bool { return len(head) > 0 && strings.TrimSpace(head[0]) == metTitle }

// readMet reads such a file: two blocks of a header and a line. nil: it is of
// no use.
func readMet(f *file, ps *Problems) *met {
	m := &met{values: map[string]float64{}}
	var header []string
	good := f.each(ps, func(n int, line string, _ bool) bool {
		words := strings.Fields(line)
		switch {
		case len(words) == 0, line == metTitle:
		case words[0] == "samp":
			header = words
		case len(words) != len(header):
			m.problem = fmt.Sprintf("%q: %d numbers were expected", clip(line), len(header))
		default:
			m.add(header, words)
		}
		if m.problem != "" {
			ps.add(f.path, n, "", "%s", m.problem)
		}
		return m.problem == ""
	})
	if !good || m.problem != "" {
		return nil
	}
	if m.values["o/s"] <= 0 {
		ps.add(f.path, 0, "", "it has no rate of operations above 0 (o/s)")
		return nil
	}
	return m
}

func (m *met) add(header, words []string) {
	for i, name := range header {
		v, ok := positive(words[i])
		switch {
		case !ok:
			m.problem = fmt.Sprintf("%s is %q: a number was expected", name, clip(words[i]))
		case name == "samp" && slices.Contains(header, "cs/s"):
			m.vm = v
		case name == "samp":
			m.io = v
		default:
			m.values[name] = v
		}
	}
}

// perSecond is a cost a second: of the one per operation, or, where that is
// printed as 0 and the one a second is not, of that. ok is false where neither
// is there.
func (m *met) perSecond(per, second string, factor float64) (v float64, ok bool) {
	a, has := m.values[per]
	b, also := m.values[second]
	if has && (a > 0 || b == 0) {
		return a * m.values["o/s"], true
	}
	return b * factor, also
}

// figures are the costs a second.
func (m *met) figures(r *run, compatible bool) (out []figure) {
	const from = "sb.met, as the suite's scripts computed it"
	add := func(metric, per, second string, factor float64, doubts ...string) {
		if compatible {
			second = "" // published tables have what is printed
		}
		if v, ok := m.perSecond(per, second, factor); ok {
			if v == 0 {
				doubts = append(doubts, "printed as 0: below the last digit")
			}
			out = append(out, figure{metric, v, from, doubts})
		}
	}
	add("device_reads", "r/o", "r/s", 1)
	add("read_kb", "rKB/o", "rMB/s", 1024)
	add("write_kb", "wKB/o", "wMB/s", 1024, undrained)
	var low []string
	if m.vm > m.io && m.io > 0 {
		low = []string{fmt.Sprintf("compatible: of %.0f samples of vmstat about %.0f are header lines that count as zeros: it is about %.1f %% too low",
			m.vm, m.vm-m.io, 100*(1-m.io/m.vm))}
	}
	add("context_switches", "cs/o", "cs/s", 1, low...)
	if r.cpus > 0 {
		add("host_cpu_us", "cpu/o", "cpu/s", 1, low...)
		if last := &out[len(out)-1]; last.metric == "host_cpu_us" {
			last.perSecond = cpuTime(last.perSecond, r.cpus)
		}
	} else if _, ok := m.values["cpu/o"]; ok {
		r.warn("%s", noCPUs)
	}
	return out
}

const noCPUs = "no file says how many CPUs the host has: percents of all CPUs cannot be made CPU time; give --cpus N"

// computed are the costs of sb.met that nothing better is known of.
func (c *companionSet) computed(r *run, known []figure) []figure {
	return slices.DeleteFunc(c.met.figures(r, c.o.Compatible), func(f figure) bool {
		return slices.ContainsFunc(known, func(k figure) bool { return k.metric == f.metric })
	})
}

// parseMet makes a run of costs whose log is not there.
func parseMet(files []*file, o *Options, ps *Problems) []*run {
	f := files[0]
	f.whole = true // it has no series
	m := readMet(f, ps)
	if m == nil {
		return nil
	}
	r := newRun(f, fmtSysbench)
	r.tool, r.cpus = "sysbench, costs that its suite's scripts computed", o.CPUs
	r.is(testNamed(stem(f.path)))
	r.costs = []denominator{r.publishedRate(m.values["o/s"], o)}
	r.addCosts(m.figures(r, o.Compatible))
	r.warn("there is no log of sysbench beside %s: latencies, errors and the length of the run are unknown", f.path)
	return []*run{r}
}

// publishedRate adds the rate that a table has of a test, and returns what its
// costs are per.
func (r *run) publishedRate(rate float64, o *Options) denominator {
	op, per, text := opQuery, opQuery, ""
	switch {
	case isScan(r.test) && !o.Compatible && !r.derived && r.clients > 0:
		op, per, text = opScan, scanRow, "made of the mean latency of a scan, as if all clients had scanned all the time"
		rate *= 1000 * float64(r.clients)
	case isScan(r.test):
		op, per, text = opScan, scanPublished, scanUnit
	case r.test == loadTest:
		op, per = opInsert, opInsert+" row"
	}
	r.step.Primary, r.step.WritesPer = op, op
	r.step.Groups = []result.Group{{Name: op, Clients: r.clients, Ops: []string{op}}}
	at := []func(*metric.Row){of(op, op), source("a published rate")}
	if text != "" {
		at = append(at, doubts(text))
	}
	r.put("rows_per_s", rate, at...)
	return denominator{per, rate, 0}
}
