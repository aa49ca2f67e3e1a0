package registry_test

import (
	"fmt"
	"testing"

	"rumbench/engine"
	"rumbench/internal/registry"
	"rumbench/model"
	"rumbench/workload/workloadtest"
)

// TestStocksAreLocked: what concurrent orders take from a few stocks adds up, which none
// of the standard's conditions shows. A stock gives what is ordered, and gets 91 pieces at
// times; and it counts what it has sold.
func TestStocksAreLocked(t *testing.T) {
	w, _ := registry.Catalog{}.Workload("tpcc")
	for _, style := range []string{"single", "batch"} {
		for _, target := range targets(t) {
			r := runOf(t, w, tpcc(map[string]any{
				"warehouses": int64(1), "items": int64(20), "clients": []int64{4}, "transactions": int64(120), "style": style, "retry_max": int64(0),
			}))
			if model.Missing(target.can, r.Needs()) != nil {
				continue
			}
			t.Run(style+" "+target.name, func(t *testing.T) {
				db := target.open(t, r.Schema())
				steps := r.Steps()
				workloadtest.Lockstep(t, stepsOf{r, steps[:2]}, db, 42)
				before := stocks(t, db)
				workloadtest.Concurrent(t, stepsOf{r, steps[2:]}, db, 42)
				var sold int64
				for i, s := range stocks(t, db) {
					if left := before[i].pieces - s.sold - s.pieces; left%91 != 0 || s.pieces < 10 {
						t.Errorf("item %d had %d pieces, has sold %d and has %d", i+1, before[i].pieces, s.sold, s.pieces)
					}
					sold += s.sold
				}
				if sold == 0 {
					t.Error("nothing was sold")
				}
			})
		}
	}
}

type pieces struct{ pieces, sold int64 }

func stocks(t *testing.T, db engine.DB) (out []pieces) {
	t.Helper()
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	stmt, err := session.Prepare(t.Context(), &model.Op{Kind: model.Scan, Table: "stock", Columns: []string{"s_quantity", "s_ytd"}})
	if err != nil {
		t.Fatal(err)
	}
	err = stmt.Exec(t.Context(), nil, &engine.Result{Each: func(row []model.Value) { out = append(out, pieces{row[0].Int(), row[1].Int()}) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 20 {
		t.Fatal(fmt.Errorf("%d stocks", len(out)))
	}
	return out
}
