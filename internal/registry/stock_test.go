package registry_test

import (
	"testing"

	"rumbench/internal/registry"
	"rumbench/model"
	"rumbench/workload/workloadtest"
)

// TestStocksAreLocked: what concurrent orders take from a few stocks adds up, on every
// engine and in both styles.
func TestStocksAreLocked(t *testing.T) {
	w, _ := registry.Catalog{}.Workload("tpcc")
	for _, style := range []string{"single", "batch"} {
		r := runOf(t, w, tpcc(map[string]any{"warehouses": int64(1), "items": int64(20), "clients": []int64{4}, "style": style}))
		for _, target := range targets(t) {
			if model.Missing(target.can, r.Needs()) == nil {
				t.Run(style+" "+target.name, func(t *testing.T) { workloadtest.Concurrent(t, r, target.open(t, r.Schema()), 42) })
			}
		}
	}
}
