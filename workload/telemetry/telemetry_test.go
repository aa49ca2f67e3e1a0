package telemetry_test

import (
	"context"
	"errors"
	"maps"
	"strings"
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

// TestConcurrent: with all clients at once every invariant holds: each result is
// complete, and so are the partitions and roll-ups.
func TestConcurrent(t *testing.T) {
	for _, schema := range []string{"write", "middle", "read"} {
		p := small(map[string]any{"schema": schema, "rates": []int64{6000}, "writers": int64(3), "readers": int64(3), "rollup_devices": int64(4)})
		r, err := workload.NewRun(telemetry.Workload{}, "", p)
		if err != nil {
			t.Fatal(err)
		}
		workloadtest.Concurrent(t, r, open(t, r.Schema()), 7)
	}
}

// TestRate: the rate changes neither what is sent nor its order.
func TestRate(t *testing.T) {
	sums := func(rate int64, seconds float64) string {
		r, err := workload.NewRun(telemetry.Workload{}, "", small(map[string]any{"rates": []int64{rate}, "mix_seconds": seconds, "burst_share": 0.0, "readers": int64(1), "writers": int64(1)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range workloadtest.Lockstep(t, r, open(t, r.Schema()), 3) {
			if s.Step[:3] == "mix" {
				return strings.Join(s.Sums, "\n")
			}
		}
		return ""
	}
	if slow, fast := sums(300, 8), sums(2400, 1); slow != fast || slow == "" {
		t.Errorf("another rate gives other rows:\n%s\n%s", slow, fast)
	}
}

// TestRefused: what cannot work is refused, with the parameter to blame.
func TestRefused(t *testing.T) {
	for param, more := range map[string]map[string]any{
		"model": {"model": "doc"}, "writers": {"writers": int64(5)}, "rollup_devices": {"rollup_devices": int64(5)},
		"partition": {"partition": 85 * time.Second}, "rollup": {"rollup": 60 * time.Second, "rollup2": 60 * time.Second}, "history": {"history": 400 * time.Second},
		"silence": {"silence": 300 * time.Second},
	} {
		_, err := workload.NewRun(telemetry.Workload{}, "", small(more))
		var p *workload.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
}
