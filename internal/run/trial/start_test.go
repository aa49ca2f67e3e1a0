package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/workload"
)

// Data are loaded again if anything differs that shapes them, and only then.
func TestIdentity(t *testing.T) {
	const ibench = "workload: ibench\nparams: {rates: [100]}\ntargets: [sqlite]\nstart: {copy: l.x}\n"
	const tpcc = "workload: tpcc\nparams: {transactions: 50, clients: [1, 1]}\ntargets: [sqlite]\nstart: {copy: M1.P1}\n"
	const timed = "workload: sysbench\nparams: {tests: [oltp_insert, oltp_read_only]}\ntargets: [sqlite]\nstart: {copy: oltp_insert}\n"
	of := func(text string, sets ...string) string {
		t.Helper()
		s := planOf(t, text, sets...)
		p := s.Plan
		s.Plan = p.For(&p.Targets[0])
		id := expect.Value(identity(&s, &result.Start{Copy: p.Start.Copy, Load: 1, Seed: *p.DataSeed(1)}))(t)
		return id.Name("sqlite")
	}
	for _, c := range []struct {
		plan, set string
		same      bool
	}{
		{ibench, "params.query_seconds=3", true},
		{ibench, "params.rates=[500]", true},
		{ibench, "levels={memory: [64MiB, 1GiB]}", true}, // the load has all memory
		{ibench, "common.cpus=1", true},
		{ibench, "levels={cache: [8MiB, 16MiB]}", false},
		{ibench, "params.rows=2k", false},
		{ibench, "params.secondary=1", false},
		{ibench, "common.durability=os", false},
		{ibench, "common.cache=8MiB", false},
		{ibench, "seed=2", false},
		{ibench, "start.copy=l.i1", false},
		{ibench, "after.step=./analyze.sh", false},
		{tpcc, "start.copy=settle", false},
		{tpcc, "params.transactions=100", false}, // a step of the test with work to do is not one that loads
		{tpcc, "params.style=batch", false},
		{tpcc + "restart: M2.P1\n", "restart=M1.P1", false},
		{strings.Replace(tpcc, "M1.P1", "settle", 1), "params.transactions=100", true},
		{timed, "params.write_seconds=3", false},
		{timed, "params.clients=[3]", false},
		{timed, "rate=100", false},
		{timed, "until=steady", false},
		{timed, "find=p99 < 10ms", false},
	} {
		expect.Equal(t, of(c.plan) == of(c.plan, c.set), c.same, c.plan, "with", c.set, "the same data")
	}
}

// Trials of one copy are alike: what one of them knows of the load is not in its later steps. Of data from
// an earlier campaign in the same directory it takes no numbers.
func TestFromCopy(t *testing.T) {
	dir, bases := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	var shown []string
	run := func(name string, began time.Time) *result.Trial {
		t.Helper()
		s := spec(t, "sqlite", []string{"trials=2", "start={copy: l.x, loads: 1, bases: " + bases + "}",
			"params.steps=[l.i0, l.x, l.i1, settle]", "params.write_rows=500", "restart={before: l.i1, caches: kept}"}...)
		s.Dir, s.Bases, s.Began, s.Trial = filepath.Join(dir, "trials", name), bases, began, 1
		expect.NoError(t, os.MkdirAll(s.Dir, 0o755))
		shown, s.Progress = nil, func(e Event) {
			if e.Phase == PhaseEnd {
				shown = append(shown, e.Step)
			}
		}
		tr, err := Run(t.Context(), s)
		expect.Must(t, err == nil, err, hint.Of(err))
		return tr
	}
	began := time.Now()
	if tr := run("x.1", began); !tr.Start.Pending || len(tr.Steps) != 2 {
		t.Fatalf("the first process: %+v, %d steps", tr.Start, len(tr.Steps))
	}
	first, second := run("x.1", began), run("x.2", began)
	again := run("x.1b", began)
	expect.True(t, first.Steps[0].Name == "l.i0" && second.Steps[0].Name == "restart.l.i1" && again.Start.By == "",
		"steps from and, loaded by", first.Steps[0].Name, second.Steps[0].Name, again.Start.By)
	for _, tr := range []*result.Trial{first, second} {
		for _, s := range tr.Steps {
			expect.True(t, s.Name != "l.i1" || s.Caches == workload.CachesDropped,
				"began with caches: nothing had read the copy", s.Name, s.Caches)
			if row := metric.Find(s.Rows, metric.SettledWriteKB, "", ""); row != nil {
				t.Errorf("trial with %d steps: %s has KB written per row since an unknown load: %+v", len(tr.Steps), s.Name, row)
			}
		}
	}
	expect.NoError(t, os.RemoveAll(filepath.Join(dir, "trials", "x.1")))
	// Of a campaign that goes on, the steps that were run before are shown again, in their order.
	if tr := run("x.1", began); len(shown) != len(tr.Steps) || shown[0] != "l.i0" {
		t.Errorf("shown: %v", shown)
	}
	expect.NoError(t, os.RemoveAll(filepath.Join(dir, "trials", "x.1")))
	if tr := run("x.1", time.Now()); tr.Start.By == "" || tr.Steps[0].Name != "restart.l.i1" {
		t.Errorf("a later campaign: loaded by %q, steps from %s", tr.Start.By, tr.Steps[0].Name)
	}
}

// A step is not compared with one before the copy, which only one of the trials has run.
func TestBeforeCopy(t *testing.T) {
	const text = "workload: sysbench\nparams: {tests: [point-query.pre, oltp_update_index, point-query], table_size: 500, " +
		"events: 20, settle_floor: 0s}\ncalibrate: false\ntargets: [sqlite]\nstart: {copy: point-query.pre, loads: 1}\n"
	s := planOf(t, text)
	s.Dir = filepath.Join(s.Dir, "trials", "x.1")
	s.Bases = filepath.Join(t.TempDir(), "kept")
	expect.NoError(t, os.MkdirAll(s.Dir, 0o755))
	for range 2 {
		if _, err := Run(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := result.ReadTrial(s.Dir)
	expect.Must(t, err == nil && tr.Status == result.Complete, err, tr.Status, tr.Reason)
	for _, step := range tr.Steps {
		row := metric.Find(step.Rows, metric.RelativeToBefore, "", "")
		expect.True(t, row == nil, "is compared with a step of another process", step.Name, row)
	}
}

// Data that are lost when the engine is closed cannot be copied.
func TestForgottenData(t *testing.T) {
	for _, target := range []string{"{engine: tarantool, durability: none}", "{engine: mysql, storage: memory}"} {
		_, err := plan.Load("test.yaml", []byte(small+"targets: ["+target+"]\nstart: {copy: l.x}\n"), nil, catalog.Plugins{})
		expect.Error(t, err, "start: ", target)
	}
}
