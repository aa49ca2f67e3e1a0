package explain_test

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/explain"
)

// A difference of CPU time says in which subsystems it is, the greatest first: not those that differ by less than
// samples can tell, or the other way, not what has no name, and nothing if a trial was not sampled.
func TestWhere(t *testing.T) {
	base, more := usual(), usual()
	more.server = 200
	for name, c := range map[string]struct{ base, more map[string]float64 }{
		"of server CPU per query (100 % of the difference).": {nil, map[string]float64{"log": 200}},
		": in index search 130 µs instead of 40.0 µs and log 45.0 µs instead of 20.0 µs": {
			map[string]float64{"index search": 40, "log": 20, "network": 25, "row format": 5, "unknown": 10},
			map[string]float64{"log": 45, "index search": 130, "network": 5, "row format": 7, "unknown": 13}},
		": in checksums 80.0 µs instead of 0 µs and the kernel's memory 20.0 µs instead of 0 µs": {
			map[string]float64{"index search": 100},
			map[string]float64{"index search": 100, "checksums": 80, "kernel: memory": 20, "clients": 400}},
	} {
		base.sampled, more.sampled = c.base, c.more
		said := ""
		groups, _ := explained(base, more, 4, 1).Paragraphs()
		for _, p := range groups {
			for _, l := range p.Lines {
				said += l.Causes + "\n"
			}
		}
		expect.Contains(t, said, name, said)
		expect.Equal(t, strings.Contains(said, ": in "), strings.HasPrefix(name, ": in "), name)
		expect.Lacks(t, said, "clients 4", name)
	}
}

// A setting is no reason of CPU time that is used elsewhere, as far as subsystems are known.
func TestReaches(t *testing.T) {
	base := usual()
	more := base
	more.server, more.knobs = 150, map[string]string{"compression": "zstd"}
	for name, c := range map[string]struct {
		base, more map[string]float64
		says       bool
	}{
		"unknown":   {nil, nil, true},
		"there":     {map[string]float64{"index search": 100}, map[string]float64{"index search": 105, "compression": 45}, true},
		"elsewhere": {map[string]float64{"network": 95, "compression": 5}, map[string]float64{"network": 144, "compression": 6}, false},
	} {
		base.sampled, more.sampled = c.base, c.more
		rule, sentence := first(explained(base, more, 4, 1))
		expect.Equal(t, rule == explain.RuleCompression, c.says, name, sentence)
	}
}
