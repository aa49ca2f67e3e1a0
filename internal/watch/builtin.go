package watch

import "fmt"

// builtins are the derived metrics that are always shown. Busy is what vmstat
// shows as us+sy, without iowait and steal time.
var builtins = []struct{ name, unit, text string }{
	{"host.cpu.busy_percent", "percent", share("user", "nice", "system", "irq", "softirq")},
	{"host.cpu.user_percent", "percent", share("user", "nice")},
	{"host.cpu.system_percent", "percent", share("system", "irq", "softirq")},
	{"host.cpu.iowait_percent", "percent", share("iowait")},
	{"host.cpu.steal_percent", "percent", share("steal")},
	{"process.cpu_percent", "percent", `rate("process.cpu_ns") / 1e7`},
	{"device.read_await_ms", "ms", `delta("device.read_ns") / delta("device.reads") / 1e6`},
	{"device.write_await_ms", "ms", `delta("device.write_ns") / delta("device.writes") / 1e6`},
	{"device.queue_length", "count", `rate("device.queue_ns") / 1e9`},
	{"device.util_percent", "percent", `rate("device.busy_ns") / 1e7`},
	{"device.leaf.read_await_ms", "ms", `delta("device.leaf.read_ns") / delta("device.leaf.reads") / 1e6`},
	{"device.leaf.write_await_ms", "ms", `delta("device.leaf.write_ns") / delta("device.leaf.writes") / 1e6`},
	{"device.leaf.queue_length", "count", `rate("device.leaf.queue_ns") / 1e9`},
	{"device.leaf.util_percent", "percent", `rate("device.leaf.busy_ns") / 1e7`},
	{"engine.cache_hit_percent", "percent", `100 - 100 * delta("engine.cache_misses") / delta("engine.cache_lookups")`},
	{"engine.write_amplification", "ratio", `delta("engine.bytes_written") / delta("engine.bytes_taken")`},
	{"engine.stall_percent", "percent", `rate("engine.stall_ns") / 1e7`},
	{"client.cpu_percent", "percent", `rate("client.cpu_ns") / 1e7`},
}

// share returns the expression of the share of CPU time spent in some states.
func share(states ...string) string {
	text := "100 * ("
	for i, state := range states {
		if i > 0 {
			text += " + "
		}
		text += fmt.Sprintf(`delta("host.cpu.%s_ns")`, state)
	}
	return text + `) / sum(delta("host.cpu.*_ns"))`
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
