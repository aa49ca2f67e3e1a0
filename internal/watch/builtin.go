package watch

import (
	"slices"
	"strings"
)

// builtin is a derived metric that is always shown.
type builtin struct{ name, unit, text string }

// builtins are the derived metrics that are always shown. Busy is what vmstat
// shows as us+sy, without iowait and steal time.
var builtins = slices.Concat([]builtin{
	{"host.cpu.busy_percent", "percent", share("user", "nice", "system", "irq", "softirq")},
	{"host.cpu.user_percent", "percent", share("user", "nice")},
	{"host.cpu.system_percent", "percent", share("system", "irq", "softirq")},
	{"host.cpu.iowait_percent", "percent", share("iowait")},
	{"host.cpu.steal_percent", "percent", share("steal")},
	{"process.cpu_percent", "percent", `rate("process.cpu_ns") / 1e7`},
}, ofDevice("device."), ofDevice("device.leaf."), []builtin{
	{"engine.cache_hit_percent", "percent", `100 - 100 * delta("engine.cache_misses") / delta("engine.cache_lookups")`},
	{"engine.write_amplification", "ratio", `delta("engine.bytes_written") / delta("engine.bytes_taken")`},
	{"engine.stall_percent", "percent", `rate("engine.stall_ns") / 1e7`},
	{"client.cpu_percent", "percent", `rate("client.cpu_ns") / 1e7`},
})

func ofDevice(p string) []builtin {
	return []builtin{
		{p + "read_await_ms", "ms", `delta("` + p + `read_ns") / delta("` + p + `reads") / 1e6`},
		{p + "write_await_ms", "ms", `delta("` + p + `write_ns") / delta("` + p + `writes") / 1e6`},
		{p + "queue_length", "count", `rate("` + p + `queue_ns") / 1e9`},
		{p + "util_percent", "percent", `rate("` + p + `busy_ns") / 1e7`},
	}
}

// share returns the expression of the share of CPU time spent in some states.
func share(states ...string) string {
	parts := make([]string, len(states))
	for i, state := range states {
		parts[i] = `delta("host.cpu.` + state + `_ns")`
	}
	return "100 * (" + strings.Join(parts, " + ") + `) / sum(delta("host.cpu.*_ns"))`
}

// Builtins returns the expressions of the built-in derived metrics.
func Builtins() []*Expression {
	var all []*Expression
	for _, b := range builtins {
		e, err := ParseExpression("built in", b.name, b.text)
		if err != nil {
			panic(err) // a test parses them all
		}
		e.Unit, e.builtin = b.unit, true
		all = append(all, e)
	}
	return all
}
