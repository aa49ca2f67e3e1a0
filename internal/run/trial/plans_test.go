package trial

import (
	"context"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/model"
)

// plannedDB has the plans that the test gives it.
type plannedDB struct {
	engine.DB
	plan  func(op *model.Op, round int) engine.Plan
	asked map[*model.Op]int // how often
}

func (d *plannedDB) Explain(_ context.Context, op *model.Op) (engine.Plan, error) {
	d.asked[op]++
	return d.plan(op, d.asked[op]), nil
}

// seeks returns a plan that goes by the index of an operation.
func seeks(op *model.Op, bytes int64) engine.Plan {
	return engine.Plan{
		Statement: "SELECT of " + op.Label(), Text: "SEARCH", TableBytes: bytes,
		Access: []engine.Access{{Index: engine.IndexOf(op), How: engine.Seek, As: "range", Rows: 10}},
	}
}

// scans returns a plan that reads the whole table.
func scans(op *model.Op, bytes int64) engine.Plan {
	p := seeks(op, bytes)
	p.Text, p.Access = "SCAN all of it", []engine.Access{{How: engine.WholeTable, As: "ALL"}}
	return p
}

const big = 10 * smallTable

// runPlanned runs a step of range queries on plans of the test's.
func runPlanned(t *testing.T, value func(op *model.Op, round int) engine.Plan) (*result.Trial, *result.Step, []result.StatementPlan, error) {
	t.Helper()
	src := "workload: sysbench\nparams: {tests: [oltp_read_only], table_size: 1000, read_seconds: 0.2, warmup_seconds: 0, settle_floor: 0}\ncalibrate: false\ninterval: 100ms\ntargets: [sqlite]\n"
	s := planOf(t, src).with(&faulty{opened: func(db engine.DB) engine.DB {
		return &plannedDB{db, value, map[*model.Op]int{}}
	}})
	res, err := Run(context.Background(), s)
	plans := expect.Value(result.ReadPlans(s.Dir))(t)
	for i := range res.Steps {
		if res.Steps[i].Name == "oltp_read_only" || strings.HasPrefix(res.Steps[i].Base, "oltp_read_only") {
			return res, &res.Steps[i], plans, err
		}
	}
	return res, nil, plans, err
}

// A range query that is not answered by its index refuses the step.
func TestWrongPlan(t *testing.T) {
	res, step, plans, err := runPlanned(t, func(op *model.Op, _ int) engine.Plan {
		if op.Kind == model.Scan {
			return scans(op, big)
		}
		return seeks(op, big)
	})
	expect.Must(t, err != nil && res.Status == result.Failed && step == nil, res.Status, err, "step", step)
	for _, want := range []string{"scan sbtest1 is to be answered by primary key", "goes by whole table", "SELECT of scan sbtest1", "SCAN all of it"} {
		expect.Contains(t, res.Reason, want, "lacks")
	}
	expect.Contains(t, res.Hint, "index may be gone", "hint")
	expect.True(t, len(plans) != 0 && plans[len(plans)-1].When == result.AtBegin, "plans", plans)
}

// Of a small table it is a note, as it may be the cheaper way.
func TestPlanOfSmallTable(t *testing.T) {
	_, step, plans, err := runPlanned(t, func(op *model.Op, _ int) engine.Plan { return scans(op, smallTable/2) })
	expect.Must(t, err == nil && step != nil && step.Status == result.Complete, err, step)
	notes := strings.Join(metric.Texts(step.Notes), "\n")
	expect.True(t, strings.Contains(notes, "of tables below 4 MiB the database does not use the index"), "notes", notes)
	w := strings.Join(metric.Texts(step.Warnings), "\n")
	expect.True(t, !strings.Contains(w, "plan") && !strings.Contains(w, "whole"), "warnings", w)
	for _, p := range plans {
		expect.True(t, (p.Step == step.Name || p.Step == "load" || strings.HasPrefix(p.Step, "oltp_read_only")) && p.When == result.AtBegin && p.Plan.Text != "", p)
	}
}

// A plan that changes within a step is a warning; if the index is not used any
// more, the step is invalid too.
func TestPlanChanges(t *testing.T) {
	_, step, plans, err := runPlanned(t, func(op *model.Op, round int) engine.Plan {
		p := seeks(op, big)
		p.Access[0].Rows = float64(round) // which is no change
		if op.Kind == model.Get && round == 2 {
			p.Access[0].As = "ref"
		}
		return p
	})
	expect.Must(t, err == nil && step.Status == result.Complete, err, step)
	if w := strings.Join(metric.Texts(step.Warnings), "\n"); !strings.Contains(w, "the plan changed between the beginning and the end of the step: get sbtest1: from seek in primary key (range) to seek in primary key (ref)") || strings.Contains(w, "scan sbtest1") {
		t.Errorf("warnings %q", w)
	}
	if last := plans[len(plans)-1]; last.When != result.AtEnd || last.Op != "get sbtest1" || last.Plan.Access[0].As != "ref" {
		t.Errorf("the last plan: %+v", last)
	}

	res, step, _, err := runPlanned(t, func(op *model.Op, round int) engine.Plan {
		if op.Kind == model.Scan && round == 2 {
			return scans(op, big)
		}
		return seeks(op, big)
	})
	expect.True(t, err != nil && res.Status == result.Invalid && step.Status == result.Invalid && strings.HasPrefix(step.Warnings[0].Text, "wrong plan: "), err, res.Status, step.Warnings)
	expect.Contains(t, strings.Join(metric.Texts(step.Warnings), "\n"), "the plan changed", "warnings")
}

// What a workload demands of an operation, and which plans answer it.
func TestDemanded(t *testing.T) {
	seek := func(index string) engine.Access { return engine.Access{Index: index, How: engine.Seek} }
	walk := func(index string) engine.Access { return engine.Access{Index: index, How: engine.Walk} }
	whole := engine.Access{How: engine.WholeTable}
	for _, o := range []struct {
		op     model.Op
		want   string
		right  []engine.Access
		faults []engine.Access
	}{
		{model.Op{Kind: model.Scan, Index: "i", Lower: model.Inclusive, Limit: 10}, "i", []engine.Access{seek("i")}, []engine.Access{walk("i"), seek("j"), whole}},
		{model.Op{Kind: model.Scan, Lower: model.Inclusive, Upper: model.Inclusive, Free: true}, engine.PrimaryKey, []engine.Access{seek(engine.PrimaryKey)}, []engine.Access{walk(engine.PrimaryKey), whole}},
		{model.Op{Kind: model.Scan, Desc: true, Limit: 1}, engine.PrimaryKey, []engine.Access{walk(engine.PrimaryKey)}, []engine.Access{whole, walk("i")}},
		{model.Op{Kind: model.Scan, Aggregate: model.Count}, "", nil, nil},
		{model.Op{Kind: model.Scan, Where: []model.Condition{{Column: "c", Is: model.ShorterThan}}, Free: true}, "", nil, nil},
		{model.Op{Kind: model.Get}, "", nil, nil},
	} {
		expect.Equal(t, demanded(&o.op), o.want, "demands", o.op)
		for _, a := range o.right {
			expect.True(t, answers(&o.op, o.want, &engine.Plan{Access: []engine.Access{a}}), "does not answer", a, o.op)
		}
		for _, a := range o.faults {
			expect.True(t, !answers(&o.op, o.want, &engine.Plan{Access: []engine.Access{a}}), "answers", a, o.op)
		}
	}
}
