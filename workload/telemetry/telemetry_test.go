package telemetry_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/memory"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/telemetry"
	"rumbench/workload/workloadtest"
)

// small is a run in which everything happens: faults, outages, a planted burst,
// roll-ups of both levels and several drops.
func small(more map[string]any) map[string]any {
	p := map[string]any{
		"devices": int64(12), "metrics": int64(5), "history": 12 * 10 * time.Second, "partition": 80 * time.Second, "partitions": int64(5),
		"rates": []int64{600}, "mix_seconds": 6.0, "read_seconds": 1.0, "range": 60 * time.Second, "rollup": 40 * time.Second, "rollup2": 80 * time.Second,
		"rollup_devices": int64(6), "writers": int64(2), "readers": int64(2), "load_batch": int64(7), "silence": 60 * time.Second, "backfill": int64(4),
		"late": 0.05, "duplicate": 0.05, "correct": 0.05, "offline": 0.3, "burst_share": 0.3, "settle_floor": time.Duration(0),
	}
	maps.Copy(p, more)
	return p
}

func open(t *testing.T, s model.Schema) engine.DB {
	t.Helper()
	db, err := memory.Engine{}.Open(context.Background(), engine.Config{Dir: enginetest.TempDir(t), Durability: model.DurabilityNone, Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestSuite(t *testing.T) {
	for name, more := range map[string]map[string]any{
		"read":        {"transactions": true},
		"middle":      {"schema": "middle", "batch": int64(3), "value": "counter"},
		"write":       {"schema": "write", "value": "uniform63"},
		"doc, middle": {"schema": "middle", "model": "doc"},
		"doc, write":  {"schema": "write", "model": "doc", "batch": int64(4)},
	} {
		t.Run(name, func(t *testing.T) {
			workloadtest.Run(t, workloadtest.Suite{Workload: telemetry.Workload{}, Small: small(more), Open: open})
			r, err := workload.NewRun(telemetry.Workload{}, "", small(more))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range workloadtest.Lockstep(t, r, open(t, r.Schema()), 42) {
				t.Log(s.Step, s.Ops, s.Found)
				t.Log(s.Sums)
			}
		})
	}
}
