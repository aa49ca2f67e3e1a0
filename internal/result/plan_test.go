package result_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// Plans are read as they were written, in several parts, and up to where a
// killed trial has cut them off; results of old have none.
func TestPlans(t *testing.T) {
	dir := t.TempDir()
	if plans, err := result.ReadPlans(dir); err != nil || plans != nil {
		t.Errorf("of a trial of old: %v, %v", plans, err)
	}
	plan := engine.Plan{Statement: "SELECT 1 FROM t WHERE a <= $1", Text: "one\n  two", TableBytes: 5, Access: []engine.Access{{Index: engine.PrimaryKey, How: engine.Seek, As: "range", Rows: 2}}}
	want := []result.StatementPlan{{Step: "a", When: result.AtBegin, Op: "scan t", Wanted: engine.PrimaryKey, Plan: plan}, {Step: "a", When: result.AtEnd, Op: "get t", Plan: plan}}
	for _, p := range want {
		expect.NoError(t, result.AppendPlans(dir, []result.StatementPlan{p}))
	}
	f, err := os.OpenFile(filepath.Join(dir, result.PlansFile), os.O_APPEND|os.O_WRONLY, 0)
	expect.NoError(t, err)
	if _, err := f.WriteString(`{"step":"b","wh`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, err := result.ReadPlans(dir)
	expect.True(t, err == nil && cmp.Equal(got, want), err, cmp.Diff(want, got))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, result.PlansFile), []byte("no plan\n"), 0o644))
	expect.Refused(result.ReadPlans(dir))(t, "", "a broken file is read")
}
