package all_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
)

// planned runs a test of sysbench on a table of some megabytes, and executes a
// statement by the server's own client when the test has run for a second.
func planned(t *testing.T, target, test string, midway func() *exec.Cmd) (*result.Trial, *result.Step, []result.StatementPlan) {
	t.Helper()
	src := "workload: sysbench\nparams: {tests: [" + test + "], table_size: 20k, range_size: 10, clients: 1, read_seconds: 2, warmup_seconds: 0, settle_floor: 0}\ncalibrate: false\ninterval: 100ms\ntargets: [" + target + "]\n"
	p, err := plan.Load("planned.yaml", []byte(src), nil, catalog.Plugins{})
	expect.NoError(t, err)
	e, _ := catalog.Plugins{}.Engine(p.Targets[0].Engine)
	if len(e.Info().Servers) > 0 {
		need.Installed(t, e.Check(p.Targets[0].Config))
	}
	dir := need.TempDir(t)
	var once sync.Once
	tr, err := trial.Run(t.Context(), trial.Spec{
		Dir: dir, Plan: p, Target: p.Targets[0], Trial: 1, Engine: e,
		Progress: func(ev trial.Event) {
			if midway != nil && strings.HasPrefix(ev.Step, test) && ev.Elapsed > 1 {
				once.Do(func() {
					if out, err := midway().CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
		},
	})
	t.Logf("%s: %v", tr.Status, err)
	plans, err := result.ReadPlans(dir)
	expect.NoError(t, err)
	for i := range tr.Steps {
		if strings.HasPrefix(tr.Steps[i].Name, test) {
			return tr, &tr.Steps[i], plans
		}
	}
	return tr, nil, plans
}

// A server that may not use its indexes does not get as far as being measured.
func TestIndexesForbidden(t *testing.T) {
	const off = "{name: p, engine: postgres, options: {enable_indexscan: off, enable_indexonlyscan: off, enable_bitmapscan: off}}"
	tr, step, plans := planned(t, off, "oltp_read_only", nil)
	expect.Must(t, tr.Status == result.Failed && step == nil, tr.Status, "step", step)
	for _, want := range []string{"scan sbtest1 is to be answered by primary key", "whole table", `"sbtest1" WHERE`, "Seq Scan on sbtest1"} {
		expect.True(t, strings.Contains(tr.Reason, want), tr.Reason, "lacks", want)
	}
	expect.True(t, tr.Hint != "" && len(plans) != 0, "hint", tr.Hint, len(plans), "plans")
}

// What databases do with their indexes is stored, and nothing is wrong with it.
func TestPlansAreStored(t *testing.T) {
	for _, c := range []struct {
		target string
		long   bool // it repeats
	}{
		{"postgres", false}, {"{name: p-text, engine: postgres, protocol: text}", true}, {"{name: innodb, engine: mysql}", false},
		{"{name: myrocks, engine: mysql, storage: rocksdb}", true}, {"sqlite", false},
	} {
		t.Run(c.target, func(t *testing.T) {
			if c.long {
				need.Long(t)
			}
			_, step, plans := planned(t, c.target, "oltp_read_only", nil)
			expect.Must(t, step != nil && step.Status == result.Complete, step)
			texts := strings.Join(metric.Texts(append(step.Warnings, step.Notes...)), "\n")
			expect.True(t, !strings.Contains(texts, "plan") && !strings.Contains(texts, "index"), texts)
			scans := 0
			for _, p := range plans {
				if strings.HasPrefix(p.Op, "scan") && p.Wanted == engine.PrimaryKey && p.Step == step.Name {
					scans++
					expect.True(t, len(p.Plan.Access) != 0 && p.Plan.Access[0].How == engine.Seek && p.Plan.Access[0].Index == engine.PrimaryKey, p)
				}
			}
			if scans != 4 { // simple, sum, order and distinct ranges
				t.Errorf("%d plans of scans: %+v", scans, plans)
			}
		})
	}
}

// An index that is gone in the middle of a step changes a plan; a range query without its index makes the
// step invalid.
func TestIndexGone(t *testing.T) {
	need.Setup(t)
	e, _ := catalog.Plugins{}.Engine("mysql")
	running, dsn := startServer(t, e, server.Setting{Name: "max_connections", Value: "100"})
	at := running.Endpoint()
	for _, c := range []struct {
		test, change, warning string
		status                result.Status
	}{
		{"select_random_points", "DROP INDEX `sbtest1.k_1`", "the plan changed between the beginning and the end of the step: " +
			"get sbtest1 by k_1: from seek in k_1 (range) to whole table (ALL)", ""},
		{"select_random_ranges", "ALTER INDEX `sbtest1.k_1` IGNORED",
			"wrong plan: scan sbtest1 by k_1 is to be answered by k_1, and the database goes by whole table", result.Invalid},
	} {
		_, step, plans := planned(t, "{name: m, engine: mysql, durability: os, dsn: \""+dsn+"\"}", c.test, func() *exec.Cmd {
			return exec.Command("mariadb", "--no-defaults", "-S", at.Socket, "-u", at.User, "-e",
				"ALTER TABLE "+engine.DefaultSchema+".sbtest1 "+c.change)
		})
		expect.Must(t, step != nil && (c.status == "" || step.Status == c.status), c.test, step)
		warnings := metric.Texts(step.Warnings)
		expect.True(t, strings.Contains(strings.Join(warnings, "\n"), c.warning) && (c.status == "" || strings.Contains(warnings[0], c.warning)), c.test, warnings)
		if last := plans[len(plans)-1]; c.status == "" && last.When != result.AtEnd {
			t.Errorf("the last plan: %+v", last)
		}
	}
}

// A setting that the plan asks for and that the server ignores in silence ends the trial before it begins.
func TestNoEffect(t *testing.T) {
	if b, err := os.ReadFile("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"); err == nil && strings.TrimSpace(string(b)) != "0" {
		t.Skip("the host has huge pages")
	}
	tr, step, _ := planned(t, "{name: m, engine: mysql, durability: os, options: {large_pages: true}}", "oltp_point_select", nil)
	expect.Must(t, tr.Status == result.Failed && step == nil, tr.Status, "step", step)
	expect.All(t, tr.Reason, "large_pages is ON, and the server has no memory in huge pages")
	expect.All(t, strings.Join(tr.ServerWarnings, "\n"), "Couldn't allocate N bytes")
}

// The plan that is checked is that of a value which the operation asks for, not of one that nearly all rows have.
func TestSkewedPlan(t *testing.T) {
	need.Setup(t)
	dir := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "skew.w.yaml"), []byte(`
name: skew
doc: a status that nearly all rows have, and one that few have
tables:
  orders:
    columns: {id: {auto: true}, status: {value: {choice: {done: 9990, open: 10}}}, data: {value: {text: 400}}}
    indexes: {by_status: [status]}
operations:
  rare:
    draw: {s: {choice: {open: 1}}}
    do: [{scan: orders, index: by_status, equal: {status: s}, limit: 100, expect: 1}]
steps:
  - {load: orders, rows: 20k}
  - {settle: 0}
  - {run: rare, seconds: 1, groups: {c: {clients: 2, do: rare}}}
`), 0o644))
	for _, target := range []string{"options: {plan_cache_mode: force_custom_plan}", "protocol: text"} {
		src := "workload: ./skew.w.yaml\ncalibrate: false\ntargets: [{name: p, engine: postgres, durability: os, " + target + "}]\n"
		p := expect.Value(plan.Load(filepath.Join(dir, "skew.yaml"), []byte(src), nil, catalog.Plugins{}))(t)
		e, _ := catalog.Plugins{}.Engine("postgres")
		need.Installed(t, e.Check(p.Targets[0].Config))
		own := need.TempDir(t)
		tr, err := trial.Run(t.Context(), trial.Spec{Dir: own, Plan: p, Target: p.Targets[0], Trial: 1, Engine: e})
		expect.Must(t, err == nil && tr.Status == result.Complete, target, err)
		plans := expect.Value(result.ReadPlans(own))(t)
		at := slices.IndexFunc(plans, func(p result.StatementPlan) bool { return p.Wanted == "by_status" })
		expect.Must(t, at >= 0, plans)
		expect.All(t, plans[at].Plan.Text, "by_status", "'open'")
	}
}
