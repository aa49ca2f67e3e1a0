package all_test

import (
	"strings"
	"testing"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/plan"
)

// An engine that lacks transactions only as it is configured is refused with a
// hint at the setting, with which it is accepted.
func TestEnablingSettings(t *testing.T) {
	const lacks = "cannot run workload sysbench: it cannot do transactions"
	load := func(target string) string {
		_, err := plan.Load("p.yaml", []byte("workload: sysbench\nparams: {tests: [oltp_read_write]}\ntargets: [{"+target+"}]\n"), nil, catalog.Plugins{})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for _, c := range []struct{ target, hint, extra string }{
		{"engine: rocksdb", "set options.transactions: optimistic or locks; engines", "engine: rocksdb, options: {transactions: optimistic}"},
		{"engine: rocksdb", "optimistic or locks", "engine: rocksdb, options: {transactions: locks}"},
		{"engine: mongodb, durability: os", "set options.replica_set: true; engines", "engine: mongodb, durability: os, options: {replica_set: true}"},
		{"engine: mongodb, durability: os, dsn: 'mongodb://h:1/'", "set replicaSet=NAME in the dsn; engines", "engine: mongodb, durability: os, dsn: 'mongodb://h:1/?replicaSet=a'"},
		{"engine: pebble", "hint: set params: {skip_trx: true}; engines that can", "engine: sqlite"},
	} {
		if got := load(c.target); !strings.Contains(got, lacks) || !strings.Contains(got, c.hint) {
			t.Errorf("%s: %q lacks %q", c.target, got, c.hint)
		}
		if got := load(c.extra); strings.Contains(got, lacks) {
			t.Errorf("%s: %s", c.extra, got)
		}
	}
}
