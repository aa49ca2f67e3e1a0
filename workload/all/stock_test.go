package all_test

import (
	"testing"

	"rumbench/internal/cli/catalog"
)

// testStocks: what concurrent orders take from a few stocks adds up, on every engine and
// in both styles.
func testStocks(t *testing.T, all []target) {
	w, _ := catalog.Plugins{}.Workload("tpcc")
	for _, style := range []string{"single", "batch"} {
		r := runOf(t, w, tpcc(map[string]any{"warehouses": int64(1), "items": int64(20), "clients": []int64{4}, "style": style}))
		t.Run(style, func(t *testing.T) { concurrent(t, "tpcc", r, all) })
	}
}
