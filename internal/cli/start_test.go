package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

// copies is a plan whose trials begin from copies, with targets and more keys.
const copies = `
workload: sysbench
params: {tests: [oltp_read_write], table_size: 2000, tables: 2, write_seconds: %s, settle_floor: 0s}
interval: 100ms
calibrate: false
start: {copy: load%s}
trials: %d
targets: [%s]
`

// steps returns the names of a trial's steps.
func steps(t *result.Trial) (names []string) {
	for _, s := range t.Steps {
		names = append(names, s.Name)
	}
	return names
}

// The data are loaded twice for three trials, by the first two; all run what follows, and check the
// rows. Nothing of the loaded data is left.
func TestLoadOnce(t *testing.T) {
	need.Setup(t)
	t.Parallel()
	for _, target := range []string{"badger", "sqlite", "mysql", "postgres"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			if target != "badger" { // TestKilledAroundCopies has a server
				need.Long(t)
			}
			installed(t, target)
			h := newHost(t)
			h.write("plan.yaml", fmt.Sprintf(copies, "0.3", ", loads: 2", 3, target))
			h.run(0, "run", "plan.yaml", "--out", "out", "--no-preflight")
			for n := 1; n <= 3; n++ {
				trial := h.trial(fmt.Sprintf("out/trials/%s.%d", target, n))
				want := []string{"load", "index", "settle", "oltp_read_write"}
				if n > 2 {
					want = want[1:]
				}
				s := trial.Start
				if got := steps(trial); trial.Status != result.Complete || !slices.Equal(got, want) {
					t.Errorf("%s: %s, steps %v, want %v", trial.Dir, trial.Status, got, want)
				}
				expect.True(t, s != nil && s.Copy == "load" && s.Load == 2-n%2 && s.Loads == 2 && !s.Pending && s.Bytes != 0 && !s.Cloned, trial.Dir, s)
				first := h.trial(fmt.Sprintf("out/trials/%s.%d", target, 2-n%2))
				expect.True(t, s.Seed == first.Seed && (n != 3 || s.Seed != trial.Seed),
					trial.Dir, "data of seed", s.Seed, "drawn with", trial.Seed)
			}
			h.removed("out/bases")
			page := h.file("out/report.html")
			h.contains("report", page, "a cold copy of the data after step load, of 2 loads")
			expect.True(t, !strings.Contains(page, "did not reach this step"),
				"a trial that began with a copy is said to have lost steps")
		})
	}
}

// Loaded data that are kept serve another campaign, unless they have changed.
func TestBases(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(copies, "0.2", ", bases: kept, loads: 1", 2, "badger"))
	h.run(0, "run", "plan.yaml", "--out", "a", "--no-preflight")
	h.run(0, "run", "plan.yaml", "--out", "b", "--no-preflight", "--set", "params.write_seconds=0.3")
	if s := h.trial("a/trials/badger.1"); s.Start.By != "" || steps(s)[0] != "load" {
		t.Errorf("the first: %+v, %v", s.Start, steps(s))
	}
	if s := h.trial("b/trials/badger.1"); !strings.HasSuffix(s.Start.By, "/a") || steps(s)[0] == "load" {
		t.Errorf("the second: %+v, %v", s.Start, steps(s))
	}
	h.contains("report", h.file("a/report.md"), "intervals are of that load")
	h.run(0, "run", "plan.yaml", "--out", "c", "--no-preflight", "--set", "params.table_size=2001")
	kept, err := filepath.Glob(h.path("kept/badger-*"))
	expect.Must(t, err == nil && len(kept) == 2, kept, err)
	for _, dir := range kept {
		expect.NoError(t, os.WriteFile(filepath.Join(dir, "data", "more"), nil, 0o644))
	}
	_, talk := h.run(1, "run", "plan.yaml", "--out", "d")
	h.contains("standard error", talk, "have changed since they were kept: there are files that were not there")
}

// Data of the user's serve several trials, and stay as they are.
func TestCopyOwnData(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	load := strings.NewReplacer("start: {copy: load}\n", "keep: true\n").Replace(fmt.Sprintf(copies, "0.2", "", 1, "sqlite"))
	h.write("load.yaml", load)
	h.run(0, "run", "load.yaml", "--out", "made", "--no-preflight")
	before := expect.Value(snapshot(h.path("made/trials/sqlite.1/data")))(t)
	own := fmt.Sprintf(copies, "0.2", "", 2, "{engine: sqlite, data: made/trials/sqlite.1/data}")
	h.write("own.yaml", strings.NewReplacer("copy: load", "copy: data", "tests:", "load: false, tests:").Replace(own))
	h.run(0, "run", "own.yaml", "--out", "out", "--no-preflight")
	for n := 1; n <= 2; n++ {
		if got := h.trial(fmt.Sprintf("out/trials/sqlite.%d", n)); got.Status != result.Complete || got.Start.Copy != "data" {
			t.Errorf("trial %d: %s: %s", n, got.Status, got.Reason)
		}
	}
	h.unchanged("made/trials/sqlite.1/data", before)
}

// A campaign that is killed while it loads, or while it runs on a copy, leaves no process; resumed, it
// loads only what it has not, and all trials are complete.
func TestKilledAroundCopies(t *testing.T) {
	t.Parallel()
	const target = "postgres"
	for at, slow := range map[string]string{"load": "table_size: 2000000", "oltp_read_write": "write_seconds: 600"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			if at != "load" {
				need.Long(t)
			}
			installed(t, target)
			h := newHost(t)
			h.write("plan.yaml", fmt.Sprintf(copies, "0.3", ", loads: 1", 2, target))
			quick := "table_size: 2000,"
			if at != "load" {
				quick = "write_seconds: 0.3"
			}
			h.replace("plan.yaml", strings.TrimSuffix(quick, ","), slow)
			c := h.start("run", "plan.yaml", "--out", "out", "--no-preflight")
			c.during("out/trials/"+target+".1", at)
			child := c.child()
			for _, p := range []*os.Process{c.cmd.Process, child} {
				send(t, p, syscall.SIGKILL)
			}
			c.end()
			wait(t, "no server runs", func() bool { return len(h.servers("out")) == 0 && !alive(child) })
			h.replace("out/plan.yaml", slow, strings.TrimSuffix(quick, ","))
			h.run(0, "run", "--resume", "out", "--no-preflight")
			first, second := h.trial("out/trials/"+target+".1"), h.trial("out/trials/"+target+".2")
			expect.True(t, steps(first)[0] == "load" && steps(second)[0] != "load" && second.Status == result.Complete,
				steps(first), steps(second))
			loaded := h.trial("out/trials/" + target + ".1.partial1").Steps[0]
			if again := first.Steps[0]; loaded.Started.Equal(again.Started) != (at != "load") {
				t.Errorf("killed in %s: loaded at %v, then %v", at, loaded.Started, again.Started)
			}
			h.removed("out/bases", "out/trials/"+target+".1.partial1/data")
		})
	}
}
