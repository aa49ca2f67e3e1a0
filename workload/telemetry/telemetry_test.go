package telemetry_test

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/telemetry"
	"rumbench/workload/workloadtest"
)

// small is a run in which everything happens: faults, an outage, roll-ups and several
// drops.
func small(more map[string]any) map[string]any {
	p := map[string]any{
		"devices": int64(12), "metrics": int64(5), "history": 12 * 10 * time.Second, "partition": 80 * time.Second, "partitions": int64(5),
		"rates": []int64{600}, "mix_seconds": 6.0, "read_seconds": 1.0, "range": 60 * time.Second, "rollup": 40 * time.Second,
		"rollup_devices": int64(6), "writers": int64(2), "readers": int64(2), "load_batch": int64(7), "silence": 60 * time.Second, "backfill": int64(4),
		"late": 0.05, "duplicate": 0.05, "correct": 0.05, "burst_share": 0.3, "settle_floor": time.Duration(0),
	}
	maps.Copy(p, more)
	return p
}

func open(t *testing.T, s model.Schema) engine.DB {
	t.Helper()
	return workloadtest.Open(t, memory.Engine{}, s)
}

// TestConcurrent: with all clients at once every invariant holds: each result is
// complete, and so are the partitions and roll-ups.
func TestConcurrent(t *testing.T) {
	for _, schema := range []string{"write", "middle", "read"} {
		p := small(map[string]any{"schema": schema, "rates": []int64{2000}, "writers": int64(3), "readers": int64(3), "rollup_devices": int64(4)})
		r, err := workload.NewRun(telemetry.Workload{}, "", p)
		expect.NoError(t, err)
		workloadtest.Concurrent(t, r, open(t, r.Schema()), 7)
	}
}

// TestRate: the rate changes neither what is sent nor its order.
func TestRate(t *testing.T) {
	sums := func(rate int64, seconds float64) string {
		r, err := workload.NewRun(telemetry.Workload{}, "", small(map[string]any{"rates": []int64{rate}, "mix_seconds": seconds, "burst_share": 0.0, "readers": int64(1), "writers": int64(1)}))
		expect.NoError(t, err)
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
		"model": {"model": "doc"}, "writers": {"writers": int64(24)}, "batch": {"batch": int64(5)}, "rollup_devices": {"rollup_devices": int64(5)},
		"partition": {"partition": 85 * time.Second}, "rollup": {"rollup": 60 * time.Second}, "history": {"history": 400 * time.Second},
		"silence": {"silence": 300 * time.Second}, "burst_at": {"burst_at": 1.0}, "mix_seconds": {"mix_seconds": 0.1, "rates": []int64{100}}, "rates": {"rates": []int64{600, 600}},
	} {
		_, err := workload.NewRun(telemetry.Workload{}, "", small(more))
		var p *workload.ParamError
		if want := map[string]string{"burst_at": "silence"}[param]; !errors.As(err, &p) || p.Param != cmp.Or(want, param) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// tiny is a run of three devices with one metric, of which each range query reads
// the whole history.
func tiny(schema string) map[string]any {
	return small(map[string]any{
		"schema": schema, "devices": int64(3), "metrics": int64(1), "rollup_devices": int64(3), "range": 120 * time.Second, "writers": int64(1), "readers": int64(1),
		"burst_share": 0.0,
	})
}

// TestWrongRowsAreFound: a row that is missing, has another value or was never sent, and
// a roll-up that is not that of its values, make the step wrong.
func TestWrongRowsAreFound(t *testing.T) {
	const tick, place = 5, 1 // of the measurement that is wrong
	at := int64(1_577_836_800_000_000 + tick*10_000_000 + place*10_000_000/3)
	ints := func(values ...int64) (args []model.Value) {
		for _, v := range values {
			args = append(args, model.IntValue(v))
		}
		return args
	}
	base := []string{"t", "d", "m", "v"}
	for name, c := range map[string]struct {
		step, want string
		op         model.Op
		args       func(d int64) []model.Value
	}{
		"another value": {"readonly", "of a reader are wrong", model.Op{Kind: model.Update, Table: "base_00", Set: []model.Assign{{Column: "v"}}}, func(d int64) []model.Value { return ints(-1, 0, d, at) }},
		"missing":       {"readonly", "of a reader are wrong", model.Op{Kind: model.Delete, Table: "base_00"}, func(d int64) []model.Value { return ints(0, d, at) }},
		"never sent":    {"readonly", "of a reader are wrong", model.Op{Kind: model.Insert, Table: "base_00", Columns: base, Rows: 1}, func(d int64) []model.Value { return ints(at+1, d, 0, 7) }},
		"one too many":  {"rollup", "partitions hold", model.Op{Kind: model.Insert, Table: "base_00", Columns: base, Rows: 1}, func(d int64) []model.Value { return ints(at+1, d, 0, 7) }},
		"roll-up": {"rollup", "high of device", model.Op{Kind: model.Update, Table: "rollup", Set: []model.Assign{{Column: "high", Add: true}}},
			func(d int64) []model.Value { return ints(1, 1_577_836_800_000_000, d, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := workload.NewRun(telemetry.Workload{}, "", tiny("read"))
			expect.NoError(t, err)
			db := open(t, r.Schema())
			device := int64(-1)
			spoil := func(s engine.Session) {
				op := &model.Op{Kind: model.Scan, Table: "base_00", Columns: base}
				execute(t, s, op, nil, func(row []model.Value) {
					if row[0].Int() == at {
						device = row[1].Int()
					}
				})
				execute(t, s, &c.op, c.args(device), nil)
			}
			perform(t, r, db, "load", 0, nil)
			found := workload.Finding{}
			if c.step == "rollup" {
				found = perform(t, r, db, c.step, 0, spoil)
			} else {
				perform(t, r, db, "index", 0, spoil)
				found = perform(t, r, db, c.step, 100, nil)
			}
			expect.True(t, device >= 0 && len(found.Broken) != 0 && strings.Contains(strings.Join(found.Broken, "; "), c.want), device, found.Broken, c.want)
		})
	}
}

func execute(t *testing.T, s engine.Session, op *model.Op, args []model.Value, each func([]model.Value)) {
	t.Helper()
	stmt, err := s.Prepare(t.Context(), op)
	if err == nil {
		err = stmt.Exec(t.Context(), args, &engine.Result{Each: each})
	}
	expect.NoError(t, err)
}

// perform runs a step of one client, for so many operations or all, and spoils the data
// before they are checked.
func perform(t *testing.T, r workload.Run, db engine.DB, name string, ops int64, spoil func(engine.Session)) workload.Finding {
	t.Helper()
	ctx := t.Context()
	steps := r.Steps()
	step := &steps[slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == name })]
	if step.Creates {
		expect.NoError(t, db.CreateTables(ctx))
	}
	stage, err := step.Open(ctx, workload.Env{DB: db, Seed: 1, Results: true})
	expect.NoError(t, err)
	client := workloadtest.Alone(t, db, stage, 0)
	for range cmp.Or(ops, step.Groups[0].Work) {
		workloadtest.Once(t, client)
	}
	if spoil != nil {
		s, err := db.Session(ctx)
		expect.NoError(t, err)
		spoil(s)
		expect.NoError(t, s.Close())
	}
	found, err := stage.Finish(ctx, nil)
	expect.NoError(t, err)
	return found
}
