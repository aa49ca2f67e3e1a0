package watch

import (
	"cmp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/plain"
	"rumbench/internal/quantity"
)

// view is what a table shows of a group of series: a line for each device, process,
// server or storage, with some columns.
type view struct {
	title   string
	columns []column
}

// column shows a series. It is present if the series is, or the one that it is
// derived from: the time per read is unknown while nothing is read.
type column struct{ head, name, of string }

// leads are what matters first: they fit on 80 columns.
var leads = []view{
	{"server", []column{
		{"queries", engine.Queries, ""},
		{"commits", engine.Commits, ""},
		{"sessions", engine.Sessions, ""},
		{"active", engine.SessionsActive, ""},
	}},
	{"storage", []column{
		{"blocked", engine.SessionsBlocked, ""},
		{"lock waits", engine.LockWaits, ""},
		{"read", engine.BytesRead, ""},
		{"written", engine.BytesWritten, ""},
		{"log", engine.LogBytes, ""},
		{"cache hits", "engine.cache_hit_percent", engine.CacheLookups},
	}},
	{"process", []column{
		{"cpu", "process.cpu_percent", ""},
		{"read", "process.read_bytes", ""},
		{"written", "process.write_bytes", ""},
		{"resident", "process.rss_bytes", ""},
	}},
	{"device", []column{
		{"reads", "device.reads", ""},
		{"read", "device.read_bytes", ""},
		{"writes", "device.writes", ""},
		{"written", "device.write_bytes", ""},
		{"util", "device.util_percent", ""},
	}},
	{"host", []column{
		{"busy", "host.cpu.busy_percent", ""},
		{"iowait", "host.cpu.iowait_percent", ""},
		{"available", "host.memory.available_bytes", ""},
	}},
}

// views are all that tables show in columns.
var views = []view{
	leads[0],
	{"host", []column{
		{"busy", "host.cpu.busy_percent", ""},
		{"user", "host.cpu.user_percent", ""},
		{"system", "host.cpu.system_percent", ""},
		{"iowait", "host.cpu.iowait_percent", ""},
		{"steal", "host.cpu.steal_percent", ""},
		{"switches", "host.context_switches", ""},
		{"available", "host.memory.available_bytes", ""},
		{"dirty", "host.memory.dirty_bytes", ""},
		{"swap in", "host.swap.in_bytes", ""},
		{"swap out", "host.swap.out_bytes", ""},
	}},
	{"device", deviceColumns("device.")},
	{"disk beneath", deviceColumns("device.leaf.")},
	{"process", []column{
		{"cpu", "process.cpu_percent", ""},
		{"read", "process.read_bytes", ""},
		{"written", "process.write_bytes", ""},
		{"resident", "process.rss_bytes", ""},
		{"major faults", "process.major_faults", ""},
		{"processes", "process.processes", ""},
		{"threads", "process.threads", ""},
	}},
	{"storage", append(slices.Clone(leads[1].columns), []column{
		{"lookups", engine.CacheLookups, ""},
		{"misses", engine.CacheMisses, ""},
		{"dirty", engine.DirtyBytes, ""},
		{"checkpoint", engine.CheckpointAge, ""},
		{"debt", engine.CompactionDebt, ""},
		{"stalled", "engine.stall_percent", ""},
	}...)},
	{"rumbench", []column{
		{"cpu", "client.cpu_percent", ""},
		{"heap", "client.heap_bytes", ""},
		{"gc pause", "client.gc_pause_ns", ""},
	}},
}

func deviceColumns(prefix string) []column {
	return []column{
		{"reads", prefix + "reads", ""},
		{"read", prefix + "read_bytes", ""},
		{"r_await", prefix + "read_await_ms", prefix + "reads"},
		{"writes", prefix + "writes", ""},
		{"written", prefix + "write_bytes", ""},
		{"w_await", prefix + "write_await_ms", prefix + "writes"},
		{"util", prefix + "util_percent", ""},
		{"queue", prefix + "queue_length", ""},
		{"flushes", prefix + "flushes", ""},
		{"discarded", prefix + "discard_bytes", ""},
	}
}

// inView are the names that views show.
var inView = func() map[string]bool {
	names := make(map[string]bool)
	for _, v := range views {
		for _, c := range v.columns {
			names[c.name] = true
		}
	}
	return names
}()

// table returns a view of a frame, empty if there is nothing to show.
func (v *view) table(f *Frame) page.Table {
	cells := make(map[[2]string]string) // by name and labels
	var who []string                    // labels, in the order of the frame
	there := make(map[string]bool)
	var feet []string
	for _, r := range f.each {
		there[r.Name] = true
		if !slices.ContainsFunc(v.columns, func(c column) bool { return c.name == r.Name }) {
			continue
		}
		labels, mark := whole(r.Labels)
		if !slices.Contains(who, labels) {
			who = append(who, labels)
		}
		if mark != "" && len(feet) == 0 {
			feet = []string{"  " + explicitFoot}
		}
		if value, ok := r.Shown(); ok {
			cells[[2]string{r.Name, labels}] = quantity.In(value, r.ShownUnit()) + mark
		}
	}
	t := page.Table{Head: v.title, Groups: []page.Group{{Foot: feet}}}
	for _, labels := range who {
		t.Groups[0].Rows = append(t.Groups[0].Rows, page.Row{Head: "  " + whose(labels)})
	}
	for _, c := range v.columns {
		if !there[c.name] && !there[c.of] {
			continue // not available on this machine or engine
		}
		t.Columns = append(t.Columns, page.Column{Name: c.head})
		for i, labels := range who {
			row := &t.Groups[0].Rows[i]
			row.Cells = append(row.Cells, page.Cell{Text: cmp.Or(cells[[2]string{c.name, labels}], quantity.Unknown), Number: true})
		}
	}
	return t
}

const explicitFoot = "* COMMIT statements only: the server does not count single statements"

// whole returns the labels of what a series is of, and a mark if it is only part of it.
func whole(labels string) (of, mark string) {
	all := observe.ParseLabels(labels)
	rest := slices.DeleteFunc(all, func(l observe.Label) bool { return l.Name == engine.ExplicitOnly })
	if len(rest) == len(all) {
		return labels, ""
	}
	return rest.String(), "*"
}

// whose returns the name of what labels identify.
func whose(labels string) string {
	var values []string
	for _, l := range observe.ParseLabels(labels) {
		values = append(values, l.Value)
	}
	return plain.Line(strings.Join(values, " "))
}
