package all_test

import (
	"testing"
	"time"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/need"
	"rumbench/workload/all"
	"rumbench/workload/workloadtest"
)

// few are runs that a server without usable indexes can do: no operation compares
// lengths, none is in a transaction.
var few = map[string]map[string]any{
	"ibench":    {"rows": int64(1000), "write_rows": int64(100), "query_seconds": 0.02, "clients": int64(2), "resync": int64(7)},
	"linkbench": {"maxid": int64(60), "atomic": false, "clients": []int64{2}, "transactions": int64(60), "settle_floor": time.Duration(0)},
	"rollup":    {"rows": int64(80), "stages": int64(2), "tables": int64(1), "clients": int64(2), "schema": "aggregating", "pairs": int64(4), "transactions": false, "check": "each"},
	"telemetry": telemetry(map[string]any{"rates": []int64{60}, "burst_share": 0.0}),
	"sysbench": {
		"tables": []int64{2}, "table_size": int64(60), "clients": []int64{2}, "skip_trx": true, "settle_floor": time.Duration(0), "load_batch": int64(20),
		"tests": []string{"oltp_point_select", "oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete", "points-notcovered-si", "range-covered-si"},
	},
}

// TestSameRowsOverProtocol is testSameRows for FerretDB, whose reads
// use no index: few rows and operations.
func TestSameRowsOverProtocol(t *testing.T) {
	e, _ := catalog.Plugins{}.Engine("mongodb")
	if binaries["mongodb"] != ferretDB || !usable(t, e) {
		t.Skip("FerretDB is not what is tested")
	}
	for _, w := range all.Workloads() {
		given, ok := few[w.Info().Name]
		if !ok {
			continue
		}
		t.Run(w.Info().Name, func(t *testing.T) {
			if name := w.Info().Name; name != "linkbench" && name != "sysbench" {
				need.Long(t)
			}
			r := oneByOne{runOf(t, w, given)}
			want, start := lockstep(t, r, "memory"), time.Now()
			for _, st := range want {
				t.Logf("step %-8s %5d operations", st.Step, st.Ops)
			}
			workloadtest.Compare(t, "mongodb", want, lockstep(t, r, "mongodb"))
			t.Log(time.Since(start))
		})
	}
}
